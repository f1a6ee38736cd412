package pdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"time"

	"catena/engine/worker"
	"catena/storage/blob"
	"catena/storage/fault"
)

// do has a task done, and take reads what it made, if anything. An error of kind Invalid is about the files, one of kind
// Denied about their passwords.
func (t *Tool) do(ctx context.Context, job *task, files []*blob.Blob, take Take) (r result, err error) {
	if err := t.admit(job, files); err != nil {
		return r, err
	}
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
		in[i] = f
	}
	if len(t.argv) > 0 {
		return t.doOutside(ctx, job, in, take)
	}
	var out bytes.Buffer
	if r, err = job.do(in, &out); err == nil && out.Len() > 0 {
		err = take(&out)
	}
	return r, err
}

// admit tells a task of its files, if they are no more than are taken at once.
func (t *Tool) admit(job *task, files []*blob.Blob) error {
	var size int64
	for _, b := range files {
		size += b.Size
		job.Sizes, job.Names = append(job.Sizes, b.Size), append(job.Names, b.Name)
	}
	if l := t.limits; len(files) > l.Files || size > l.Bytes {
		return fault.Limit.Errorf("%d PDF files with %d bytes: at most %d files with %d bytes are allowed", len(files), size, l.Files, l.Bytes).WithCode(fault.CodePDFSize)
	}
	job.Pages = t.limits.Pages
	return nil
}

var errAnswer = fault.Internal.Errorf("pdf: malformed answer of a worker")

// doOutside does a task in a worker process, whose answer is not trusted: lengths are bounded, and the files it makes are
// only passed on.
func (t *Tool) doOutside(ctx context.Context, job *task, files []io.ReadSeeker, take Take) (r result, err error) {
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
			if take == nil {
				return errAnswer
			}
			refused = take(made)
			return refused
		})
	}
	switch {
	case err == nil:
		return r, r.fault()
	// If the worker has died, take only failed because its input ended.
	case refused != nil && p.Alive():
		return r, refused
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case time.Since(began) >= maxTime:
		return r, fault.Limit.Errorf("reading takes more than %s", maxTime).WithCode(fault.CodePDFSize)
	}
	switch cause, said := p.Death(); cause {
	case worker.Memory:
		return r, fault.Limit.Errorf("reading takes more than %d MiB of memory", maxMemory>>20).WithCode(fault.CodePDFSize)
	case worker.Stack:
		return r, fault.Limit.Errorf("nested too deeply").WithCode(fault.CodePDFSize)
	default:
		return r, fault.Internal.Errorf("pdf worker: %w: %.200s", err, said)
	}
}

// fault is the error that a worker reports; nil if it did its task.
func (r *result) fault() error {
	switch {
	case r.Kind == fault.Limit:
		return fault.Limit.Errorf("%.1000s", r.Why).WithCode(fault.CodePDFSize)
	case r.Kind == fault.Denied:
		return fault.Denied.Errorf("%.1000s", r.Why).WithCode(fault.CodePDFPassword)
	case r.Why != "":
		return fault.Invalid.Errorf("%.1000s", r.Why)
	}
	return nil
}

// send tells a worker what to do.
// The task is JSON behind its length (4 bytes, little-endian). The files
// follow as they are; their sizes are in the task.
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
// The answer is the result as JSON behind its length, then the size of the file that was made (8 bytes,
// little-endian, 0 if none was), then the file.
func (r *result) receive(from io.Reader, take Take) error {
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
	if r.Why != "" || size == 0 {
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
