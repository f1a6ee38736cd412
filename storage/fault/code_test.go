package fault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestCodes reads the table: each row is whole, its name stands once and is that of no kind.
func TestCodes(t *testing.T) {
	seen := map[string]bool{"": true}
	for k := range fault.Kinds() {
		seen[k.String()] = true
	}
	for c := range fault.Codes() {
		name := c.String()
		if seen[name] || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || fault.CodeNamed(name) != c {
			t.Errorf("code %d: name %q is missing, a duplicate or not lower-case words joined by underscores", c, name)
		}
		if fault.CodeNamed(strings.ReplaceAll(name, "_", "-")) != c {
			t.Errorf("code %s: is not found in its earlier spelling", name)
		}
		seen[name] = true
		if kinds := c.Kinds(); len(kinds) == 0 || !slices.IsSorted(kinds) || len(slices.Compact(kinds)) != len(c.Kinds()) {
			t.Errorf("code %s: kinds %v", name, kinds)
		}
		for _, sentence := range []string{c.When(), c.Remedy()} {
			if len(sentence) < 10 || !strings.HasSuffix(sentence, ".") {
				t.Errorf("code %s: %q is not a sentence", name, sentence)
			}
		}
	}
	if len(seen) < 100 || fault.CodeNamed("") != 0 || fault.CodeNamed("nope") != 0 || fault.Code(0).String() != "" {
		t.Errorf("%d names", len(seen))
	}
}

func TestWord(t *testing.T) {
	for _, c := range []struct {
		err  error
		code fault.Code
		word string
	}{
		{fault.Denied.Errorf("a").WithCode(fault.CodeLocked), fault.CodeLocked, "locked"},
		{fmt.Errorf("b: %w", fault.Denied.Errorf("a").WithCode(fault.CodeLocked)), fault.CodeLocked, "locked"},
		{fault.Denied.Errorf("a"), 0, "denied"},
		{errors.New("a"), 0, "internal"},
	} {
		if code, word := fault.CodeOf(c.err), fault.Word(c.err); code != c.code || word != c.word {
			t.Errorf("%v: %q %s, want %q %s", c.err, code, word, c.code, c.word)
		}
	}
}
