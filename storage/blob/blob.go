// Package blob keeps the content of files. Content is addressed by its SHA-256 digest
// and never changes; a Blob is a handle that joins content with a name, a type and an
// encoding. A Store takes content in (Spool), makes it durable (Keep) and finds it
// again (Load). Which document names a digest, and when content may be collected, is
// for storage to know.
//
// Content is verified as it is read: each block is compared with its checksum before a byte of it is passed on. What is
// sent to clients is the exception: a block of a file that was verified within the last minute is sent without being
// verified again, as long as the system says that the file has not been written to, replaced or renamed since. Damage that
// arises on the disk beneath is therefore noticed a minute late if the system has to read the block again within that minute.
package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"catena/storage/fault"
)

// Blob is a file: content and what is said about it. A Blob is not changed once made;
// With makes a copy.
type Blob struct {
	Name, Type, Encoding string
	Digest               string // SHA-256 of the content in hex
	Size                 int64  // of the content in bytes

	source source
	sums   sums // of content that comes in; nil: not known
}

// source is where the content of a blob is.
type source interface {
	open() (io.ReadSeekCloser, error)
}

// String is the file's name, which stands for it in texts.
func (b *Blob) String() string { return b.Name }

// FromBytes makes a blob of data, which must not be changed afterwards. The type is
// completed as Spool does.
func FromBytes(name, typ string, data []byte) *Blob {
	sum := sha256.Sum256(data)
	typ, enc := TypeOf(name, typ, data)
	return &Blob{
		Name: name, Type: typ, Encoding: enc,
		Digest: hex.EncodeToString(sum[:]), Size: int64(len(data)),
		source: memory(data),
	}
}

// Open returns a reader of the content. Each reader has its own position.
func (b *Blob) Open() (io.ReadSeekCloser, error) {
	if b.source == nil {
		return nil, fault.Internal.Errorf("blob %s: the handle has no content", b.Digest)
	}
	return b.source.open()
}

// With returns a blob of the same content, called name and of type typ, both taken as
// they are.
func (b *Blob) With(name, typ string) *Blob {
	c := *b
	c.Name, c.Type = name, typ
	return &c
}

// WithEncoding returns a blob of the same content with another encoding.
func (b *Blob) WithEncoding(enc string) *Blob {
	c := *b
	c.Encoding = enc
	return &c
}

// Same reports whether two blobs have the same content, name, type and encoding.
func (b *Blob) Same(o *Blob) bool {
	if b == nil || o == nil {
		return b == o
	}
	return b.Digest == o.Digest && b.Size == o.Size && b.Name == o.Name && b.Type == o.Type && b.Encoding == o.Encoding
}

// Bytes returns the content, which the caller must not change. More than max bytes are
// a Limit; max 0 means no limit.
func (b *Blob) Bytes(max int64) ([]byte, error) {
	if max > 0 && b.Size > max {
		return nil, fault.Limit.Errorf("blob %s: %d bytes, at most %d are allowed here", b.label(), b.Size, max)
	}
	if m, ok := b.source.(memory); ok {
		return m, nil
	}
	if e, ok := b.source.(elsewhere); ok {
		return e()
	}
	r, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, b.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		var known *fault.Error
		if !errors.As(err, &known) {
			err = fault.Internal.Errorf("blob %s: content: %w", b.Digest, err)
		}
		return nil, err
	}
	return data, nil
}

func (b *Blob) label() string {
	if b.Name != "" {
		return b.Name
	}
	return b.Digest
}

// Elsewhere returns a handle to content that somebody else keeps: read returns it, and nobody
// changes it.
func Elsewhere(meta Blob, read func() ([]byte, error)) *Blob {
	meta.source = elsewhere(read)
	return &meta
}

type elsewhere func() ([]byte, error)

// IsElsewhere reports whether Elsewhere made the handle.
func (b *Blob) IsElsewhere() bool {
	_, ok := b.source.(elsewhere)
	return ok
}

func (e elsewhere) open() (io.ReadSeekCloser, error) {
	data, err := e()
	if err != nil {
		return nil, err
	}
	return memory(data).open()
}

// memory is content held in memory.
type memory []byte

func (m memory) open() (io.ReadSeekCloser, error) { return nopCloser{bytes.NewReader(m)}, nil }

type nopCloser struct{ *bytes.Reader }

func (nopCloser) Close() error { return nil }
