package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"google.golang.org/protobuf/proto"

	"catena/storage/disk"
	"catena/storage/fault"
)

// dropUnfinished takes changes out of Badger's manifest that Badger has given up. When it cannot sync the manifest, it
// removes the tables that the change was to add, although the change may be on disk by then; it would find them missing at
// every later open. A change is taken out only if the store saw that it had been given up, or one before it (see
// noteMissing): otherwise the manifest may be that of another copy of the store. It must be younger than the last
// checkpoint, all tables that it adds must be gone and all that it replaces still be there: what it added came from
// memtables, whose rows the redo log has, or from those.
func (s *store) dropUnfinished() error {
	first := s.state.Unfinished
	if first == 0 {
		return nil
	}
	s.state.Unfinished = 0
	missing, err := s.missingTables()
	if err != nil {
		return err
	}
	maps.DeleteFunc(missing, func(path string, _ bool) bool { return tableNumber(path) < first })
	if len(missing) == 0 {
		return nil
	}
	path := filepath.Join(s.tables(), badger.ManifestFilename)
	b, err := disk.ReadFile(s.fs, path)
	if err != nil {
		return fault.Unavailable.Errorf("store: %w", err)
	}
	known := s.state.Manifest
	if int64(len(b)) < known.Size || hexSum(b[:known.Size]) != known.Sum {
		return nil // it was rewritten since
	}
	kept, dropped := bytes.Clone(b[:known.Size]), 0
	for at, end := int(known.Size), wholeManifest(b); at < end; {
		n := 8 + int(binary.BigEndian.Uint32(b[at:]))
		set := b[at : at+n]
		at += n
		unfinished, err := s.unfinished(set[8:], missing)
		switch {
		case err != nil:
			return err
		case unfinished:
			dropped++
		default:
			kept = append(kept, set...)
		}
	}
	if dropped == 0 {
		return nil
	}
	s.log.Warn("changes of tables that were not completed were discarded", "changes", dropped)
	return broken(replace(s.fs, path, kept))
}

// describeTables describes the manifest for a checkpoint, which must not name tables that are not there. If it does, that is
// noted for dropUnfinished at the next open, and the checkpoint fails.
func (s *store) describeTables() (manifest, error) {
	for tries := 1; ; tries++ {
		m, err := describe(s.fs, s.tables())
		if err != nil {
			return m, err
		}
		missing, err := s.missingTables()
		switch {
		case err != nil:
			return m, err
		case len(missing) == 0:
			return m, nil
		case tries == openTries: // Badger removes a table once the manifest does not name it any longer
			return m, errors.Join(corrupt("%s names %d tables that are missing", badger.ManifestFilename, len(missing)), s.noteUnfinished(missing))
		}
	}
}

// noteMissing notes, for dropUnfinished, the tables of a change that Badger has given up.
func (s *store) noteMissing() error {
	s.pause.Lock()
	defer s.pause.Unlock()
	missing, err := s.missingTables()
	if err != nil || len(missing) == 0 {
		return err
	}
	return s.noteUnfinished(missing)
}

// noteUnfinished writes the number of the first missing table down, beside what the last checkpoint knew. Those that
// Badger gives up until the next open have higher numbers.
func (s *store) noteUnfinished(missing map[string]bool) error {
	known, err := readState(s.fs, s.dir)
	if err != nil || known == nil || known.Unfinished > 0 {
		return err
	}
	known.Unfinished = math.MaxUint64
	for path := range missing {
		known.Unfinished = min(known.Unfinished, tableNumber(path))
	}
	return known.write(s.fs, s.dir)
}

// tableNumber is that in the name of a table.
func tableNumber(path string) uint64 {
	number, _ := table.ParseFileID(filepath.Base(path))
	return number
}

// missingTables returns the tables that the manifest names and that are not there, by their paths.
func (s *store) missingTables() (missing map[string]bool, err error) {
	paths, err := listTables(s.tables())
	if err != nil {
		return nil, err
	}
	missing = map[string]bool{}
	for _, path := range paths {
		switch _, err := s.fs.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			missing[path] = true
		case err != nil:
			return nil, fault.Unavailable.Errorf("store: %w", err)
		}
	}
	return missing, nil
}

// unfinished reports whether a set of changes adds tables, all of them known to be missing, and replaces none that is gone.
func (s *store) unfinished(set []byte, missing map[string]bool) (bool, error) {
	var changes pb.ManifestChangeSet
	if err := proto.Unmarshal(set, &changes); err != nil {
		return false, corrupt("%s: %v", badger.ManifestFilename, err)
	}
	adds := false
	for _, c := range changes.GetChanges() {
		path := table.NewFilename(c.GetId(), s.tables())
		if c.GetOp() == pb.ManifestChange_CREATE {
			if !missing[path] {
				return false, nil
			}
			adds = true
			continue
		}
		switch _, err := s.fs.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fault.Unavailable.Errorf("store: %w", err)
		}
	}
	return adds, nil
}

// replace gives a file another content, as a whole.
func replace(files disk.FS, path string, content []byte) error {
	f, err := files.OpenFile(path+tempSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = files.Rename(path+tempSuffix, path)
	}
	if err == nil {
		err = files.SyncDir(filepath.Dir(path))
	}
	return err
}
