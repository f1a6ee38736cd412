package text

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzRow: a row has what was analysed, and a damaged one is read without harm.
func FuzzRow(f *testing.F) {
	for _, s := range []string{"", "The runners were running", "my TrashedFile1 is an iPhone15", "東京タワー", "a:b = c\x00d", strings.Repeat("word7 Other ", 100)} {
		f.Add("en", s)
		f.Add("fr", Analyse("fr", s).Row())
	}
	f.Fuzz(func(t *testing.T, language, s string) {
		text := Analyse(language, s)
		row := text.Row()
		if got := RowTerms(row); !slices.Equal(got, text.Terms()) {
			t.Fatalf("terms %q, want %q", got, text.Terms())
		}
		kept, ok := FromRow(row)
		short := len(text.words) < 1000
		if len(text.words) > 0 && (short || ok) && (!ok || !reflect.DeepEqual(kept, text)) {
			t.Fatalf("%+v, want %+v", kept, text)
		}
		_, _ = FromRow(s)
		_, _ = FromRow(wordsMark + s)
	})
}

// TestRowWithoutWords: a text with too many terms or words has its terms alone, as rows of earlier versions have.
func TestRowWithoutWords(t *testing.T) {
	var b strings.Builder
	for n := range MaxTerms + 1 {
		b.WriteString(strings.Map(func(r rune) rune { return 'a' + r - '0' }, strconv.Itoa(n)) + " ")
	}
	text := Analyse("", b.String())
	row := text.Row()
	if kept, ok := FromRow(row); ok {
		t.Errorf("%+v", kept)
	}
	if got := RowTerms(row); len(got) != MaxTerms || !slices.Equal(got, text.Terms()) {
		t.Errorf("%d terms", len(got))
	}
	if row := Analyse("", strings.Repeat("the cat sat on the mat ", maxLine/6+1)).Row(); strings.HasPrefix(row, wordsMark) {
		t.Errorf("a line of %d bytes", strings.Index(row, "\n"))
	}
	if size, least := len(Analyse("", strings.Repeat("the cat sat on the mat ", 1000)).Row()), 6000; size > least+100 {
		t.Errorf("6,000 words take %d bytes", size)
	}
}
