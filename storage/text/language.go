package text

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// unknown is the language of texts that do not name one.
const unknown = "en"

var stemmers = map[string]func(string) string{
	"da": by(danish.Stem), "de": by(german.Stem), "en": by(english.Stem), "es": by(spanish.Stem),
	"fi": by(finnish.Stem), "fr": by(french.Stem), "hu": by(hungarian.Stem), "it": by(italian.Stem),
	"nl": by(dutch.Stem), "no": by(norwegian.Stem), "pt": by(portuguese.Stem), "ro": by(romanian.Stem),
	"ru": by(russian.Stem), "sv": by(swedish.Stem), "tr": by(turkish.Stem),
}

// names are further spellings: codes of three letters, other codes, and names in English.
var names = map[string]string{
	"dan": "da", "danish": "da", "deu": "de", "ger": "de", "german": "de", "eng": "en", "english": "en",
	"spa": "es", "spanish": "es", "fin": "fi", "finnish": "fi", "fra": "fr", "fre": "fr", "french": "fr",
	"hun": "hu", "hungarian": "hu", "ita": "it", "italian": "it", "nld": "nl", "dut": "nl", "dutch": "nl",
	"nor": "no", "nob": "no", "nno": "no", "nb": "no", "nn": "no", "norwegian": "no", "por": "pt", "portuguese": "pt",
	"ron": "ro", "rum": "ro", "romanian": "ro", "rus": "ru", "russian": "ru", "swe": "sv", "swedish": "sv",
	"tur": "tr", "turkish": "tr",
}

// Languages are those whose stems are known, by their codes, sorted.
var Languages = slices.Sorted(maps.Keys(stemmers))

// Language finds the code of a language by its tag or its name.
func Language(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, "-_"); i > 0 {
		name = name[:i]
	}
	if code, ok := names[name]; ok {
		return code
	}
	if _, ok := stemmers[name]; ok {
		return name
	}
	return unknown
}

// memoSlots is how many words of a language are remembered with their stems, at most. Most words of a text are few, which
// all texts share, and a stem takes longer to find than to look up.
const memoSlots = 1 << 13

// stemmed is a word with its stem.
type stemmed struct{ word, stem string }

var memoSeed = maphash.MakeSeed()

func by(stem func(*snowballstem.Env) bool) func(string) string {
	var memo atomic.Pointer[[memoSlots]atomic.Pointer[stemmed]]
	return func(word string) string {
		if memo.Load() == nil {
			memo.CompareAndSwap(nil, new([memoSlots]atomic.Pointer[stemmed]))
		}
		at := &memo.Load()[maphash.String(memoSeed, word)%memoSlots]
		if known := at.Load(); known != nil && known.word == word {
			return known.stem
		}
		env := snowballstem.NewEnv(word)
		stem(env)
		found := &stemmed{strings.Clone(word), env.Current()} // the word may be a piece of a long text
		at.Store(found)
		return found.stem
	}
}
