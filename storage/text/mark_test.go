package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMark(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor ", 30)
	for _, c := range []struct {
		language, text string
		phrases        []Phrase
		want           []string
	}{
		{"", "The horses run", []Phrase{{"horse", false}}, []string{"The <em>horses</em> run"}},
		{"", "The horses run", []Phrase{{"runs", false}, {"the horse", false}}, []string{"<em>The horses</em> <em>run</em>"}},
		{"", "The horses run", []Phrase{{"ho", true}}, []string{"The <em>horses</em> run"}},
		{"", "The horses run", []Phrase{{"ho", false}, {"", false}, {"", true}}, nil},
		{"fr", "Des chevaux & <ânes>", []Phrase{{"cheval", false}, {"ane", false}}, []string{"Des <em>chevaux</em> &amp; &lt;<em>ânes</em>&gt;"}},
		{"", "東京タワー", []Phrase{{"京タ", false}}, []string{"東<em>京タ</em>ワー"}},
		{"", "a a a", []Phrase{{"a a", false}}, []string{"<em>a a a</em>"}},
		{
			"", filler + "one horse and " + filler + "two horses",
			[]Phrase{{"horse", false}},
			[]string{
				"ipsum dolor lorem ipsum dolor one <em>horse</em> and lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor lorem ipsum dolor",
				"ipsum dolor lorem ipsum dolor two <em>horses</em>",
			},
		},
		{"", strings.Repeat(filler+"horse ", 9), []Phrase{{"horse", false}}, nil},
	} {
		got := Segments(c.text, Find(c.language, c.text, c.phrases))
		if c.want == nil && len(got) == maxSegments && len(c.text) > 1000 {
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.40q: got %q", c.text, got)
		}
	}
}

func FuzzMark(f *testing.F) {
	f.Add("Les chevaux de l'école 東京", "cheval", true)
	f.Add(strings.Repeat("é\xff ", 200), "é", false)
	f.Fuzz(func(t *testing.T, s, words string, prefix bool) {
		spans := Find("", s, []Phrase{{words, prefix}, {"a", true}})
		end := 0
		for _, m := range spans {
			if m.From < end || m.To <= m.From || m.To > len(s) {
				t.Fatalf("%v of %d bytes", spans, len(s))
			}
			end = m.To
		}
		for _, piece := range Segments(s, spans) {
			plain := strings.NewReplacer("<em>", "", "</em>", "").Replace(piece)
			if strings.ContainsAny(plain, "<>") || utf8.ValidString(s) && !utf8.ValidString(piece) {
				t.Errorf("%q", piece)
			}
		}
	})
}
