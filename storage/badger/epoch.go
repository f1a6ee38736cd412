package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"catena/storage/badger/values"
	"catena/storage/disk"
	"catena/storage/fault"
)

// epochPrefix begins the name of an empty file in each folder of the store, which ends with the number of the epoch.
// Epochs count openings and orderly closings. STATE names the same number, so that files of different times that were
// put together, such as STATE from an older copy, are refused even if each of them is whole.
const epochPrefix = values.OwnerPrefix

// marked are the folders that carry the epoch.
var marked = []string{logDir, valuesDir, tablesDir}

// readEpoch returns the epoch that a folder carries, zero if it carries none.
func readEpoch(files disk.FS, dir string) (epoch uint64, err error) {
	entries, err := files.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fault.Unavailable.Errorf("store: %w", err)
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), epochPrefix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 || epoch > 0 {
			return 0, corrupt("store: %s does not belong in %s", e.Name(), dir)
		}
		epoch = n
	}
	return epoch, nil
}

// checkEpochs refuses a store whose files are of different times.
func (s *store) checkEpochs() error {
	for _, name := range marked {
		dir := filepath.Join(s.dir, name)
		n, err := readEpoch(s.fs, dir)
		if err != nil {
			return err
		}
		if n != s.state.Epoch && n != s.state.Marked {
			return corrupt("store %s: %s has epoch %d, %s has epoch %d: one of them comes from another copy of the store", s.dir, stateName, s.state.Epoch, dir, n)
		}
	}
	return nil
}

// nextEpoch begins an epoch, with whatever else changed in the state. It has ended once the state is written again:
// until then a folder may carry the epoch before.
func (s *store) nextEpoch() error {
	if s.state.Format == stateFormat && s.state.Marked != s.state.Epoch { // a crash interrupted the last one
		if err := s.markFolders(); err != nil {
			return err
		}
	}
	s.state.Format = stateFormat
	s.state.Epoch++
	return s.markFolders()
}

// markFolders has the state and the folders carry the epoch.
func (s *store) markFolders() error {
	if err := s.state.write(s.fs, s.dir); err != nil {
		return err
	}
	for _, name := range marked {
		if err := writeEpoch(s.fs, filepath.Join(s.dir, name), s.state.Epoch); err != nil {
			return err
		}
	}
	s.state.Marked = s.state.Epoch
	return nil
}

// writeEpoch has a folder carry an epoch.
func writeEpoch(files disk.FS, dir string, epoch uint64) error {
	name := func(n uint64) string { return filepath.Join(dir, epochPrefix+strconv.FormatUint(n, 10)) }
	old, err := readEpoch(files, dir)
	switch {
	case err != nil || old == epoch:
		return err
	case old > 0:
		err = files.Rename(name(old), name(epoch))
	default:
		var f disk.File
		if f, err = files.OpenFile(name(epoch), os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return err
	}
	return files.SyncDir(dir)
}
