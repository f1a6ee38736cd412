package badger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"

	"catena/storage/disk"
	"catena/storage/fault"
)

// ErrCorrupt is in the chain of every error about files that are damaged, cut short
// or missing. Nothing is repaired or removed then: the files are evidence.
var ErrCorrupt = errors.New("the store is damaged")

// corrupt makes an error with ErrCorrupt in its chain.
func corrupt(format string, args ...any) error {
	return fault.Internal.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrCorrupt)
}

// headSize is how much of a manifest its Head covers: the magic, and length and sum of
// the first set of changes, which a rewrite replaces by one of all tables.
const headSize = 16

// smallStore is the size up to which the content of all tables and values is checked
// before an open returns; larger stores are checked behind its back.
const smallStore = 24 << 20

// describe reads the manifest as far as it is whole and brings that to disk.
func describe(files disk.FS, dir string) (manifest, error) {
	f, err := disk.Open(files, filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return manifest{}, err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return manifest{}, err
	}
	b, err := disk.ReadFile(files, f.Name())
	if err != nil {
		return manifest{}, err
	}
	return describeBytes(b[:wholeManifest(b)]), nil
}

func describeBytes(b []byte) manifest {
	return manifest{Size: int64(len(b)), Sum: hexSum(b), Head: hexSum(b[:min(len(b), headSize)])}
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// wholeManifest is the length up to the end of the last whole set of changes: eight
// bytes of magic, then for each set its length, its CRC32C and itself.
func wholeManifest(b []byte) int {
	at := 8
	if len(b) < at {
		return 0
	}
	for len(b)-at >= 8 {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n > len(b)-at-8 || crc32.Checksum(b[at+8:at+8+n], castagnoli) != binary.BigEndian.Uint32(b[at+4:]) {
			break
		}
		at += 8 + n
	}
	return at
}

// checkManifest refuses a manifest that is not the one the last checkpoint saw, nor
// what that has grown or been rewritten into.
func checkManifest(files disk.FS, dir string, known manifest) error {
	path := filepath.Join(dir, badger.ManifestFilename)
	b, err := disk.ReadFile(files, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return corrupt("%s is missing", path)
	case err != nil:
		return fault.Unavailable.Errorf("store: %w", err)
	case int64(len(b)) >= known.Size && hexSum(b[:known.Size]) == known.Sum:
		return nil
	}
	if len(b) < headSize || hexSum(b[:headSize]) == known.Head || wholeManifest(b) != len(b) {
		return corrupt("%s has %d bytes that are not the %d written", path, len(b), known.Size)
	}
	return nil
}

// rewritten reports whether the manifest does not begin as it was known to.
func rewritten(files disk.FS, dir string, known manifest) bool {
	f, err := disk.Open(files, filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, headSize)
	_, err = io.ReadFull(f, b)
	return err == nil && hexSum(b) != known.Head
}

// listTables lists the tables the manifest names.
func listTables(dir string) (paths []string, err error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil, fault.Unavailable.Errorf("store: %w", err)
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, corrupt("%s: %v", f.Name(), err)
	}
	for number := range m.Tables {
		paths = append(paths, table.NewFilename(number, dir))
	}
	slices.Sort(paths)
	return paths, nil
}

// checkIndex opens a table as Badger does, which answers to a damaged index in a way
// that kills the process. Badger must not be running: it may truncate the file.
func checkIndex(path string) error {
	return checkTable(path, func() (*table.Table, error) {
		file, err := z.OpenMmapFile(path, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		return table.OpenTable(file, table.Options{BlockSize: 4 << 10})
	}, func(t *table.Table) error { return t.Close(-1) })
}

// checkBlocks reads a table and checks every block.
func checkBlocks(files disk.FS, path string) error {
	return checkTable(path, func() (*table.Table, error) {
		b, err := disk.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		number, _ := table.ParseFileID(path)
		return table.OpenInMemoryTable(b, number, &table.Options{BlockSize: 4 << 10})
	}, (*table.Table).VerifyChecksum)
}

// checkTable opens a table by itself and calls fn with it. A panic is an error.
func checkTable(path string, open func() (*table.Table, error), fn func(*table.Table) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = corrupt("table %s: %.200v", path, r)
		}
	}()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return corrupt("table %s is missing", path)
	case err != nil:
		return fault.Unavailable.Errorf("store: %w", err)
	case info.Size() == 0:
		return corrupt("table %s is empty", path)
	}
	t, err := open()
	if err == nil {
		err = fn(t)
	}
	if err != nil {
		return corrupt("table %s: %.200v", path, err)
	}
	return nil
}

// totalSize adds up the sizes of files.
func totalSize(paths []string) (n int64) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			n += info.Size()
		}
	}
	return n
}

// untouched reports whether dir holds nothing of a store, so that one may begin there.
func untouched(files disk.FS, dir string) (bool, error) {
	for _, sub := range []string{tablesDir, logDir, valuesDir} {
		entries, err := files.ReadDir(filepath.Join(dir, sub))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fault.Unavailable.Errorf("store %s: %w", dir, err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), tempSuffix) && e.Name() != lockName {
				return false, nil
			}
		}
	}
	return true, nil
}
