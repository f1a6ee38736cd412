package blob

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"syscall"

	"catena/storage/fault"
)

// Damage says what is wrong with content that the store should have. Errors that wrap it are Internal, with
// CodeContentDamaged. Which documents have the content is for storage to add.
type Damage struct {
	Digest string
	What   string // completes "content "
}

// Error returns the digest and what is wrong.
func (d *Damage) Error() string { return "blob " + d.Digest + ": content " + d.What }

// err returns the damage as an error for callers.
func (d *Damage) err() error {
	return fault.Internal.Errorf("%w", d).WithCode(fault.CodeContentDamaged)
}

// DamageIn returns the damage that caused an error, nil if something else did.
func DamageIn(err error) *Damage {
	var d *Damage
	errors.As(err, &d)
	return d
}

// findings is the damaged content that a store knows of.
type findings struct {
	mu    sync.Mutex
	all   map[string]*Damage
	found chan struct{} // has an element once there are new ones
}

// Found returns a channel that receives after further damage was found.
func (s *Store) Found() <-chan struct{} { return s.findings.found }

// Damaged returns the damaged content that is known, by digest.
func (s *Store) Damaged() map[string]*Damage {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	return maps.Clone(s.findings.all)
}

// Note adds damage that was found earlier, by another process perhaps.
func (s *Store) Note(d *Damage) {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	if s.findings.all == nil {
		s.findings.all = map[string]*Damage{}
	}
	s.findings.all[d.Digest] = d
}

// Forget drops what is known of damage, because the content is whole again or nobody needs it.
func (s *Store) Forget(digest string) {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	delete(s.findings.all, digest)
}

func (s *Store) isDamaged(digest string) bool {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	return s.findings.all[digest] != nil
}

// damaged notes damage that was just found, logs it the first time, and returns the error that says so.
func (s *Store) damaged(digest, format string, args ...any) error {
	d := &Damage{digest, fmt.Sprintf(format, args...)}
	if !s.isDamaged(digest) {
		s.Note(d)
		s.log.Error("content is damaged", slog.String("digest", digest), slog.String("problem", d.What))
		select {
		case s.findings.found <- struct{}{}:
		default:
		}
	}
	return d.err()
}

func (s *Store) missing(digest string) error { return s.damaged(digest, "is missing") }

// unreadable is the error of reading content: a sector that the disk cannot read is damage as well.
func (s *Store) unreadable(digest string, err error) error {
	var known *fault.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.EIO):
		return s.damaged(digest, "cannot be read: %v", err)
	}
	return fault.Unavailable.Errorf("blob %s: %w", digest, err)
}
