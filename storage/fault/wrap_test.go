package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestKindTable: names are unique words, meanings are sentences, and a kind beyond the table reads as internal.
func TestKindTable(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kinds() {
		if name := k.String(); seen[name] || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" || !strings.HasSuffix(k.Meaning(), ".") {
			t.Errorf("kind %d: %q, %q", k, name, k.Meaning())
		}
		if seen[k.String()] = true; k.Passes() != (k == Conflict || k == Unavailable) {
			t.Errorf("%s: passes %t", k, k.Passes())
		}
	}
	if len(seen) != 8 || Kind(len(seen)).String() != "internal" || Kind(255).String() != "internal" {
		t.Errorf("%d kinds, beyond them %s", len(seen), Kind(255))
	}
	n := 0
	for range Kinds() {
		if n++; n == 3 {
			break // the sequence must end where its reader does
		}
	}
}

// TestWrapKeeps: whatever stands around an error, its kind, code, field, position and wait remain, and the cause is found.
func TestWrapKeeps(t *testing.T) {
	first := Limit.Errorf("too long").In("name").At(3, 7).WithCode(CodeSource).After(2 * time.Second)
	for _, c := range []struct {
		err     error
		message string
	}{
		{Wrap(first, "step %d", 1), "step 1: too long"},
		{Wrap(Wrap(first, "b"), "a"), "a: b: too long"},
		{Wrap(fmt.Errorf("c: %w", first), "a"), "a: c: too long"},
		{Wrap(errors.Join(first, io.EOF), "a"), "a: too long\nEOF"},
		{Wrap(errors.Join(io.EOF, first), "100%%"), "100%: EOF\ntoo long"},
	} {
		var e *Error
		if !errors.As(c.err, &e) || e.Kind != Limit || e.Code != CodeSource || e.Field != "name" || e.Line != 3 || e.Column != 7 || e.Wait != 2*time.Second {
			t.Errorf("%v: %+v", c.err, e)
		}
		if c.err.Error() != c.message || !errors.Is(c.err, first) {
			t.Errorf("got %q, want %q; cause %t", c.err, c.message, errors.Is(c.err, first))
		}
	}
	if first.Message != "too long" {
		t.Errorf("wrapping changed the error: %q", first.Message)
	}
	for err, want := range map[error]Kind{io.EOF: Internal, context.DeadlineExceeded: Unavailable, context.Canceled: Unavailable} {
		e := Wrap(err, "a")
		if e.Kind != want || e.Code != 0 || e.Field != "" || e.Line != 0 || !errors.Is(e, err) {
			t.Errorf("%v: %+v", err, e)
		}
	}
}

// TestErrorfKeepsCause: an error has the cause that %w names, and not its kind or code: those are said anew.
func TestErrorfKeepsCause(t *testing.T) {
	cause := Denied.Errorf("no").In("f").WithCode(CodeLocked)
	for _, c := range []struct {
		err  *Error
		is   bool
		text string
	}{
		{Invalid.Errorf("x: %w", cause), true, "x: no"},
		{Invalid.Errorf("x: %v", cause), false, "x: no"},
		{Invalid.Errorf("x"), false, "x"},
		{Invalid.New("50 % of it: %s"), false, "50 % of it: %s"},
	} {
		if errors.Is(c.err, cause) != c.is || c.err.Error() != c.text || Of(c.err) != Invalid || c.err.Code != 0 || c.err.Field != "" {
			t.Errorf("%+v, want %q, %t", c.err, c.text, c.is)
		}
	}
	if Is(nil, Internal) || !Is(io.EOF, Internal) || Is(cause, Internal) || !Is(cause, Denied) {
		t.Error("Is reads kinds wrongly")
	}
}

