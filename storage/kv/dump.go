package kv

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"catena/storage/fault"
)

// A dump is this line, then for each row a length of key plus one, a length of value,
// both uvarints, and key and value; then a zero, the number of rows as a uvarint and
// the SHA-256 of everything before it.
const dumpHeader = "catena dump 1\n"

// loadBytes and loadRows bound one transaction of a Load.
const (
	loadBytes = 4 << 20
	loadRows  = 20_000
)

// Dump writes one snapshot of everything in a form every engine can load, except what describes the store itself.
func (d *DB) Dump(ctx context.Context, w io.Writer) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	if _, err := out.WriteString(dumpHeader); err != nil {
		return err
	}
	var rows uint64
	err := d.View(ctx, func(t *Tx) error {
		var head []byte
		for row, err := range t.Scan(Range{}) {
			if err != nil {
				return err
			}
			if bytes.HasPrefix(row.Key, ownMark) {
				continue
			}
			head = binary.AppendUvarint(head[:0], uint64(len(row.Key))+1)
			head = binary.AppendUvarint(head, uint64(len(row.Value)))
			for _, part := range [][]byte{head, row.Key, row.Value} {
				if _, err := out.Write(part); err != nil {
					return err
				}
			}
			rows++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(binary.AppendUvarint([]byte{0}, rows)); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Load fills an empty store with a dump. If the dump is damaged or cut short, or ctx
// ends, what was loaded is removed again.
func (d *DB) Load(ctx context.Context, r io.Reader) error {
	err := d.View(ctx, func(t *Tx) error {
		n, _, err := t.Count(Range{}, 1)
		if err == nil && n > 0 {
			err = fault.Conflict.Errorf("store: must be empty to load a dump")
		}
		return err
	})
	if err != nil {
		return err
	}
	if err = d.load(ctx, r); err != nil {
		if undo := d.empty(context.WithoutCancel(ctx)); undo != nil {
			return errors.Join(err, undo)
		}
	}
	return err
}

// load applies the rows of a dump in many transactions of bounded size, because a dump may be larger than memory. If it fails the
// store is incomplete and must be thrown away.
func (d *DB) load(ctx context.Context, r io.Reader) error {
	in, err := d.reader(r)
	if err != nil {
		return err
	}
	for more := true; more; {
		var rows []Row
		for size := 0; more && size < loadBytes && len(rows) < loadRows; {
			row, err := in.row()
			if err != nil {
				return err
			}
			if more = row.Key != nil; more {
				rows = append(rows, row)
				size += len(row.Key) + len(row.Value)
			}
		}
		err := d.Update(ctx, func(t *Tx) error {
			for _, row := range rows {
				if err := t.Set(row.Key, row.Value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckDump reads a dump to its end and reports whether Load would take it, apart from what the store refuses.
func (d *DB) CheckDump(ctx context.Context, r io.Reader) error {
	in, err := d.reader(r)
	if err != nil {
		return err
	}
	for {
		row, err := in.row()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || row.Key == nil {
			return err
		}
	}
}

// empty deletes everything.
func (d *DB) empty(ctx context.Context) error {
	for {
		n := 0
		err := d.Update(ctx, func(t *Tx) error {
			n = 0
			for row, err := range t.Scan(Range{KeysOnly: true, Limit: loadRows}) {
				if err != nil {
					return err
				}
				if err := t.Delete(row.Key); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

type dumpReader struct {
	in     *bufio.Reader
	sum    hash.Hash
	limits Limits
	rows   uint64
	one    [1]byte
}

// reader reads the beginning of a dump.
func (d *DB) reader(r io.Reader) (*dumpReader, error) {
	in := &dumpReader{in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New(), limits: d.limits}
	head := make([]byte, len(dumpHeader))
	if err := in.full(head); err != nil {
		return nil, err
	}
	if string(head) != dumpHeader {
		return nil, fault.Invalid.Errorf("dump: does not begin as a dump should")
	}
	return in, nil
}

// row returns the next row, without a key after the last, when the dump has proved
// to be whole.
func (d *dumpReader) row() (Row, error) {
	n, err := binary.ReadUvarint(d)
	if err != nil {
		return Row{}, cutShort(err)
	}
	if n == 0 {
		return Row{}, d.end()
	}
	size, err := binary.ReadUvarint(d)
	if err != nil {
		return Row{}, cutShort(err)
	}
	if n-1 > uint64(d.limits.Key+partRoom) || size > uint64(d.limits.Value) {
		return Row{}, damaged("row %d is damaged: key of %d bytes, value of %d", d.rows+1, n-1, size)
	}
	b := make([]byte, n-1+size)
	if err := d.full(b); err != nil {
		return Row{}, err
	}
	d.rows++
	return Row{Key: b[: n-1 : n-1], Value: b[n-1:]}, nil
}

func (d *dumpReader) end() error {
	rows, err := binary.ReadUvarint(d)
	if err != nil {
		return cutShort(err)
	}
	want, got := d.sum.Sum(nil), make([]byte, sha256.Size)
	if _, err := io.ReadFull(d.in, got); err != nil {
		return cutShort(err)
	}
	if rows != d.rows || !bytes.Equal(got, want) {
		return damaged("checksum of %d rows does not match", d.rows)
	}
	return nil
}

// ReadByte reads one byte into the checksum.
func (d *dumpReader) ReadByte() (byte, error) {
	b, err := d.in.ReadByte()
	if err == nil {
		d.one[0] = b
		d.sum.Write(d.one[:])
	}
	return b, err
}

func (d *dumpReader) full(b []byte) error {
	if _, err := io.ReadFull(d.in, b); err != nil {
		return cutShort(err)
	}
	d.sum.Write(b)
	return nil
}

// damaged is an error about a dump that is not what was written.
func damaged(format string, args ...any) error {
	err := fault.Invalid.Errorf("dump: "+format, args...)
	err.Err = ErrDamaged
	return err
}

func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("cut short")
	}
	return fault.Invalid.Errorf("dump: %w", err)
}
