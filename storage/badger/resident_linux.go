package badger

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"golang.org/x/sys/unix"
)

// release gives back mapped pages when there are more than the goal: those of every
// second table, not the same each time, so that not all that is read has to be found
// again. A goal of zero is all tables.
func (s *store) release(goal int) (err error) {
	if n, err := residentFiles(); err != nil || n < goal {
		return err
	}
	defer caught(&err)
	before := s.tableNames()
	txn := s.db.NewTransactionAt(s.history.Published(), false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{AllVersions: true})
	defer it.Close() // it keeps the tables of its moment, and so their mappings
	held := map[string]bool{}
	round := s.releases.Add(1)
	for name, id := range s.tableNames() {
		held[name] = before[name] == id && (goal == 0 || (id^round)&1 == 0)
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if i := bytes.IndexByte(lines.Bytes(), '/'); i < 0 || !held[string(lines.Bytes()[i:])] {
			continue
		}
		var from, to uintptr
		if from, to, err = mapping(lines.Bytes()); err != nil {
			return err
		}
		// The pages are of a shared mapping: what is read next comes from the cache.
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
			return e
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

// tableNames are the files of the tables in use, with their numbers.
func (s *store) tableNames() map[string]uint64 {
	names := map[string]uint64{}
	for _, t := range s.db.Tables() {
		names[table.NewFilename(t.ID, s.mapped)] = t.ID
	}
	return names
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
