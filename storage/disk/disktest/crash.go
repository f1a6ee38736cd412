package disktest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Crash stops the machine, if that has not happened, and writes to a new folder what a loss of power may leave:
// everything that syncs confirmed, and of the rest what the seed chooses. Of files that were not used through f it
// copies those that keep returns true for; it is called with names relative to the folder. They may still change
// while Crash runs: it copies them at a moment when they do not. f stays crashed, and anyone who works with the old
// folder can be closed afterwards.
func (f *Faulty) Crash(to string, keep func(name string) bool) error {
	f.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.copyOthers(to, keep); err != nil {
		return err
	}
	names := make(map[string]*node, len(f.durable))
	for name := range f.now {
		names[name] = f.durable[name]
	}
	for _, c := range f.changes[:f.some(len(f.changes))] { // names change in order, as file systems with a journal do it
		for name, n := range c {
			names[name] = n
		}
	}
	content := map[*node][]byte{}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		n := names[name]
		if n == nil {
			continue
		}
		b, ok := content[n]
		if !ok {
			now, err := os.ReadFile(n.path)
			if err != nil {
				return err
			}
			b = n.left(now, f.rand)
			content[n] = b
		}
		path, err := f.below(name, to)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// some is a number up to n: often none or all.
func (f *Faulty) some(n int) int {
	switch f.rand.IntN(4) {
	case 0:
		return 0
	case 1:
		return n
	}
	return f.rand.IntN(n + 1)
}

// below is the place of a name in another folder, which is made.
func (f *Faulty) below(name, to string) (string, error) {
	rel, err := filepath.Rel(f.root, name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(to, rel)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// left is what a loss of power leaves of the content: it undoes the edits, last first, and does again those that
// are durable and some of the others.
func (n *node) left(b []byte, r *rand.Rand) []byte {
	for _, e := range slices.Backward(n.edits) {
		b = e.undo(b)
	}
	mode := r.IntN(4)
	for _, e := range n.edits {
		switch {
		case e.durable || mode == 1:
			b = e.redo(b, func() bool { return true })
		case mode == 0:
		case mode == 2:
			if r.IntN(2) == 0 {
				b = e.redo(b, func() bool { return true })
			}
		default:
			b = e.redo(b, func() bool { return r.IntN(2) == 0 })
		}
	}
	return b
}

func (e *edit) undo(b []byte) []byte {
	if e.data == nil {
		return append(b[:min(int64(len(b)), e.at)], e.old...)[:e.before]
	}
	if len(e.old) > 0 {
		copy(b[e.at:], e.old)
	}
	return b[:min(int64(len(b)), e.before)]
}

// redo does an edit again, sector by sector as the disk has written them.
func (e *edit) redo(b []byte, written func() bool) []byte {
	if e.data == nil {
		if written() {
			b = resize(b, e.at)
		}
		return b
	}
	for at := e.at; at < e.at+int64(len(e.data)); {
		next := min((at/sector+1)*sector, e.at+int64(len(e.data)))
		if written() {
			b = resize(b, max(int64(len(b)), next))
			copy(b[at:next], e.data[at-e.at:])
		}
		at = next
	}
	return b
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// copyOthers copies the files that were not used through f, at a moment when none comes, goes or grows.
func (f *Faulty) copyOthers(to string, keep func(string) bool) error {
	for try := range 200 {
		before, err := f.others(keep)
		if err != nil {
			return err
		}
		for _, name := range before {
			if err = f.copyOther(name.path, to); err != nil {
				break
			}
		}
		after, e := f.others(keep)
		if e != nil {
			return e
		}
		if err == nil && slices.Equal(before, after) {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range before {
			if path, err := f.below(name.path, to); err == nil {
				_ = os.Remove(path)
			}
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return fmt.Errorf("the files in %s never stand still", f.root)
}

func (f *Faulty) copyOther(name, to string) error {
	path, err := f.below(name, to)
	if err != nil {
		return err
	}
	r, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(CopySparse(path, r), r.Close())
}

// other is a file that was not used through the file system.
type other struct {
	path string
	size int64
}

func (f *Faulty) others(keep func(string) bool) (out []other, err error) {
	err = filepath.WalkDir(f.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // removed since it was listed
			}
			return err
		}
		rel, _ := filepath.Rel(f.root, path)
		if _, ours := f.now[path]; ours || keep != nil && !keep(rel) {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			out = append(out, other{path, info.Size()})
		}
		return nil
	})
	return out, err
}
