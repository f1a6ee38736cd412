package storage

import (
	"testing"

	"catena/storage/internal/layout"
)

// TestNumbers holds that names keep apart in keys, and that one without a number has no key.
func TestNumbers(t *testing.T) {
	n := layout.NewDictionary([]string{"dc:title", "dc:source"})
	if a, b := n.AppendKey(nil, "dc:title"), n.AppendKey(nil, "dc:source"); string(a) != "\x80\x01" || string(b) != "\x80\x02" {
		t.Errorf("keys %x and %x", a, b)
	}
	defer func() {
		if p := recover(); p != `storage: no number for "dc:nope"` {
			t.Errorf("a name without a number: %v", p)
		}
	}()
	t.Errorf("a name without a number has the key %x", n.AppendKey(nil, "dc:nope"))
}
