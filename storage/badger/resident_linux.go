package badger

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"golang.org/x/sys/unix"
)

// release gives back the mapped pages of tables when there are more than the goal.
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
	for name := range s.tableNames() {
		held[name] = before[name]
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
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err != nil {
			return err
		}
		// The pages are of a shared mapping: what is read next comes from the cache.
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
			return e
		}
	}
	return lines.Err()
}

// tableNames are the files of the tables in use.
func (s *store) tableNames() map[string]bool {
	names := map[string]bool{}
	for _, t := range s.db.Tables() {
		names[table.NewFilename(t.ID, s.mapped)] = true
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
