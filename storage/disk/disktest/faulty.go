package disktest

import (
	"cmp"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"catena/storage/disk"
)

// Faulty is a file system with faults, in a real folder.
type Faulty struct {
	root string
	gone string // folder that keeps removed files until their removal is durable

	mu     sync.Mutex
	rand   *rand.Rand
	plan   Plan
	counts []int // operations that each fault has counted
	ops    int
	trash  int
	dead   bool
	room   int64 // bytes left on the disk, negative if not limited
	used   int64 // bytes that were added since room was set

	now     map[string]*node // names that changed through this file system; nil: removed
	durable map[string]*node // the same names as they are on disk
	changes []change         // of names, that no sync has confirmed, in order
}

// change is a change of names that happens as a whole: nil removes.
type change map[string]*node

// New returns the file system of a folder and what is below it. Removed files are kept for a while in a folder
// beside it whose name ends in ".gone".
func New(root string, seed uint64, plan Plan) *Faulty {
	return &Faulty{
		root: filepath.Clean(root), gone: filepath.Clean(root) + ".gone", rand: rand.New(rand.NewPCG(seed, 15)), room: -1,
		plan: plan, counts: make([]int, len(plan.Faults)), now: map[string]*node{}, durable: map[string]*node{},
	}
}

var _ disk.FS = (*Faulty)(nil)

// Set replaces the plan; faults count from zero.
func (f *Faulty) Set(plan Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan, f.counts = plan, make([]int, len(plan.Faults))
}

// Ops returns how many operations there were.
func (f *Faulty) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// SetRoom limits the bytes that files may still grow by; negative: no limit. Removing files gives theirs back.
func (f *Faulty) SetRoom(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room, f.used = bytes, 0
}

// Stop crashes the machine now: every later operation fails with ErrCrashed.
func (f *Faulty) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// Crashed reports whether the machine has crashed.
func (f *Faulty) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// verdict is what happens to an operation.
type verdict struct {
	err   error
	short bool
	crash bool
}

// begin counts an operation and decides what happens to it. The caller holds the lock.
func (f *Faulty) begin(op Op, name string) verdict {
	if f.dead {
		return verdict{err: pathError(name, ErrCrashed)}
	}
	f.ops++
	if f.plan.Trace != nil {
		f.plan.Trace(f.ops, op, name)
	}
	var v verdict
	for i := range f.plan.Faults {
		t := &f.plan.Faults[i]
		if !t.hits(op, name) {
			continue
		}
		if f.counts[i]++; v.err == nil && t.now(f.counts[i]) {
			v = verdict{pathError(name, cmp.Or(t.Err, ErrIO)), t.Short, t.Crash}
		}
	}
	if v.err == nil && f.plan.Rate > 0 && op&cmp.Or(f.plan.Kinds, Every) != 0 && f.rand.Float64() < f.plan.Rate {
		v = verdict{err: pathError(name, cmp.Or(f.plan.Err, ErrIO)), short: f.rand.IntN(2) == 0}
	}
	if v.crash {
		v.err, f.dead = pathError(name, ErrCrashed), true
	}
	return v
}

// enter waits as long as the operation takes, locks, and decides. The caller unlocks.
func (f *Faulty) enter(op Op, name string) verdict {
	f.mu.Lock()
	if d := f.plan.Latency; d > 0 {
		wait, sleep := time.Duration(f.rand.Int64N(int64(d))), f.plan.Sleep
		f.mu.Unlock()
		if sleep == nil {
			sleep = time.Sleep
		}
		sleep(wait)
		f.mu.Lock()
	}
	return f.begin(op, name)
}

func pathError(name string, err error) error { return &fs.PathError{Op: "disk", Path: name, Err: err} }

// known returns the node of a name, made if a file is there that was not used yet.
func (f *Faulty) known(name string) *node {
	n, ok := f.now[name]
	if ok {
		return n
	}
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
		n = &node{path: name}
	}
	f.now[name], f.durable[name] = n, n
	return n
}

// apply makes a change of names that is not durable yet.
func (f *Faulty) apply(c change) {
	for name, n := range c {
		f.now[name] = n
	}
	f.changes = append(f.changes, c)
}

// discard moves the content of a name out of the way.
func (f *Faulty) discard(name string, n *node) error {
	if n.path != name {
		return os.Remove(name) // it has another name or is kept already
	}
	for other, m := range f.now {
		if m == n && other != name {
			n.path = other
			return os.Remove(name)
		}
	}
	if err := os.MkdirAll(f.gone, 0o700); err != nil {
		return err
	}
	if f.room >= 0 {
		if info, err := os.Stat(name); err == nil {
			f.used -= info.Size()
		}
	}
	f.trash++
	to := filepath.Join(f.gone, strconv.Itoa(f.trash))
	if err := os.Rename(name, to); err != nil {
		return err
	}
	n.path = to
	return nil
}

// settle makes the changes of names in a folder durable and gives up what nothing refers to any longer.
func (f *Faulty) settle(dir string) {
	var left []change
	for _, c := range f.changes {
		in := false
		for name := range c {
			in = in || filepath.Dir(name) == dir
		}
		if !in {
			left = append(left, c)
			continue
		}
		for name, n := range c {
			f.durable[name] = n
		}
	}
	f.changes = left
	f.sweep()
}

// sweep removes the content that is kept for names which are durably gone.
func (f *Faulty) sweep() {
	used := map[string]bool{}
	for _, names := range append([]change{f.now, f.durable}, f.changes...) {
		for _, n := range names {
			if n != nil {
				used[n.path] = true
			}
		}
	}
	kept, _ := os.ReadDir(f.gone)
	for _, e := range kept {
		if path := filepath.Join(f.gone, e.Name()); !used[path] {
			_ = os.Remove(path)
		}
	}
}

// grow takes room for a file that grows by n bytes, or gives it back.
func (f *Faulty) grow(n int64) bool {
	if f.room < 0 || n <= 0 {
		f.used += n
		return true
	}
	if f.used+n > f.room {
		return false
	}
	f.used += n
	return true
}
