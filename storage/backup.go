package storage

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
)

// A backup is a tar file: the store's dump in parts "store/000000", …, then the content
// of every blob as "blobs/<digest>" and of every file that is not whole yet as "drafts/<name>", then
// an empty "end". The dump comes first, so that
// every blob it names was there when the blobs were copied; a sweep leaves what lost its
// last name within the grace period.
const (
	backupStore  = "store/"
	backupBlobs  = "blobs/"
	backupDrafts = "drafts/"
	backupEnd    = "end"
	backupPart   = 4 << 20
)

// Backup writes a consistent copy of the store and its blobs while both are in use.
func Backup(ctx context.Context, db *kv.DB, blobs *blob.Store, w io.Writer) error {
	t := tar.NewWriter(w)
	parts := &tarParts{tar: t, now: time.Now()}
	out := bufio.NewWriterSize(parts, backupPart)
	if err := db.Dump(ctx, out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	err := blobs.Each(ctx, func(digest string, size int64, _ time.Time) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return backupBlob(ctx, t, parts.now, blobs, digest, size)
	})
	if err != nil {
		return err
	}
	err = blobs.Drafts(func(name string, size int64, _ time.Time) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := blobs.Draft(name, 0, nil).Piece(0, size).Open()
		if err != nil {
			if fault.Is(err, fault.NotFound) {
				return nil // whole or dropped meanwhile
			}
			return err
		}
		return backupFile(t, &tar.Header{Name: backupDrafts + name, Mode: 0o600, Size: size, ModTime: parts.now}, f)
	})
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: backupEnd, Mode: 0o600, ModTime: parts.now}); err != nil {
		return err
	}
	return t.Close()
}

// Backup writes a consistent copy of the store, with all repositories in it, while it is in use. Administrators get one.
func (r *Repo) Backup(ctx context.Context, as *Principal, w io.Writer) error {
	if !as.Is() {
		return fault.Denied.Errorf("backups are for administrators, not for '%s'", as.Name)
	}
	return Backup(ctx, r.whole, r.blobs, w)
}

func backupBlob(ctx context.Context, t *tar.Writer, now time.Time, blobs *blob.Store, digest string, size int64) error {
	f, err := blobs.Read(ctx, digest, size)
	if err != nil {
		if there, unknown := blobs.Has(ctx, digest); !there && unknown == nil {
			return nil // swept between the listing and now: nothing names it
		}
		return err
	}
	return backupFile(t, &tar.Header{Name: backupBlobs + digest, Mode: 0o600, Size: size, ModTime: now}, f)
}

func backupFile(t *tar.Writer, h *tar.Header, f io.ReadCloser) error {
	defer f.Close()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.CopyN(t, f, h.Size)
	return err
}

// tarParts makes a tar entry of each write.
type tarParts struct {
	tar *tar.Writer
	now time.Time
	n   int
}

// Write adds one part.
func (p *tarParts) Write(b []byte) (int, error) {
	h := &tar.Header{Name: fmt.Sprintf("%s%06d", backupStore, p.n), Mode: 0o600, Size: int64(len(b)), ModTime: p.now}
	if err := p.tar.WriteHeader(h); err != nil {
		return 0, err
	}
	p.n++
	return p.tar.Write(b)
}

// Restore fills an empty store and blob folder from a backup. A backup that is cut short
// or changed is refused; what was restored of it up to there must be thrown away.
func Restore(ctx context.Context, db *kv.DB, blobs *blob.Store, r io.Reader) error {
	t := tar.NewReader(bufio.NewReaderSize(r, 1<<20))
	parts := &partReader{tar: t}
	if err := parts.advance(); err != nil {
		return err
	}
	if err := db.Load(ctx, parts); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, parts); err != nil {
		return err
	}
	for h := parts.next; ; {
		if h.Name == backupEnd {
			return nil
		}
		restore := restoreBlob
		if strings.HasPrefix(h.Name, backupDrafts) {
			restore = restoreDraft
		}
		if err := restore(ctx, blobs, h, entry{t}); err != nil {
			return err
		}
		var err error
		if h, err = nextEntry(t); err != nil {
			return err
		}
	}
}

func restoreBlob(ctx context.Context, blobs *blob.Store, h *tar.Header, r io.Reader) error {
	digest, ok := strings.CutPrefix(h.Name, backupBlobs)
	if !ok {
		return fault.Invalid.Errorf("backup: unexpected entry %q", h.Name)
	}
	b, err := blobs.Spool(ctx, digest, "application/octet-stream", r, h.Size)
	if err != nil {
		return err
	}
	if b.Digest != digest {
		return fault.Invalid.Errorf("backup: blob %s has the digest %s: %w", digest, b.Digest, kv.ErrDamaged)
	}
	return blobs.Keep(ctx, b)
}

// draftName is what files that come in are called while they grow: something unique, a number, their batch.
var draftName = regexp.MustCompile(`^[^./]*\.[0-9]+\.[^/]*$`)

func restoreDraft(ctx context.Context, blobs *blob.Store, h *tar.Header, r io.Reader) error {
	name := strings.TrimPrefix(h.Name, backupDrafts)
	if !draftName.MatchString(name) {
		return fault.Invalid.Errorf("backup: unexpected entry %q", h.Name)
	}
	d := blobs.Draft(name, 0, nil)
	if d == nil {
		return nil // a store in memory has none
	}
	f, err := d.Open(true)
	if err != nil {
		return err
	}
	_, err = d.Take(ctx, f, 0, h.Size, r)
	return err
}

// nextEntry reads a header; the end of the file before the "end" entry is an error.
func nextEntry(t *tar.Reader) (*tar.Header, error) {
	h, err := t.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCutShort
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return h, nil
}

var errCutShort = errors.New("cut short")

// unreadable marks a backup that is damaged.
func unreadable(err error) error {
	broken := fault.Invalid.Errorf("backup: %w", err)
	broken.Err = kv.ErrDamaged
	return broken
}

// entry reads the content of an entry, which may be cut short.
type entry struct{ tar *tar.Reader }

// Read reads on.
func (e entry) Read(b []byte) (int, error) {
	n, err := e.tar.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = unreadable(errCutShort)
	}
	return n, err
}

// partReader joins the store's parts again; next is the first entry after them.
type partReader struct {
	tar  *tar.Reader
	next *tar.Header
	done bool
}

func (p *partReader) advance() error {
	h, err := nextEntry(p.tar)
	if err != nil {
		return err
	}
	p.next, p.done = h, !strings.HasPrefix(h.Name, backupStore)
	return nil
}

// Read reads on through the parts.
func (p *partReader) Read(b []byte) (int, error) {
	for !p.done {
		n, err := p.tar.Read(b)
		if n > 0 || err == nil {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}
