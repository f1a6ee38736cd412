package charclass

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

func TestExpand(t *testing.T) {
	cases := []struct {
		source string
		fold   bool
		want   string
	}{
		{"a[b-c]\\d", false, "a[b-c]\\d"},
		{`\p{RI}`, false, `[\u{1f1e6}-\u{1f1ff}]`},
		{`\P{RI}`, false, `[\u{0}-\u{1f1e5}\u{1f200}-\u{10ffff}]`},
		{`[^\p{RI}-]`, false, `[^\u{1f1e6}-\u{1f1ff}\-]`},
		{`[-\p{RI}a-c-e]`, false, `[\-\u{1f1e6}-\u{1f1ff}a-c\-e]`},
		{`[\P{RI}]`, false, `[\u{0}-\u{1f1e5}\u{1f200}-\u{10ffff}]`},
		{`\p{Any}[\P{Any}][^\P{Any}]\P{Any}`, false, `[\u{0}-\u{10ffff}][^\u{0}-\u{10ffff}][\u{0}-\u{10ffff}][^\u{0}-\u{10ffff}]`},
		{`[][^]`, false, `[^\u{0}-\u{10ffff}][\u{0}-\u{10ffff}]`},
		{`\p{Zl}\\p{Zl}\[\p{Zp}`, false, `[\u{2028}]\\p{Zl}\[[\u{2029}]`},
		{`\p{Join_C}\u{70}é`, false, `[\u{200c}-\u{200d}]\u{70}é`},
		{`\p{Hex_Digit}`, true, `[\u{30}-\u{39}\u{41}-\u{46}\u{61}-\u{66}\u{ff10}-\u{ff19}\u{ff21}-\u{ff26}\u{ff41}-\u{ff46}]`},
		{`\p{sc=Ogam}`, true, `[\u{1680}-\u{169c}]`},
		{`\`, false, `\`},
		{`\p{Zl}\`, false, `[\u{2028}]\`},
		{`\p{Zl}[a`, false, `[\u{2028}][a`}, // the runtime says what is wrong
	}
	for _, c := range cases {
		if got, err := Expand(c.source, c.fold); err != nil || got != c.want {
			t.Errorf("%s: got %s %v, want %s", c.source, got, err, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	cases := []struct {
		source, message string
		offset          int
	}{
		{`ab\p`, `\p must be followed by a property in braces, such as \p{L}`, 2},
		{`é\Px`, `\P must be followed by a property in braces, such as \p{L}`, 2},
		{`\p{}`, `\p{}: unknown property ""`, 0},
		{`\p{lu}`, `unknown property "lu", perhaps Lu`, 0},
		{`x\p{Greek}`, `unknown property "Greek"`, 1},
		{`\p{sc=}`, `unknown script ""`, 0},
		{`\p{Bidi_Mirrored}`, `unknown property "Bidi_Mirrored"`, 0},
		{`[a\p{L}-\p{L}]`, "a range of characters cannot begin or end with a property", 2},
		{strings.Repeat(`\p{L}`, 100), "a pattern of more than 524288 bytes", 0},
	}
	for _, c := range cases {
		_, err := Expand(c.source, false)
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(at.Message, c.message) || c.offset > 0 && at.Offset != c.offset {
			t.Errorf("%s: %v", c.source, err)
		}
	}
}

// TestSets compares the operations on sets with those on single characters.
func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() set {
		var s set
		for range r.IntN(20) {
			lo := rune(r.IntN(300))
			s = append(s, span{lo, lo + rune(r.IntN(8))})
		}
		return s.sorted()
	}
	for range 500 {
		a, b := random(), random()
		both, without, not := union(a, b), a.minus(b), a.complement()
		for c := range rune(320) {
			if both.has(c) != (a.has(c) || b.has(c)) || without.has(c) != (a.has(c) && !b.has(c)) || not.has(c) == a.has(c) {
				t.Fatalf("%v %v at %x", a, b, c)
			}
		}
		for i := 1; i < len(both); i++ {
			if both[i].lo <= both[i-1].hi+1 {
				t.Fatalf("%v is not in order", both)
			}
		}
		if !not.has(unicode.MaxRune) || len(not.complement()) != len(a) {
			t.Fatalf("%v", not)
		}
	}
}

// TestFolded holds that a folded set is closed: whatever differs from a member in case only is a member.
func TestFolded(t *testing.T) {
	for _, name := range []string{"Lu", "Lt", "Script=Greek", "Other_Letter", "ASCII"} {
		s, err := characters(name)
		if err != nil {
			t.Fatal(err)
		}
		f := s.folded()
		for c := rune(0); c <= 0x1FFFF; c++ {
			want := s.has(c)
			for o := unicode.SimpleFold(c); o != c; o = unicode.SimpleFold(o) {
				want = want || s.has(o)
			}
			if f.has(c) != want {
				t.Fatalf("%s: %U is %t, want %t", name, c, f.has(c), want)
			}
		}
	}
}

// TestTables holds that every table has the characters of package unicode, in order.
func TestTables(t *testing.T) {
	for name, f := range binary() {
		s := f()
		for i, r := range s {
			if r.lo > r.hi || i > 0 && r.lo <= s[i-1].hi+1 {
				t.Errorf("%s: %v at %d", name, r, i)
			}
		}
		if len(s) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	for code, long := range scriptCodes() {
		if unicode.Scripts[long] == nil {
			t.Errorf("%s: no script %s", code, long)
		}
	}
	for name, table := range unicode.Categories {
		s, _ := category(name)
		for c := rune(0); c <= unicode.MaxRune; c += 7 {
			if s.has(c) != unicode.Is(table, c) {
				t.Fatalf("%s: %U", name, c)
			}
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{`\p{L}`, `[^\P{Lu}a-z-]`, `\`, `[\p`, `[]`, `[^`, `(?<n>\p{sc=Greek})`} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, source string, fold bool) {
		out, err := Expand(source, fold)
		var at *Error
		if err != nil && (!errors.As(err, &at) || at.Offset < 0 || at.Offset > len(source)) {
			t.Fatalf("%v", err)
		}
		if err == nil && !needed(source) && out != source {
			t.Fatalf("%q became %q", source, out)
		}
		if len(out) > MaxLength+64<<10 {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
