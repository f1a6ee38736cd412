package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"catena/storage/disk"
	"catena/storage/fault"
)

// folder is content in files named by their digest, two levels of folders deep (ab/cd/abcd…).
type folder struct{ s *Store }

// contentPath is where in the folder the content of a digest is.
func contentPath(digest string) string { return path.Join(digest[:2], digest[2:4], digest) }

// renew makes content look new to collection. An earlier process may have died between
// naming the file and syncing its folder, so that is done here too.
func (f folder) renew(ctx context.Context, digest string, size int64) (bool, error) {
	found, _, err := f.find(ctx, digest)
	switch {
	case fault.Is(err, fault.NotFound):
		return false, nil
	case err != nil || found != size:
		return false, err
	}
	at, now := contentPath(digest), time.Now()
	err = f.s.root.Chtimes(at, now, now)
	if err == nil {
		err = f.s.dirs.sync(path.Dir(at))
	}
	if err != nil {
		return false, fault.Unavailable.Errorf("blob %s: %w", digest, err)
	}
	return true, nil
}

func (f folder) take(_ context.Context, b *Blob) error {
	at := contentPath(b.Digest)
	switch c := b.source.(type) {
	case *spool:
		if c.store == f.s {
			return c.settle(b, func(from string) error { return f.name(from, at) })
		}
	case *grown:
		if c.draft.store == f.s {
			return f.link(c, b, at)
		}
	}
	return f.copyIn(b, at)
}

// name moves a file to its place once it is synced, and syncs the folder. A file that cannot be synced is removed: a
// second sync would succeed without writing what the first one lost.
func (f folder) name(from, at string) error {
	file, err := f.s.root.OpenFile(from, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Unavailable.Errorf("blobs: the content could not be written and must be sent again")
	}
	if err != nil {
		return unavailable(err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return unavailable(errors.Join(err, f.s.root.Remove(from)))
	}
	dir := path.Dir(at)
	if err := f.s.dirs.make(dir); err != nil {
		return unavailable(err)
	}
	if err := f.s.root.Rename(from, at); err != nil {
		return unavailable(err)
	}
	if err := f.s.dirs.sync(dir); err != nil {
		return unavailable(err)
	}
	return nil
}

// link gives the file of a draft the name of its content as well. Both names stay: should
// the process die before anybody refers to the content, its pieces are still there.
func (f folder) link(g *grown, b *Blob, at string) error {
	from, err := g.seal(b.Size)
	if err != nil {
		return err
	}
	dir := path.Dir(at)
	if err := errors.Join(f.s.dirs.sync(draftDir), f.s.dirs.make(dir)); err != nil {
		return unavailable(err)
	}
	if err := f.s.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	if err := f.s.root.Link(from, at); err != nil { // not every file system can
		return f.copyIn(b, at)
	}
	now := time.Now()
	if err := errors.Join(f.s.root.Chtimes(at, now, now), f.s.dirs.sync(dir)); err != nil {
		return unavailable(err)
	}
	return nil
}

// copyIn writes the content to a file of its own, which is synced before it gets its name.
func (f folder) copyIn(b *Blob, at string) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	file, from, err := f.s.temp()
	if err != nil {
		return unavailable(err)
	}
	n, err := io.Copy(file, io.LimitReader(r, b.Size+1))
	switch {
	case err != nil:
		err = unavailable(err)
	case n != b.Size:
		err = fault.Internal.Errorf("blob %s: content does not have %d bytes", b.Digest, b.Size)
	}
	if closed := file.Close(); err == nil && closed != nil {
		err = unavailable(closed)
	}
	if err == nil {
		err = f.name(from, at)
	}
	if err != nil {
		temporary{f.s.root, from}.remove()
	}
	return err
}

// temp makes a file for content on its way in.
func (s *Store) temp() (disk.File, string, error) {
	name := path.Join(s.comes, rand.Text())
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	return f, name, err
}

func (f folder) open(digest string, size int64) (io.ReadSeekCloser, error) {
	file, err := f.file(digest, size)
	if err != nil {
		return nil, err
	}
	of, err := f.s.sumsOf(digest, size, func() (io.ReadCloser, error) {
		if size > window {
			return io.NopCloser(&passing{file, 0}), nil
		}
		return io.NopCloser(io.NewSectionReader(file, 0, size)), nil // it is read again at once
	})
	if err != nil {
		file.Close()
		return nil, err
	}
	return &verified{s: f.s, digest: digest, size: size, sums: of, in: file}, nil
}

func (f folder) file(digest string, size int64) (disk.File, error) {
	file, err := f.s.root.OpenRead(contentPath(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.s.missing(digest)
	}
	if err != nil {
		return nil, f.s.unreadable(digest, err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() != size {
		err = f.s.damaged(digest, "has %d bytes instead of %d", info.Size(), size)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (f folder) read(_ context.Context, digest string, size int64) (io.ReadCloser, error) {
	file, err := f.file(digest, size)
	if err != nil {
		return nil, err
	}
	return &passing{file, 0}, nil
}

// passing reads a file that nobody is expected to read again soon.
type passing struct {
	disk.File

	at int64
}

// Read reads on.
func (p *passing) Read(b []byte) (int, error) {
	n, err := readPassing(p.File, b, p.at)
	if p.at += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f folder) find(_ context.Context, digest string) (int64, time.Time, error) {
	info, err := f.s.root.Stat(contentPath(digest))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, time.Time{}, fault.NotFound.Errorf("blob %s", digest)
	case err != nil:
		return 0, time.Time{}, fault.Unavailable.Errorf("blob %s: %w", digest, err)
	}
	return info.Size(), info.ModTime(), nil
}

func (f folder) remove(_ context.Context, digest string) error {
	if err := f.s.root.Remove(contentPath(digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Unavailable.Errorf("blob %s: %w", digest, err)
	}
	return nil
}

// each calls fn for the contents with digests after one, in their order: folders have the first bytes of a digest as their names, so
// that whole folders are skipped. What is removed meanwhile is left out.
func (f folder) each(ctx context.Context, after string, fn func(digest string, size int64, at time.Time) error) error {
	return f.s.root.Walk(func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return unavailable(err)
		case d.IsDir() && ownDirs[p]:
			return fs.SkipDir
		case d.IsDir():
			if at := strings.ReplaceAll(p, "/", ""); p != "." && at < after[:min(len(at), len(after))] {
				return fs.SkipDir
			}
			return nil
		case !isDigest(d.Name()) || d.Name() <= after:
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fault.Unavailable.Errorf("blob %s: %w", d.Name(), err)
		}
		return fn(d.Name(), info.Size(), info.ModTime())
	})
}

func (f folder) tidy(context.Context, time.Time) (bool, error) { return true, nil }
