package blob

import (
	"path"
	"sync"

	"catena/storage/disk"
)

// syncer makes folders and syncs them. Callers that wait for the same folder share a sync.
type syncer struct {
	root disk.Folder

	mu    sync.Mutex
	made  map[string]bool     // folders known to be durable in their parents
	waits map[string]*syncing // by folder
}

// syncing is the state of one folder that somebody syncs: one batch runs, one gathers.
type syncing struct {
	run   sync.Mutex
	next  *batch
	users int
}

type batch struct {
	done chan struct{}
	err  error
}

// sync returns once everything named in dir before the call is durable.
func (y *syncer) sync(dir string) error {
	y.mu.Lock()
	if y.waits == nil {
		y.waits = map[string]*syncing{}
	}
	w := y.waits[dir]
	if w == nil {
		w = new(syncing)
		y.waits[dir] = w
	}
	if b := w.next; b != nil {
		y.mu.Unlock()
		<-b.done
		return b.err
	}
	b := &batch{done: make(chan struct{})}
	w.next = b
	w.users++
	y.mu.Unlock()

	w.run.Lock()
	y.mu.Lock()
	w.next = nil // anyone who comes now needs the batch after this one
	y.mu.Unlock()
	b.err = y.root.SyncDir(dir)
	w.run.Unlock()
	close(b.done)

	y.mu.Lock()
	defer y.mu.Unlock()
	if w.users--; w.users == 0 {
		delete(y.waits, dir)
	}
	return b.err
}

// make makes dir and the folders above it, durably.
func (y *syncer) make(dir string) error {
	if dir == "." {
		return nil
	}
	y.mu.Lock()
	known := y.made[dir]
	y.mu.Unlock()
	if known {
		return nil
	}
	parent := path.Dir(dir)
	if err := y.make(parent); err != nil {
		return err
	}
	if err := y.root.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	if err := y.sync(parent); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.made == nil {
		y.made = map[string]bool{}
	}
	y.made[dir] = true
	return nil
}
