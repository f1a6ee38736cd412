package pdf

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/storage/fault"
)

// task is one thing to be done with files, as a worker is told of it.
type task struct {
	Do          string // a name in tasks
	Sizes       []int64
	First, Last int64             `json:",omitzero"`
	Texts       map[string]string `json:",omitzero"`
}

// result is what comes of a task beside the bytes it makes.
type result struct {
	Text string     `json:",omitzero"`
	Info *Info      `json:",omitzero"`
	Kind fault.Kind `json:",omitzero"` // of the failure
	Why  string     `json:",omitzero"` // it failed; "": it did not
}

// Info is what a file says about itself.
type Info struct {
	Version                                             string
	Pages                                               int
	Title, Author, Subject, Keywords, Creator, Producer string    `json:",omitzero"`
	Created, Modified                                   time.Time `json:",omitzero"`
}

// tasks are what can be done. Each writes the file it makes, if it makes one.
var tasks = map[string]func(t *task, files []io.ReadSeeker, out io.Writer) (result, error){
	"about":  about,
	"cut":    cut,
	"join":   join,
	"text":   readText,
	"update": update,
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
		return r, fault.Internal.Errorf("pdf: no task %q", t.Do)
	}
	if r, err = run(t, files, out); err != nil && fault.Of(err) == fault.Internal {
		err = fault.Invalid.Errorf("%w", err) // what the library says is about the file
	}
	return r, err
}

func join(_ *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	return result{}, api.MergeRaw(files, out, false, Settings())
}

func cut(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	var part bytes.Buffer
	if err := api.Trim(files[0], &part, []string{fmt.Sprintf("%d-%d", t.First, t.Last)}, Settings()); err != nil {
		return result{}, err
	}
	if len(t.Texts) == 0 {
		_, err := part.WriteTo(out)
		return result{}, err
	}
	return result{}, api.AddProperties(bytes.NewReader(part.Bytes()), out, t.Texts, Settings())
}

// about decodes no page and reads nothing outside the file.
func about(_ *task, files []io.ReadSeeker, _ io.Writer) (result, error) {
	info, err := api.PDFInfo(files[0], "", nil, false, Settings())
	if err != nil {
		return result{}, err
	}
	out := &Info{
		Version: info.Version, Pages: info.PageCount, Title: info.Title, Author: info.Author, Subject: info.Subject,
		Keywords: strings.Join(info.Keywords, ", "), Creator: info.Creator, Producer: info.Producer,
	}
	out.Created, out.Modified = instant(info.CreationDate), instant(info.ModificationDate)
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
	read, err := api.ReadContext(files[0], Settings())
	if err != nil {
		return result{}, err
	}
	if read.Encrypt != nil {
		return result{}, fault.Invalid.Errorf("it is encrypted")
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
