package listing

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPhrase has what becomes of the words that somebody looks for: nothing of the query's syntax stays.
func TestPhrase(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		" \t\r\n":                 "",
		`"*'+-(){}[]:;,?!~^&|\/%`: "",
		"one":                     "one*",
		" one  two\tthree ":       "one two three*",
		`"one two"`:               "one two*",
		"one-two":                 "one two*",
		"-one +two":               "one two*",
		"field:one~2^3":           "field one 2 3*",
		"50%":                     "50*",
		"c#":                      "c#*",
		"Ünder":                   "Ünder*",
		"1 2 3 4 5 6 7 8 9 10 11": "1 2 3 4 5 6 7 8 9 10*",
	} {
		if got := phrase(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestBinnedOrder: the keys of decks in the trash sort by when they came there, then by number.
func TestBinnedOrder(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	keys := []string{
		binned("f", time.UnixMilli(0), 9), binned("f", time.UnixMilli(999), 1), binned("f", day, 2), binned("f", day, 10),
		binned("f", day.Add(999*time.Microsecond), 11), binned("f", day.Add(time.Millisecond), 1), binned("f", day.AddDate(900, 0, 0), 1), binned("g", day, 1),
	}
	if !slices.IsSorted(keys) {
		t.Errorf("out of order: %q", keys)
	}
	for _, k := range keys[:7] {
		if k <= "f/" || k >= "f0" {
			t.Errorf("%s is not among the keys of its folder", k)
		}
	}
	if a, b := binned("f", day, 1), binned("f", day.In(time.FixedZone("", 3600)), 1); a != b {
		t.Errorf("another zone: %s and %s", a, b)
	}
}

// TestListNames: the lists of one folder keep their blocks apart, and no list reads another's.
func TestListNames(t *testing.T) {
	lists := []List{{byListing, "f"}, {byBinned, "f"}, {byListing, "g"}, {byBinned, "g"}, {ByTeam, "team-1"}, {ByTeam, "team-10"}}
	for i, a := range lists {
		for j, b := range lists {
			key := b.name() + "/x"
			if inside := key >= a.name()+"/" && key < a.name()+"0"; inside != (i == j) {
				t.Errorf("key %s is in list %s: %t", key, a.name(), inside)
			}
		}
		c := counts{Active: 3, Trashed: 5}
		want := int64(3)
		if a.By == byBinned {
			want = 5
		}
		if got := a.of(c); got != want {
			t.Errorf("%v counts %d, want %d", a, got, want)
		}
	}
}

// TestOften: one deck in so many has blocks made, which its number says.
func TestOften(t *testing.T) {
	for key, want := range map[string]bool{
		"0000000000000000064": true, "0000000000000000128": true, "0000000000000000063": false, "0000000000000000065": false,
		"000001767323045000/0000000000000000064": true, "000000000000064/0000000000000000001": false, "x": false, "": false, "64/": false,
	} {
		if got := often(key); got != want {
			t.Errorf("%q: %t", key, got)
		}
	}
	n := 0
	for i := range 10 * SealEvery {
		if often(strings.Repeat("0", 10) + string(rune('0'+i/1000%10)) + string(rune('0'+i/100%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))) {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d decks of %d", n, 10*SealEvery)
	}
}
