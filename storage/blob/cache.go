package blob

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"catena/storage/disk"
)

const (
	cacheDir = "cache"
	// cacheLargest is the size of the largest content in a cache, in bytes: longer content is passed on as it comes, and who
	// reads a part of it waits for that part alone.
	cacheLargest = 64 << 20
)

// cache has files of content that is in a bucket, those that were used last. Nothing here is synced, so that what an
// earlier process left may be damaged: it is dropped then, and asked for again.
type cache struct {
	s    *Store
	most int64 // bytes

	mu    sync.Mutex
	files map[string]*cachedFile // by digest
	bytes int64
}

type cachedFile struct {
	size int64
	used time.Time
}

// load finds what is there.
func (c *cache) load() error {
	c.files = map[string]*cachedFile{}
	entries, err := c.s.root.ReadDir(cacheDir)
	if err != nil {
		return unavailable(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return unavailable(err)
		}
		if !isDigest(e.Name()) {
			continue
		}
		c.files[e.Name()] = &cachedFile{size: info.Size(), used: info.ModTime()}
		c.bytes += info.Size()
	}
	c.shrink()
	return nil
}

func (c *cache) path(digest string) string { return path.Join(cacheDir, digest) }

// fits reports whether content of a size is kept in the cache.
func (c *cache) fits(size int64) bool { return size <= min(cacheLargest, c.most) }

// open returns nil if the content is not there. Where its checksums are not known, it is compared with its digest first.
func (c *cache) open(digest string, size int64) disk.File {
	f := c.use(digest, size)
	if f == nil || c.s.findSums(digest, size) != nil || size == 0 {
		return f
	}
	h := newSummer()
	_, err := io.Copy(h, f)
	if err != nil || h.digest() != digest {
		f.Close()
		c.remove(digest)
		return nil
	}
	c.s.recordSums(digest, size, h.sums())
	return f
}

// use opens a file, which counts as used now.
func (c *cache) use(digest string, size int64) disk.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	file := c.files[digest]
	if file == nil {
		return nil
	}
	f, err := c.s.root.OpenRead(c.path(digest))
	if err != nil || file.size != size {
		if err == nil {
			f.Close()
		}
		c.drop(digest)
		return nil
	}
	if now := time.Now(); now.Sub(file.used) > time.Minute { // for anyone who finds it after this process
		_ = c.s.root.Chtimes(c.path(digest), now, now)
	}
	file.used = time.Now()
	return f
}

// adopt takes a file, in which is what the digest says, and reports whether it did.
func (c *cache) adopt(name, digest string, size int64) bool {
	if !c.fits(size) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.s.root.Rename(name, c.path(digest)); err != nil {
		return false
	}
	if old := c.files[digest]; old != nil {
		c.bytes -= old.size
	}
	c.files[digest] = &cachedFile{size: size, used: time.Now()}
	c.bytes += size
	c.shrink()
	return true
}

func (c *cache) remove(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(digest)
}

// drop forgets a file. One that cannot be removed is found by the next process.
func (c *cache) drop(digest string) {
	file := c.files[digest]
	if file == nil {
		return
	}
	if err := c.s.root.Remove(c.path(digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.s.log.Warn("cache of content", "error", err)
	}
	delete(c.files, digest)
	c.bytes -= file.size
}

// shrink drops what was not used for the longest time, if there is too much: then so much that it is a while until there is again.
func (c *cache) shrink() {
	if c.bytes <= c.most {
		return
	}
	oldest := make([]string, 0, len(c.files))
	for digest := range c.files {
		oldest = append(oldest, digest)
	}
	slices.SortFunc(oldest, func(a, b string) int { return cmp.Compare(c.files[a].used.UnixNano(), c.files[b].used.UnixNano()) })
	for _, digest := range oldest {
		if c.bytes <= c.most-c.most/8 || len(c.files) == 1 {
			return
		}
		c.drop(digest)
	}
}
