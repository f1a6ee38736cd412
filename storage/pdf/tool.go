// Package pdf does what is done with PDF files: it joins them, takes pages and text out of them, and reads and
// writes what they say about themselves. What a file makes the library use is not known in front, so a server has
// the work done in a process of its own, which may be ended at any moment.
package pdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/worker"
)

// Bounds of the work on PDF files.
const (
	maxTime   = 30 * time.Second // of one task
	maxMemory = 512 << 20        // bytes of data of a worker
	maxResult = 4 << 20          // bytes of a result as JSON
	maxOut    = maxMemory        // bytes of a file that is made
)

// Tool does work on PDF files: in worker processes, or in the server's own where it has no command line for those.
type Tool struct {
	argv  []string
	turns chan struct{} // what hostile files take, they take so many times at most
}

// New makes a tool. The command line of a worker ends in WorkerMain; nil: there is none.
func New(worker []string) *Tool {
	turns := 1
	if len(worker) > 0 {
		turns = 2
	}
	return &Tool{argv: worker, turns: make(chan struct{}, turns)}
}

// Join makes one file of several, which take is given to read.
func (t *Tool) Join(ctx context.Context, files []*blob.Blob, take func(io.Reader) error) error {
	_, err := t.do(ctx, task{Do: "join"}, files, take)
	return err
}

// Cut makes a file of some pages of another one, counted from 1, with texts about it by name, which take is given to read.
func (t *Tool) Cut(ctx context.Context, b *blob.Blob, first, last int64, texts map[string]string, take func(io.Reader) error) error {
	_, err := t.do(ctx, task{Do: "cut", First: first, Last: last, Texts: texts}, []*blob.Blob{b}, take)
	return err
}

// Update gives a file texts about it, by name, in place of its own; empty ones go. take is given to read what is to
// stand behind the file for that.
func (t *Tool) Update(ctx context.Context, b *blob.Blob, texts map[string]string, take func(io.Reader) error) error {
	_, err := t.do(ctx, task{Do: "update", Texts: texts}, []*blob.Blob{b}, take)
	return err
}

// About tells what a file says about itself.
func (t *Tool) About(ctx context.Context, b *blob.Blob) (*Info, error) {
	r, err := t.do(ctx, task{Do: "about"}, []*blob.Blob{b}, nil)
	if err == nil && r.Info == nil {
		err = errAnswer
	}
	return r.Info, err
}

// Text returns the text that the pages of a file show, in the order they draw it, as much of it as is looked at. A
// file that is damaged may have some and an error.
func (t *Tool) Text(ctx context.Context, b *blob.Blob) (string, error) {
	if b.Size > maxPDF {
		return "", fault.Limit.Errorf("pdf: %d bytes, limit %d", b.Size, maxPDF).WithCode(fault.CodePDFSize)
	}
	r, err := t.do(ctx, task{Do: "text"}, []*blob.Blob{b}, nil)
	return r.Text, err
}

// do has a task done. An error of kind Invalid is about the files.
func (t *Tool) do(ctx context.Context, job task, files []*blob.Blob, take func(io.Reader) error) (r result, err error) {
	select {
	case t.turns <- struct{}{}:
		defer func() { <-t.turns }()
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
	in := make([]io.ReadSeeker, len(files))
	for i, b := range files {
		f, err := b.Open()
		if err != nil {
			return r, err
		}
		defer f.Close()
		in[i], job.Sizes = f, append(job.Sizes, b.Size)
	}
	if len(t.argv) > 0 {
		return t.doOutside(ctx, &job, in, take)
	}
	var out bytes.Buffer
	if r, err = job.do(in, &out); err == nil && take != nil {
		err = take(&out)
	}
	return r, err
}

var errAnswer = fault.Internal.Errorf("pdf: malformed answer of a worker")

// doOutside does a task in a process of its own, whose answer is not believed: lengths are bounded, and the files it
// makes are only passed on.
func (t *Tool) doOutside(ctx context.Context, job *task, files []io.ReadSeeker, take func(io.Reader) error) (r result, err error) {
	p, err := worker.Start(t.argv)
	if err != nil {
		return r, fault.Unavailable.Errorf("pdf worker: %w", err)
	}
	began := time.Now()
	late := time.AfterFunc(maxTime, p.Kill)
	stop := context.AfterFunc(ctx, p.Kill)
	defer func() {
		late.Stop()
		stop()
		p.Kill()
		<-p.Ended()
	}()
	var refused error // by take
	if err = job.send(p.In, files); err == nil {
		err = r.receive(p.Out, func(made io.Reader) error {
			if take != nil {
				refused = take(made)
			}
			return refused
		})
	}
	switch {
	case err == nil && r.Kind == fault.Limit:
		return r, fault.Limit.Errorf("%.1000s", r.Why).WithCode(fault.CodePDFSize)
	case err == nil && r.Why != "":
		return r, fault.Invalid.Errorf("%.1000s", r.Why)
	case err == nil:
		return r, nil
	case refused != nil && p.Alive():
		return r, refused
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case time.Since(began) >= maxTime:
		return r, fault.Limit.Errorf("reading it takes more than %s", maxTime).WithCode(fault.CodePDFSize)
	}
	switch cause, said := p.Death(); cause {
	case worker.Memory:
		return r, fault.Limit.Errorf("reading it takes more than %d MiB of memory", maxMemory>>20).WithCode(fault.CodePDFSize)
	case worker.Stack:
		return r, fault.Limit.Errorf("it is nested too deep").WithCode(fault.CodePDFSize)
	default:
		return r, fault.Internal.Errorf("pdf worker: %w: %.200s", err, said)
	}
}

// send tells a worker what to do.
func (t *task) send(to io.Writer, files []io.ReadSeeker) error {
	if err := writeJSON(to, t); err != nil {
		return err
	}
	for i, f := range files {
		if _, err := io.CopyN(to, f, t.Sizes[i]); err != nil {
			return err
		}
	}
	return nil
}

// receive reads what a worker answers.
func (r *result) receive(from io.Reader, take func(io.Reader) error) error {
	in := bufio.NewReader(from)
	if err := readJSON(in, r); err != nil {
		return err
	}
	var size int64
	if err := binary.Read(in, binary.LittleEndian, &size); err != nil {
		return err
	}
	if size < 0 || size > maxOut {
		return errAnswer
	}
	if r.Why != "" {
		return nil
	}
	file := &io.LimitedReader{R: in, N: size}
	if err := take(file); err != nil {
		return err
	}
	if file.N > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// writeJSON writes a value behind its length.
func writeJSON(to io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = to.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

func readJSON(from io.Reader, into any) error {
	var size uint32
	if err := binary.Read(from, binary.LittleEndian, &size); err != nil {
		return err
	}
	if size > maxResult {
		return errAnswer
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(from, b); err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
