package pdf

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"catena/engine/worker"
	"catena/storage/blob"
	"catena/storage/fault"
)

// Bounds of pictures of pages.
const (
	dotsPerInch = "300"
	maxDrawn    = 256 << 20 // bytes of one picture
)

// What PNG files begin with, and how a picture of one pixel goes on, which stands for a page that is too large.
const (
	signature = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	onePixel  = signature + "\x00\x00\x00\x01\x00\x00\x00\x01"
)

// Pictures makes a PNG picture of each page of a file, of 300 dots an inch, and gives them to take with the number of the
// page. An error of kind Unavailable says that there is no program that does it.
func (t *Tool) Pictures(ctx context.Context, b *blob.Blob, password string, take func(page int, r io.Reader) error) error {
	if t.drawer == "" {
		return fault.Unavailable.Errorf("pictures of pages: the program pdftoppm (from poppler-utils) is not installed").WithCode(fault.CodeRendererUnavailable)
	}
	var plain []byte // the program is told no passwords
	r, err := t.do(ctx, &task{Do: "unprotect", Password: password, Need: MayCopy}, []*blob.Blob{b}, func(made io.Reader) (err error) {
		plain, err = io.ReadAll(made)
		return err
	})
	switch {
	case err != nil:
		return err
	case r.Info == nil:
		return errAnswer
	case r.Info.Pages > t.limits.Pictures:
		return fault.Limit.Errorf("file %s: %d pages, at most %d can be converted to pictures", b.Name, r.Info.Pages, t.limits.Pictures).WithCode(fault.CodePDFSize)
	}
	if plain == nil {
		if plain, err = b.Bytes(t.limits.Bytes); err != nil {
			return err
		}
	}
	// Each page is a process of its own: time and memory are bounded for each, and others get a turn between.
	for page := 1; page <= r.Info.Pages; page++ {
		if err := t.drawPage(ctx, b.Name, plain, page, take); err != nil {
			return err
		}
	}
	return nil
}

// drawPage has the program draw a page. It is sent the file by a pipe, and writes the picture into one.
func (t *Tool) drawPage(ctx context.Context, name string, file []byte, page int, take func(page int, r io.Reader) error) error {
	select {
	case t.turns <- struct{}{}:
		defer func() { <-t.turns }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	n := strconv.Itoa(page)
	argv := []string{t.drawer, "-png", "-r", dotsPerInch, "-f", n, "-l", n, "-singlefile", "-"}
	timed, stop := context.WithTimeout(ctx, maxTime)
	defer stop()
	started, drawn := false, false
	err := worker.Run(timed, argv, maxMemory, bytes.NewReader(file), func(r io.Reader) error {
		started = true
		out := &io.LimitedReader{R: r, N: maxDrawn}
		// The start tells a picture from an error before anything is given on.
		head := bufio.NewReader(out)
		start, _ := head.Peek(len(onePixel))
		switch {
		case !bytes.HasPrefix(start, []byte(signature)):
			return nil // it says why
		case string(start) == onePixel:
			return fault.Limit.Errorf("file %s, page %d: is too large to draw", name, page).WithCode(fault.CodePDFSize)
		}
		drawn = true
		err := take(page, head)
		if err == nil && out.N == 0 {
			err = fault.Limit.Errorf("file %s, page %d: the picture is larger than %d MiB", name, page, maxDrawn>>20).WithCode(fault.CodePDFSize)
		}
		return err
	})
	failure := &worker.Failure{Said: "no picture was produced"}
	switch {
	case err == nil && drawn:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case timed.Err() != nil:
		return fault.Limit.Errorf("file %s, page %d: drawing takes more than %s", name, page, maxTime).WithCode(fault.CodePDFSize)
	case !started:
		return fault.Unavailable.Errorf("pictures of pages: %w", err).WithCode(fault.CodeRendererUnavailable)
	case err != nil && !errors.As(err, &failure):
		return err
	case failure.Cause == worker.Memory:
		return fault.Limit.Errorf("file %s, page %d: drawing takes more than %d MiB of memory", name, page, maxMemory>>20).WithCode(fault.CodePDFSize)
	}
	return fault.Invalid.Errorf("file %s, page %d: cannot be drawn: %.200s", name, page, failure.Said)
}
