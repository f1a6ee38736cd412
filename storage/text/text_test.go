package text

import (
	"slices"
	"strings"
	"testing"
)

func TestHas(t *testing.T) {
	for _, c := range []struct {
		language, text, phrase string
		prefix, want           bool
	}{
		{"", "The runners were running", "run", false, true},
		{"", "The runners were running", "Running", false, true},
		{"", "The runners were running", "were run", false, true},
		{"", "The runners were running", "run were", false, false},
		{"", "The runners were running", "runn", true, true},
		{"", "The runners were running", "runn", false, false},
		{"", "The runners were running", "the runn", true, true},
		{"fr_FR", "Les chevaux de l'école", "cheval", false, true},
		{"fr", "Les chevaux de l'école", "ecole", false, true},
		{"German", "Die Häuser der Straße", "haus", false, true},
		{"de", "Die Häuser der Straße", "strasse", false, true},
		{"", "naïve café", "CAFE", false, true},
		{"", "東京タワー", "京タ", false, true},
		{"", "東京タワー", "京東", false, false},
		{"", "a@b.example, 42", "b example 42", false, true},
		{"", "TrashedFile1", "TrashedFile", false, true},
		{"", "TrashedFile1", "trashedfile1", false, true},
		{"", "TrashedFile1", "trashedfi", true, true},
		{"", "TrashedFile1", "trashedfile", false, false},
		{"", "TrashedFile1", "file trashed", false, false},
		{"", "my TrashedFile1 is", "my trashed files 1 is", false, true},
		{"", "my TrashedFile1 is", "my TRASHEDFILE1 is", false, true},
		{"", "trashed files", "TrashedFile", false, true},
		{"", "an iphone", "iPhone", false, true},
		{"", "an iphone", "iPho", true, true},
		{"", "an iPhone15", "iPhone 15", false, true},
		{"", "the mp3 player", "MP3", false, true},
		{"", "the mp3 player", "mp 3", false, true},
		{"", "the mp 3 player", "mp3", false, false},
		{"", "PDFs and UPPER", "upper", false, true},
		{"", "e29b41d4a716", "e29b41", true, true},
		{"", "e29b41d4a716", "29", false, false},
		{"", "naïveÉcole", "école", false, true},
		{"", "words", "", false, false},
		{"", "", "x", true, false},
	} {
		analysed := Analyse(c.language, c.text)
		kept, ok := FromRow(analysed.Row())
		for _, text := range []*Text{analysed, kept} {
			if got := ok && text.Has(c.phrase, c.prefix); got != c.want {
				t.Errorf("%q in %q (%s, %v): got %v", c.phrase, c.text, c.language, c.prefix, got)
			}
		}
	}
}

// A word is found by its terms in whatever language the text is.
func TestTermsAndStemsMeet(t *testing.T) {
	for language, s := range map[string]string{"en": "running", "fr": "chevaux", "de": "häuser", "": "naïve"} {
		terms := Analyse(language, s).Terms()
		found := slices.ContainsFunc(Stems(s, false)[0], func(term string) bool { return slices.Contains(terms, term) })
		if !found {
			t.Errorf("%s: none of %v among %v", language, Stems(s, false)[0], terms)
		}
	}
	if got := Analyse("en", "Running runs run").Terms(); !slices.Equal(got, []string{"=:running", "=:runs", "en:run"}) {
		t.Errorf("got %v", got)
	}
}

// TestPhraseOfLanguages: the same phrase is another one in another language, whichever was asked for first.
func TestPhraseOfLanguages(t *testing.T) {
	english, french := Analyse("en", "a cheval glass"), Analyse("fr", "un cheval")
	for range 2 {
		if english.Has("chevaux", false) {
			t.Error("English has no plural chevaux")
		}
		if !french.Has("chevaux", false) {
			t.Error("a horse is not found by horses, in French")
		}
	}
}

// TestCompoundsAreSought: what has the word that is looked for is found by one of the terms that stand for it.
func TestCompoundsAreSought(t *testing.T) {
	texts := []string{"TrashedFile1", "trashed file", "trashedfile1", "iphone", "an iPhone15", "mp3", "mp 3", "MyMP3Player and others", "e29b41d4a716"}
	for _, s := range texts {
		words := Analyse("en", s)
		terms := words.Terms()
		for _, phrase := range []string{"TrashedFile", "TrashedFile1", "trashedfile1", "iPhone", "iPho", "iPhone15", "mp3", "MP3Play", "e29b4", "e29b41d4a716"} {
			for _, prefix := range []bool{false, true} {
				if !words.Has(phrase, prefix) {
					continue
				}
				for i, list := range Stems(phrase, prefix) {
					if prefix {
						list = append(list, Bare+Words(phrase)[i])
					}
					if !slices.ContainsFunc(list, func(sought string) bool {
						return slices.ContainsFunc(terms, func(term string) bool { return term == sought || prefix && strings.HasPrefix(term, sought) })
					}) {
						t.Errorf("%q (%v) in %q: none of %v is among %v", phrase, prefix, s, list, terms)
					}
				}
			}
		}
	}
	if got := Analyse("en", "MyMP3Player runs").Stems(); !slices.Equal(got, []string{"mymp3play", "run"}) {
		t.Errorf("stems: %v", got)
	}
	if got := Segments("see TrashedFile1 now", Find("en", "see TrashedFile1 now", []Phrase{{Words: "file"}, {Words: "trashedfile1"}, {Words: "now"}})); !slices.Equal(got, []string{"see <em>TrashedFile1</em> <em>now</em>"}) {
		t.Errorf("marks: %q", got)
	}
}

func TestBounds(t *testing.T) {
	long := Analyse("", strings.Repeat("é", 1000))
	if len(long.words) != 1 || len(long.forms[0].word) > MaxWord {
		t.Errorf("got %d words, the first of %d bytes", len(long.words), len(long.forms[0].word))
	}
	if many := Analyse("", strings.Repeat("a ", 2*MaxWords)); len(many.words) != MaxWords {
		t.Errorf("got %d words", len(many.words))
	}
}

func FuzzAnalyse(f *testing.F) {
	f.Add("fr", "Les chevaux de l'école 東京", "cheval")
	f.Add("xx", "\xff\x00é́", "\xff")
	f.Fuzz(func(t *testing.T, language, s, phrase string) {
		a := Analyse(language, s)
		if len(a.words) > 0 && int(slices.Max(a.words)) >= len(a.forms) {
			t.Fatal("a form is missing")
		}
		a.Has(phrase, true)
		for _, term := range a.Terms() {
			if len(term) > 8*MaxWord {
				t.Errorf("term of %d bytes", len(term))
			}
		}
		if w := Words(s); len(w) > 0 && !a.Has(w[0], true) {
			t.Errorf("first word %q not found", w[0])
		}
	})
}

func BenchmarkAnalyse(b *testing.B) {
	s := strings.Repeat("The quick brown foxes were jumping over the lazy dogs. ", 20)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Analyse("en", s)
	}
}

// BenchmarkHas asks texts for a phrase, as a search does.
func BenchmarkHas(b *testing.B) {
	text := Analyse("en", strings.Repeat("The quick brown foxes were jumping over the lazy dogs. ", 20))
	b.ReportAllocs()
	for b.Loop() {
		text.Has("jumping dogs", false)
	}
}
