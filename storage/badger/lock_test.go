//go:build unix

package badger

import (
	"strings"
	"testing"
	"time"
)

// TestLockLeft: a store that a process has open is refused to others, but not for what that process has left for a moment.
func TestLockLeft(t *testing.T) {
	dir := t.TempDir()
	held, err := acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a store in use: %v", err)
	}
	time.AfterFunc(leaving/10, func() { _ = held.Close() })
	next, err := acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if inUse, err := InUse(dir); err != nil || !inUse {
		t.Errorf("in use: %t, %v", inUse, err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
}
