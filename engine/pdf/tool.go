// Package pdf works on PDF files: it joins them, extracts pages, text, links and pictures, stamps pages, protects
// files with passwords, and reads and writes their metadata. What a file makes the library use is not known in front,
// so a server has the work done in a separate process, which may be ended at any moment.
//
// The package has two halves. Tool is what callers use: it writes files to a worker and reads results from it
// (task.go, wire.go). The worker (worker.go) is a process of this program that calls the library, with limits on memory and time that the operating system enforces.
package pdf

import (
	"context"
	"io"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Bounds of the work on PDF files.
const (
	maxTime   = 30 * time.Second // of one task
	maxMemory = 512 << 20        // bytes of data of a worker
	maxResult = 4 << 20          // bytes of a result as JSON
	maxOut    = maxMemory        // bytes of a file that is made
)

// Limits bound what is taken at once; zero values take the defaults.
type Limits struct {
	Files    int   `setting:"limit-pdf-files" default:"500" doc:"PDF files that one operation reads"`
	Bytes    int64 `setting:"limit-pdf-size" unit:"bytes" default:"64 MiB" doc:"size of the PDF files that one operation reads"`
	Pages    int   `setting:"limit-pdf-pages" default:"5000" doc:"pages of the PDF files that one operation reads"`
	Pictures int   `setting:"limit-pdf-pictures" default:"100" doc:"pages of a PDF file that one operation converts to pictures"`
}

// Tool does work on PDF files: in worker processes, or in the server's own where it has no command line for those.
type Tool struct {
	argv   []string
	turns  chan struct{} // bounds how many malicious files can use up time and memory at once
	limits Limits
	drawer string // program that draws pages; "": there is none
}

// New makes a tool. The command line of a worker ends in WorkerMain; nil: there is none. Drawer is the program pdftoppm,
// which makes pages into pictures; "": there is none.
func New(worker []string, drawer string, limits Limits) *Tool {
	limit.Fill(&limits)
	turns := 1
	if len(worker) > 0 {
		turns = 2
	}
	return &Tool{argv: worker, turns: make(chan struct{}, turns), limits: limits, drawer: drawer}
}

// Check returns an error of kind Invalid for a file that is not a PDF.
func Check(b *blob.Blob) error {
	if b == nil || b.Type != Type {
		return fault.Invalid.Errorf("must be PDF files")
	}
	return nil
}

// Type is the media type of PDF files.
const Type = "application/pdf"

// Take is given a file that was made, to read.
type Take func(io.Reader) error

// Join makes one file of several, with texts about it by name.
func (t *Tool) Join(ctx context.Context, files []*blob.Blob, texts map[string]string, take Take) error {
	_, err := t.do(ctx, &task{Do: "join", Texts: texts}, files, take)
	return err
}

// Pages are those from First to Last, counted from 1.
type Pages struct{ First, Last int64 }

// Cut makes a file of some pages of another one, with texts about it by name. The new file is not protected.
func (t *Tool) Cut(ctx context.Context, b Protected, pages Pages, texts map[string]string, take Take) error {
	_, err := t.do(ctx, &task{Do: "cut", Password: b.Password, First: pages.First, Last: pages.Last, Texts: texts}, []*blob.Blob{b.Blob}, take)
	return err
}

// Protected is a file with the password that opens it, "" if it needs none.
type Protected struct {
	Blob     *blob.Blob
	Password string
}

// Protect makes a file that only passwords open. Password is that of the owner, where the file is protected already.
func (t *Tool) Protect(ctx context.Context, b *blob.Blob, password string, p Protection, take Take) error {
	_, err := t.do(ctx, &task{Do: "protect", Password: password, Protection: &p}, []*blob.Blob{b}, take)
	return err
}

// Unprotect makes a file that needs no password of one that does; the password is the owner's. It reports whether the
// file was protected: if not, nothing is made.
func (t *Tool) Unprotect(ctx context.Context, b *blob.Blob, password string, take Take) (made bool, err error) {
	_, err = t.do(ctx, &task{Do: "unprotect", Password: password}, []*blob.Blob{b}, func(r io.Reader) error {
		made = true
		return take(r)
	})
	return made, err
}

// Mark puts a text, numbers or a picture, if one is given, on the pages of a file.
func (t *Tool) Mark(ctx context.Context, b Protected, s Stamp, picture *blob.Blob, take Take) error {
	files := []*blob.Blob{b.Blob}
	if picture != nil {
		files = append(files, picture)
	}
	_, err := t.do(ctx, &task{Do: "stamp", Password: b.Password, Stamp: &s}, files, take)
	return err
}

// Underlay puts the pages of another file behind those of a file, each in the middle of one, and from the first one
// again when they have ended.
func (t *Tool) Underlay(ctx context.Context, b, other *blob.Blob, take Take) error {
	_, err := t.do(ctx, &task{Do: "underlay"}, []*blob.Blob{b, other}, take)
	return err
}

// Update gives a file texts about it, by name, in place of its own; empty ones go. take is given to read what is to
// stand behind the file for that.
func (t *Tool) Update(ctx context.Context, b *blob.Blob, texts map[string]string, take Take) error {
	_, err := t.do(ctx, &task{Do: "update", Texts: texts}, []*blob.Blob{b}, take)
	return err
}

// About tells what a file says about itself.
func (t *Tool) About(ctx context.Context, b *blob.Blob) (*Info, error) {
	r, err := t.do(ctx, &task{Do: "about"}, []*blob.Blob{b}, nil)
	if err == nil && r.Info == nil {
		err = errAnswer
	}
	return r.Info, err
}

// Links returns the places in a file that lead out of it, page by page.
func (t *Tool) Links(ctx context.Context, b *blob.Blob) ([]Link, error) {
	r, err := t.do(ctx, &task{Do: "links"}, []*blob.Blob{b}, nil)
	return r.Links, err
}

// Text returns the text that the pages of a file show, in the order they draw it, as much of it as is looked at. A
// file that is damaged may have some and an error.
func (t *Tool) Text(ctx context.Context, b *blob.Blob, password string) (string, error) {
	if b.Size > maxPDF {
		return "", fault.Limit.Errorf("pdf: %d bytes, limit %d", b.Size, maxPDF).WithCode(fault.CodePDFSize)
	}
	r, err := t.do(ctx, &task{Do: "text", Password: password}, []*blob.Blob{b}, nil)
	return r.Text, err
}

// PlainText returns the text of a file that needs no password.
func (t *Tool) PlainText(ctx context.Context, b *blob.Blob) (string, error) {
	return t.Text(ctx, b, "")
}
