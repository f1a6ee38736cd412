package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/badger"
	"catena/storage/disk/disktest"
	"catena/storage/kv"
)

// machine is a computer with a real store in a folder whose file system fails, and loses power.
type machine struct {
	root   string
	random *rand.Rand
	boots  int
	fs     *disktest.Faulty
	unsure []unsure
}

// unsure is a commit that failed: it may be on the disk or not.
type unsure struct {
	call    *call
	version uint64
	key     []byte // of a row that no other commit writes
}

func newMachine(root string, seed uint64) *machine {
	return &machine{root: root, random: rand.New(rand.NewPCG(seed, 3))}
}

func (m *machine) dir() string { return filepath.Join(m.root, fmt.Sprint(m.boots)) }

// boot opens the store in the present folder.
func (m *machine) boot() (kv.Store, error) {
	if err := os.MkdirAll(m.dir(), 0o700); err != nil {
		return nil, err
	}
	m.fs = disktest.New(m.dir(), m.random.Uint64(), disktest.Plan{})
	s, err := badger.Open(m.dir(), badger.Options{FS: m.fs, MinFree: -1, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		m.fs.Set(m.plan())
	}
	return s, err
}

// plan is what fails next: the redo log, which every commit is written to, once or from then on.
func (m *machine) plan() disktest.Plan {
	f := disktest.Fault{Op: pick(m.random, []disktest.Op{disktest.Write, disktest.Sync, disktest.Write | disktest.Sync, disktest.Create}), N: 1 + m.random.IntN(400)}
	switch m.random.IntN(5) {
	case 0:
		return disktest.Plan{}
	case 1:
		f.Crash = true
	case 2:
		f.Err, f.Times = disktest.ErrFull, 1+m.random.IntN(20)
	case 3:
		f.Times = -1
	}
	f.Short = m.random.IntN(2) == 0
	return disktest.Plan{Faults: []disktest.Fault{f}}
}

// failed notes a commit of which nobody knows whether it is on the disk.
func (m *machine) failed(c *call, version uint64, b *kv.Batch) {
	u := unsure{call: c, version: version}
	for _, w := range b.Writes {
		if w.Key[0] == 'a' && w.Key[1] == 1 { // an audit record
			u.key = w.Key
		}
	}
	if c != nil && u.key != nil {
		m.unsure = append(m.unsure, u)
	}
}

// lose has the machine lose its power, and opens the store on what that left.
func (m *machine) lose(old kv.Store) (kv.Store, error) {
	was := m.dir()
	m.boots++
	mapped := m.random.IntN(2) == 0 // whether what is mapped into memory has reached the disk
	if err := m.fs.Crash(m.dir(), func(name string) bool { return mapped || !strings.HasSuffix(name, ".mem") }); err != nil {
		return nil, err
	}
	_ = old.Close() // it cannot write any longer
	s, err := m.boot()
	if err != nil {
		return nil, err
	}
	snap, err := s.Begin(context.Background(), false)
	if err != nil {
		return nil, err
	}
	defer snap.Discard()
	for _, u := range m.unsure {
		there, err := snap.Get(u.key)
		if err != nil {
			return nil, err
		}
		if there != nil {
			u.call.committed = u.version
		}
	}
	m.unsure = nil
	return s, os.RemoveAll(was)
}

// TestBadger plays seeds on the real store. Which operation of the disk fails is counted, and Badger's own goroutines
// write as they are scheduled: a run of the same seed makes the same calls as long as nothing has failed, and is only
// similar afterwards.
func TestBadger(t *testing.T) {
	if seed := number("CATENA_SEED", 0); seed > 0 {
		problems, trace, history := runOn(t, seed, true, mutation{}, setting{nodes: 1, machine: newMachine(t.TempDir(), seed)})
		t.Logf("history:\n%s\ntrace %s", text(history), trace)
		report(t, seed, problems)
		return
	}
	began, all := time.Now(), max(1, seeds(400)/80)
	for seed := uint64(1); seed <= all && !t.Failed(); seed++ {
		problems, _, _ := runOn(t, seed, false, mutation{}, setting{nodes: 1, machine: newMachine(t.TempDir(), seed)})
		report(t, seed, problems)
	}
	t.Logf("%d seeds in %s", all, time.Since(began))
}
