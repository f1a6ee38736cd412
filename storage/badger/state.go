package badger

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"catena/storage/badger/values"
	"catena/storage/disk"
	"catena/storage/fault"
)

// stateName is the file that says what must be found beside it.
const stateName = "STATE"

// stateFormat changes with what the files hold, with the size of memtables too: Badger
// does not open a larger one after a crash.
const (
	stateFormat = 4
	oldFormat   = 3 // without epochs in the folders
)

// state is what the last checkpoint knew.
type state struct {
	Format     int           `json:"format"`
	ID         string        `json:"id"`         // of the store, in hex
	Epoch      uint64        `json:"epoch"`      // counts openings and closings
	Marked     uint64        `json:"marked"`     // the epoch that folders carry which do not carry Epoch yet
	Live       bool          `json:"live"`       // the store has been open: its files must be there
	Clean      bool          `json:"clean"`      // it was closed in order: the log holds nothing
	Relaxed    bool          `json:"relaxed"`    // commits may have been acknowledged unsynced
	Checkpoint uint64        `json:"checkpoint"` // versions up to this are in synced tables
	Segment    uint64        `json:"segment"`    // number of the last log segment dropped
	Chain      string        `json:"chain"`      // of the log when it was closed in order, in hex
	Manifest   manifest      `json:"manifest"`
	Values     []values.File `json:"values,omitempty"`
	Dropped    *Dropped      `json:"dropped,omitempty"` // by the last opening that left something out of the log
	// Unfinished is the number of the first table of a change that Badger gave up although its manifest names it, or zero.
	Unfinished uint64 `json:"unfinishedFrom,omitempty"`
}

// manifest describes the beginning of Badger's list of tables, which is appended to
// and now and then rewritten.
type manifest struct {
	Size int64  `json:"size"`
	Sum  string `json:"sum"`  // SHA-256 of that many bytes
	Head string `json:"head"` // SHA-256 of the first of them, which a rewrite changes
}

// readState returns nil if there is no file.
func readState(files disk.FS, dir string) (*state, error) {
	b, err := disk.ReadFile(files, filepath.Join(dir, stateName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Unavailable.Errorf("store %s: %w", dir, err)
	}
	line, sum, _ := bytes.Cut(b, []byte("\n"))
	s := new(state)
	if string(sum) != checkLine(line) || json.Unmarshal(line, s) != nil {
		return nil, corrupt("store %s: %s is damaged", dir, stateName)
	}
	if s.Format != stateFormat && s.Format != oldFormat {
		return nil, fault.Unavailable.Errorf("store %s: has format %d, not %d: back it up with the version that wrote it, and restore the backup with this one", dir, s.Format, stateFormat)
	}
	return s, nil
}

// write replaces the file.
func (s *state) write(files disk.FS, dir string) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replace(files, filepath.Join(dir, stateName), []byte(string(line)+"\n"+checkLine(line)))
}

func checkLine(line []byte) string { return fmt.Sprintf("%08x\n", crc32.Checksum(line, castagnoli)) }

func (s *state) id() (out id) {
	_, _ = hex.Decode(out[:], []byte(s.ID))
	return out
}

func (s *state) chain() (out chain) {
	_, _ = hex.Decode(out[:], []byte(s.Chain))
	return out
}
