package pdf

import (
	"io"
	"strings"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/storage/fault"
)

// task is one thing to be done with files, as a worker is informed of it.
type task struct {
	Do          string  // a name in tasks
	Sizes       []int64 // of the files
	Names       []string
	Pages       int               // of the files together, at most
	Password    string            `json:",omitzero"`
	Need        May               `json:",omitzero"` // what others than the owner must be let do; 0: nothing suffices
	First, Last int64             `json:",omitzero"`
	Texts       map[string]string `json:",omitzero"`
	Protection  *Protection       `json:",omitzero"`
	Stamp       *Stamp            `json:",omitzero"`
}

// result is what comes of a task beside the bytes it makes.
type result struct {
	Text  string     `json:",omitzero"`
	Info  *Info      `json:",omitzero"`
	Links []Link     `json:",omitzero"`
	Kind  fault.Kind `json:",omitzero"` // of the failure
	Why   string     `json:",omitzero"` // it failed; "": it did not
}

// Info is what a file says about itself.
type Info struct {
	Version                                             string
	Pages                                               int
	Title, Author, Subject, Keywords, Creator, Producer string    `json:",omitzero"`
	Created, Modified                                   time.Time `json:",omitzero"`

	Width, Height         float64 `json:",omitzero"` // of the first page, in points
	CropWidth, CropHeight float64 `json:",omitzero"` // of what is shown of it
	Layout                string  `json:",omitzero"` // of pages on a screen
	Protected             bool    `json:",omitzero"`
	May                   May     // what those may do who do not know the owner's password
}

// tasks are what can be done. Each writes the file it makes, if it makes one.
var tasks = map[string]func(t *task, files []io.ReadSeeker, out io.Writer) (result, error){
	"about":     about,
	"cut":       cut,
	"join":      join,
	"underlay":  underlay,
	"links":     links,
	"protect":   protect,
	"stamp":     stamp,
	"text":      readText,
	"unprotect": unprotect,
	"update":    update,
}

// do does a task. The library gives up on some damaged files by a panic.
func (t *task) do(files []io.ReadSeeker, out io.Writer) (r result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Invalid.Errorf("%v", p)
		}
	}()
	run := tasks[t.Do]
	if run == nil {
		return r, fault.Internal.Errorf("pdf: unknown task %q", t.Do)
	}
	if r, err = run(t, files, out); err != nil && fault.Of(err) == fault.Internal {
		err = fault.Invalid.Errorf("%w", err) // what the library says is about the file
	}
	return r, err
}

// join writes one file of all. What a file is protected by would be lost, so there must be no such.
func join(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	var all *model.Context
	for i, f := range files {
		read, err := t.open(f, i, MayAll)
		switch {
		case err != nil:
			return result{}, err
		case read.Encrypt != nil:
			return result{}, locked("file %s: is protected; remove the encryption first", t.Names[i])
		case all == nil:
			all = read
			all.EnsureVersionForWriting()
		case all.XRefTable.Version() < newest && read.XRefTable.Version() == newest:
			return result{}, fault.Invalid.Errorf("file %s: is PDF 2.0, which cannot be joined with earlier versions", t.Names[i])
		default:
			if err := pdfcpu.MergeXRefTables(t.Names[i], read, all, false, false); err != nil {
				return result{}, fault.Wrap(err, "file %s", t.Names[i])
			}
		}
	}
	return result{}, t.finish(all, out)
}

// cut writes some pages of a file.
func cut(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	read, err := t.open(files[0], 0, MayCopy)
	if err != nil {
		return result{}, err
	}
	last := int64(read.PageCount)
	if t.First > last {
		return result{}, fault.Invalid.Errorf("file %s: page %d does not exist, the last is %d", t.Names[0], t.First, last)
	}
	var numbers []int
	for n := t.First; n <= min(t.Last, last); n++ {
		numbers = append(numbers, int(n))
	}
	part, err := pdfcpu.ExtractPages(read, numbers, false)
	if err != nil {
		return result{}, err
	}
	return result{}, t.finish(part, out)
}

// finish writes a file with the task's texts about it.
func (t *task) finish(made *model.Context, out io.Writer) error {
	if len(t.Texts) > 0 {
		if err := pdfcpu.PropertiesAdd(made, t.Texts); err != nil {
			return err
		}
	}
	return api.WriteContext(made, out)
}

// about decodes no page and reads nothing outside the file.
func about(t *task, files []io.ReadSeeker, _ io.Writer) (result, error) {
	read, err := t.open(files[0], 0, MayAll)
	if err != nil {
		return result{}, err
	}
	info, err := pdfcpu.Info(read, "", types.IntSet{1: true}, false)
	if err != nil {
		return result{}, err
	}
	out := &Info{
		Version: info.Version, Pages: info.PageCount, Title: info.Title, Author: info.Author, Subject: info.Subject,
		Keywords: strings.Join(info.Keywords, ", "), Creator: info.Creator, Producer: info.Producer,
		Layout: info.PageLayout, Protected: info.Encrypted, May: MayAll,
	}
	if info.Encrypted {
		out.May = May(info.Permissions) & MayAll
	}
	out.Created, out.Modified = instant(info.CreationDate), instant(info.ModificationDate)
	if len(info.PageBoundaries) > 0 {
		first := info.PageBoundaries[0]
		if media, crop := first.MediaBox(), first.CropBox(); media != nil && crop != nil {
			out.Width, out.Height, out.CropWidth, out.CropHeight = media.Width(), media.Height(), crop.Width(), crop.Height()
		}
	}
	return result{Info: out}, nil
}

// instant reads a date as files hold it; zero if it is none.
func instant(text string) time.Time {
	at, ok := types.DateTime(text, true)
	if !ok {
		return time.Time{}
	}
	return at.UTC()
}

// update writes what is to stand behind a file, so that it has texts about it, by name, in place of its own; empty
// ones go. All that was there stays, and earlier signatures hold.
func update(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	// Without validation, since nothing of the file is written again.
	read, err := api.ReadContext(files[0], Settings())
	if err != nil {
		return result{}, err
	}
	if read.Encrypt != nil {
		return result{}, locked("file %s: is protected; remove the encryption first", t.Names[0])
	}
	table, err := lastTable(files[0], t.Sizes[0])
	if err != nil {
		return result{}, err
	}
	info, err := infoWith(read, t.Texts)
	if err != nil {
		return result{}, err
	}
	_, err = out.Write(updateOf(read, t.Sizes[0], table, info))
	return result{}, err
}
