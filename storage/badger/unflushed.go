package badger

import (
	"time"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/fault"
)

// flushMessage begins what Badger logs when it could not write a memtable to a table, which it then tries once a second
// without end. It takes nothing more once its memtables are full, and those who give it something wait.
const flushMessage = "error flushing memtable"

// A disk with room may have had none when a table was written, but a quota does not pass: the store gives up after some
// tries that are not further apart than flushPause.
const (
	flushTries = 3
	flushPause = 10 * time.Second
)

// unflushed is what is known of memtables that Badger could not write.
type unflushed struct {
	tries int           // for want of room while the disk has some, in a row; for Badger's one flusher only
	last  time.Time     // the last of them
	given chan struct{} // closed when the store gives up
}

// gaveUp reports whether the store gave up on Badger's memtables.
func (u *unflushed) gaveUp() bool {
	select {
	case <-u.given:
		return true
	default:
		return false
	}
}

// flushFailed refuses writes from now on, as after any write or sync that failed. On a full disk, which passes, they are
// refused without it.
func (s *store) flushFailed(err error) {
	if err := s.noteMissing(); err != nil {
		s.log.Error("tables that were not completed could not be noted", "err", err)
	}
	u := &s.unflushed
	if u.gaveUp() {
		return
	}
	failed := fault.Unavailable.Errorf("store: memtables cannot be written to tables: %w", err)
	if fault.CodeOf(failed) == fault.CodeDiskFull {
		if s.hasRoom() != nil {
			return
		}
		if time.Since(u.last) > flushPause {
			u.tries = 0
		}
		u.last = time.Now()
		if u.tries++; u.tries < flushTries {
			return
		}
	}
	s.fail(failed, false)
	close(u.given)
}

// closeTables closes Badger. That takes as long as its memtables cannot be written, for which nobody waits.
func (s *store) closeTables(db *badger.DB) error {
	s.closing = make(chan struct{})
	var err error
	go func() {
		defer close(s.closing)
		err = db.Close()
	}()
	select {
	case <-s.closing:
		return broken(err)
	case <-s.unflushed.given:
		return s.failed.Load().err
	}
}

// unlock lets others open the store once Badger is closed, which may take until the process ends.
func (s *store) unlock() {
	if !s.unflushed.gaveUp() || s.closing == nil {
		_ = s.lock.Close()
		return
	}
	go func() {
		<-s.closing
		_ = s.lock.Close()
	}()
}
