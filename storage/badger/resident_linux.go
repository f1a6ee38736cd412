package badger

import (
	"bufio"
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"golang.org/x/sys/unix"
)

// release gives back mapped pages when there are more than the goal: those of values, and if that is not enough those of the
// blocks of every second table, not the same each time, so that not all that is read has to be found again. Indexes and
// filters, which every read of a table begins with, stay, unless there are too many of them. A goal of
// zero is everything.
func (s *store) release(goal int) (err error) {
	n, err := residentFiles()
	if err != nil || n < goal {
		return err
	}
	if err := s.values.Release(); err != nil {
		return err
	}
	if n, err = residentFiles(); err != nil || n < goal {
		return err
	}
	defer caught(debug.SetPanicOnFault(true), &err)
	before := s.blocksOfTables()
	txn := s.db.NewTransactionAt(s.history.Published(), false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{AllVersions: true})
	defer it.Close() // it keeps the tables of its moment, and so their mappings
	held, indexes := s.blocksOfTables(), 0
	for name, t := range held {
		if before[name] != t {
			delete(held, name)
		}
		indexes += t.index
	}
	keep := goal > 0 && indexes < residentGoal
	if keep && n-indexes < goal {
		return nil
	}
	round := s.releases.Add(1)
	return eachMapping(func(file []byte, from, to uintptr) error {
		t, ok := held[string(file)]
		if !ok || goal > 0 && (t.id^round)&1 != 0 {
			return nil
		}
		if keep {
			to = min(to, from+t.blocks)
		}
		// The pages are of a shared mapping: what is read next comes from the cache.
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
			return e
		}
		return nil
	})
}

// eachMapping calls fn for every file that is mapped into the process.
func eachMapping(fn func(file []byte, from, to uintptr) error) error {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		i := bytes.IndexByte(lines.Bytes(), '/')
		if i < 0 {
			continue
		}
		from, to, err := mapping(lines.Bytes())
		if err != nil {
			return err
		}
		if err := fn(lines.Bytes()[i:], from, to); err != nil {
			return err
		}
	}
	return lines.Err()
}

// mapping reads the addresses that a line of the list of mappings begins with.
func mapping(line []byte) (from, to uintptr, err error) {
	span, _, _ := bytes.Cut(line, []byte(" "))
	a, b, _ := bytes.Cut(span, []byte("-"))
	lo, err := strconv.ParseUint(string(a), 16, 64)
	if err != nil {
		return 0, 0, err
	}
	hi, err := strconv.ParseUint(string(b), 16, 64)
	return uintptr(lo), uintptr(hi), err
}

// mapped is a table in use.
type mapped struct {
	id     uint64
	blocks uintptr // bytes of whole pages from its beginning that hold blocks
	index  int     // bytes of its index and filter
}

// blocksOfTables are the tables in use by their files.
func (s *store) blocksOfTables() map[string]mapped {
	tables := map[string]mapped{}
	page := uintptr(os.Getpagesize())
	for _, t := range s.db.Tables() {
		blocks := uintptr(int(t.OnDiskSize)-t.IndexSz) / page * page
		tables[table.NewFilename(t.ID, s.mapped)] = mapped{t.ID, blocks, t.IndexSz}
	}
	return tables
}

// residentFiles is how many bytes of mapped files the process has resident.
func residentFiles() (int, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0, nil
	}
	n, err := strconv.Atoi(f[2])
	return n * os.Getpagesize(), err
}
