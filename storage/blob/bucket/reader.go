package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"

	"catena/storage/fault"
)

// ahead is how much of an object is asked for at once by who does not say how far he reads, in bytes.
const ahead = 8 << 20

// Reader reads an object, in any order, asking only for what is read. A connection that breaks is replaced. It is an alias,
// so that what is written for any object store needs no import of this one.
type Reader = interface {
	io.ReadSeekCloser
	// Begin asks for what is read next, so that one that is not there is seen now.
	Begin() error
	// Expect says that n bytes will be read from where the reader is, so that they are asked for at once.
	Expect(n int64)
}

// reader is a Reader.
type reader struct {
	b    *Bucket
	ctx  context.Context //nolint:containedctx // of the one reading
	name string
	size int64
	at   int64 // where the next byte is read
	end  int64 // of what somebody is known to read, as far as that is beyond at

	body io.ReadCloser // from at on; nil: nothing is asked for
	left int64         // bytes of it
}

// Reader returns a reader of an object of size bytes. Whether it is there is seen when it reads.
func (b *Bucket) Reader(ctx context.Context, name string, size int64) Reader {
	return &reader{b: b, ctx: ctx, name: name, size: size}
}

// Expect says that n bytes will be read from where the reader is, so that they are asked for at once.
func (r *reader) Expect(n int64) { r.end = r.at + n }

// Seek moves to another offset.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, fmt.Errorf("%s: place %d", r.b.At(r.name), offset)
	}
	if offset != r.at {
		r.stop()
		r.at, r.end = offset, 0
	}
	return offset, nil
}

// Begin asks for what is read next, so that one that is not there is seen now.
func (r *reader) Begin() error {
	if r.body != nil || r.at >= r.size {
		return nil
	}
	return r.ask()
}

// Read reads on. An object that is not there is NotFound, one that is shorter than was said Internal.
func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.at >= r.size {
		return 0, io.EOF
	}
	var broken error
	for range tries {
		if err := r.Begin(); err != nil {
			return 0, err
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.left)])
		r.at += int64(n)
		r.left -= int64(n)
		if err != nil || r.left == 0 {
			r.stop()
		}
		if n > 0 {
			return n, nil
		}
		broken = err
		if r.ctx.Err() != nil {
			break
		}
	}
	if errors.Is(broken, io.EOF) {
		broken = io.ErrUnexpectedEOF
	}
	return 0, fault.Unavailable.Errorf("%s: %w", r.b.At(r.name), broken)
}

// ask asks for what is read next.
func (r *reader) ask() error {
	end := r.end
	if end <= r.at {
		end = r.at + ahead
	}
	end = min(end, r.size)
	var o minio.GetObjectOptions
	if err := o.SetRange(r.at, end-1); err != nil {
		return err
	}
	body, info, _, err := minio.Core{Client: r.b.client}.GetObject(r.ctx, r.b.name, r.b.prefix+r.name, o)
	switch {
	case minio.ToErrorResponse(err).Code == minio.InvalidRange:
		return fault.Internal.Errorf("%s: is shorter than %d bytes", r.b.At(r.name), r.size)
	case err != nil:
		return r.b.failed(err, r.name)
	case info.Size != end-r.at:
		_ = body.Close()
		return fault.Internal.Errorf("%s: %d bytes at offset %d instead of %d", r.b.At(r.name), info.Size, r.at, end-r.at)
	}
	r.body, r.left = body, end-r.at
	return nil
}

func (r *reader) stop() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}

// Close gives up what was asked for and not read.
func (r *reader) Close() error {
	r.stop()
	return nil
}
