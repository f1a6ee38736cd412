package badger

import (
	"os"
	"path/filepath"
	"time"

	"catena/storage/fault"
)

// mappedRoom is how much room a disk must have before Badger may write. It maps new files into memory without
// allocating their blocks, and writing to such a file on a full disk ends the process: a memtable and the table it
// becomes, those that are made meanwhile, and its other files.
const mappedRoom = 64 << 20

// roomWait is the pause between two looks at a full disk.
const roomWait = 100 * time.Millisecond

// roomToOpen refuses to open a store whose disk has too little room. Some file systems promise more than they have,
// so the room is allocated for a moment.
func (s *store) roomToOpen() error {
	if err := s.hasRoom(); err != nil {
		return err
	}
	name := filepath.Join(s.dir, "ROOM"+tempSuffix)
	f, err := s.fs.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fault.Unavailable.Errorf("store: %w", err)
	}
	err = f.Reserve(mappedRoom)
	_ = f.Close()
	if e := s.fs.Remove(name); err == nil {
		err = e
	}
	if err != nil {
		return fault.Unavailable.Errorf("store %s: %d MiB of free disk space required: %w", s.dir, mappedRoom>>20, err)
	}
	return nil
}

// hasRoom returns why Badger may not write, or nil.
func (s *store) hasRoom() error {
	space, err := s.fs.Space(s.dir)
	if err != nil || space.Free >= mappedRoom {
		return nil //nolint:nilerr // where it is not known, nothing can be said
	}
	return fault.Unavailable.Errorf("store %s: %d MiB of disk space free, %d MiB required", s.dir, space.Free>>20, mappedRoom>>20).WithCode(fault.CodeDiskFull)
}

// awaitRoom waits until Badger may write. Once the store closes it does not wait: the log has what is not applied.
func (s *store) awaitRoom() error {
	for {
		err := s.hasRoom()
		if err == nil || s.pending.ending() {
			return err
		}
		s.sampleSpace()
		time.Sleep(roomWait)
	}
}