// TestShown: what went wrong inside the server stays there, except for damaged content.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{io.EOF, false},
		{Internal.Errorf("row 7"), false},
		{Internal.Errorf("content").WithCode(CodeContentDamaged), true},
		{Wrap(Internal.Errorf("content").WithCode(CodeContentDamaged), "a"), true},
		{Internal.Errorf("disk").WithCode(CodeDiskFull), false},
		{NotFound.Errorf("a"), true},
		{context.Canceled, true},
	} {
		if got := Shown(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// TestShortenedAtRunes: texts are cut between characters, whatever they consist of, and never become longer than the bound.
func TestShortenedAtRunes(t *testing.T) {
	for _, r := range []string{"a", "é", "€", "😀", "a€", "aé😀"} {
		for limit := range 12 {
			text := strings.Repeat(r, 12)
			got := shortened(text, limit)
			cut, ok := strings.CutSuffix(got, "…")
			if !ok || !utf8.ValidString(got) || len(cut) > limit || limit-len(cut) >= utf8.UTFMax || !strings.HasPrefix(text, cut) {
				t.Errorf("%q at %d: %q", r, limit, got)
			}
		}
		if got := shortened(r, len(r)); got != r {
			t.Errorf("%q became %q", r, got)
		}
	}
	if got := shortened("\x80\x80\x80\x80", 2); got != "…" {
		t.Errorf("bytes that begin no character: %q", got)
	}
}

// TestQuotedLengths: each length around the bound is kept or shortened, and bytes are read only as far as there are any.
func TestQuotedLengths(t *testing.T) {
	for n := maxQuoted - 2; n <= maxQuoted+6; n++ {
		text := make([]byte, n) // the capacity may be the length
		for i := range text {
			text[i] = 'x'
		}
		text = text[:n:n]
		want := strings.Repeat("x", min(n, maxQuoted))
		if n > maxQuoted {
			want += "…"
		}
		args := []any{text, string(text), 7, "short"}
		got := Invalid.Errorf("%s %s %d %s", args...).Error()
		if got != want+" "+want+" 7 short" {
			t.Errorf("%d bytes: %d bytes, ending with %q", n, len(got), got[max(0, len(got)-30):])
		}
		if b, same := args[0].([]byte); !same || len(b) != n {
			t.Errorf("%d bytes: the arguments of the caller were changed", n)
		}
	}
}

// TestNearestBounds: the further a word is from all candidates, the less is suggested, and short words need to be close.
func TestNearestBounds(t *testing.T) {
	for _, c := range []struct{ word, candidates, want string }{
		{"abcdefgh", "abcdefxy", "abcdefxy"},
		{"abcdefgh", "abcdexyz", ""},
		{"ab", "ax", "ax"},
		{"ab", "xy", ""},
		{"a", "b", ""},
		{"a", "A", "A"},
		{"fiel", "file", "file"},
		{"title", "tilte titel", "tilte"},
		{"name", "mane game nome", "game"},
		{"name", "named NAME", "NAME"},
		{"", "a", ""},
		{"x", "", ""},
	} {
		if got := Nearest(c.word, slices.Values(strings.Fields(c.candidates))); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.word, c.candidates, got, c.want)
		}
	}
	if got := PerhapsIn("Fn.", "fiel", slices.Values([]string{"file"})); got != ", perhaps Fn.file" {
		t.Errorf("got %q", got)
	}
	for name, want := range map[string]string{"Flie": "type Flie: does not exist, perhaps File", "Zebra": "type Zebra"} {
		if err := Missing("type", name, slices.Values([]string{"File", "Note"})); err.Kind != NotFound || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChangesIsSymmetric compares the count of changes with the words swapped, and with the definition for equal words.
func TestChangesIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "cab", "bca", "abcd", "badc", "xyz"}
	for _, a := range words {
		for _, b := range words {
			n, m := changes(a, b, 9), changes(b, a, 9)
			if n != m || (n == 0) != (a == b) || n > max(len(a), len(b)) || n < max(len(a)-len(b), len(b)-len(a)) {
				t.Errorf("%q and %q: %d and %d", a, b, n, m)
			}
			for bound := range 5 {
				if got := changes(a, b, bound); got != min(n, bound) {
					t.Errorf("%q and %q up to %d: %d of %d", a, b, bound, got, n)
				}
			}
		}
	}
}
