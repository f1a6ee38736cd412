package text

import (
	"maps"
	"slices"
	"strings"
)

// A row lists the terms of a text, one on a line. In front of them is a line with the words in their order, in numbers of these
// terms, if all of them are listed and the line is not too long: so it can be read without an analysis whether words are one behind the
// other.

// wordsMark begins the line of words. It sorts before all terms, as one of which earlier versions take the line.
const wordsMark = "\x00"

// maxLine is how long the line of words is, in bytes. A term is part of a key, and what earlier versions take for one has to be short
// enough for that: Badger's keys have 65,000 bytes.
const maxLine = 32 << 10

// Row returns the text as a row has it; "" if it has no words.
func (t *Text) Row() string {
	terms, all := t.terms()
	list := strings.Join(terms, "\n")
	if !all || len(terms) == 0 {
		return list
	}
	var line numbers
	line.add(len(t.forms))
	for _, f := range t.forms {
		stem, _ := slices.BinarySearch(terms, t.language+":"+f.stem)
		word := stem
		if f.word != f.stem {
			word, _ = slices.BinarySearch(terms, Bare+f.word)
		}
		line.add(word)
		line.add(stem)
	}
	line.add(len(t.words))
	for _, n := range t.words {
		line.add(int(n))
	}
	line.add(len(t.compounds))
	for _, i := range slices.Sorted(maps.Keys(t.compounds)) {
		line.add(i)
		line.add(t.compounds[i].pieces)
		line.add(int(t.compounds[i].form))
	}
	if len(line) > maxLine {
		return list
	}
	return wordsMark + t.language + string(line) + "\n" + list
}

// RowTerms returns the terms in a row.
func RowTerms(row string) []string {
	if strings.HasPrefix(row, wordsMark) {
		_, row, _ = strings.Cut(row, "\n")
	}
	if row == "" {
		return nil
	}
	return strings.Split(row, "\n")
}

// FromRow returns the text of a row, unless the row only has terms.
func FromRow(row string) (t *Text, ok bool) {
	if row == "" {
		return &Text{language: unknown}, true
	}
	line, ok := strings.CutPrefix(row, wordsMark)
	if !ok {
		return nil, false
	}
	line, list, _ := strings.Cut(line, "\n")
	const code = len(unknown)
	if len(line) < code {
		return nil, false
	}
	t = &Text{language: line[:code]}
	r := rowReader{numbers: line[code:], most: len(line), terms: strings.Split(list, "\n")}
	t.forms = make([]form, r.next(r.most))
	for i := range t.forms {
		t.forms[i] = form{r.term(), r.term()}
	}
	last := len(t.forms) - 1
	t.words = make([]uint16, r.next(r.most))
	for i := range t.words {
		t.words[i] = uint16(r.next(last))
	}
	if n := r.next(r.most); n > 0 {
		t.compounds = make(map[int]compound, n)
		for range n {
			t.compounds[r.next(len(t.words))] = compound{r.next(maxPieces), uint16(r.next(last))}
		}
	}
	if r.bad {
		return nil, false
	}
	return t, true
}

// numbers have six bits in each byte, which is never that of the end of a line.
type numbers []byte

const (
	lastDigit = 0x40
	digit     = 0x80
	digitBits = 6
)

func (l *numbers) add(n int) {
	for ; n >= 1<<digitBits; n >>= digitBits {
		*l = append(*l, digit|byte(n&(1<<digitBits-1)))
	}
	*l = append(*l, lastDigit|byte(n))
}

// rowReader reads numbers, and words by these.
type rowReader struct {
	numbers string
	terms   []string
	most    int
	bad     bool
}

// next returns the next number, which is no larger than most.
func (r *rowReader) next(most int) int {
	n, shift := 0, 0
	for i := 0; i < len(r.numbers) && shift < 32; i++ {
		c := r.numbers[i]
		n |= int(c&(1<<digitBits-1)) << shift
		shift += digitBits
		if c&digit == 0 {
			if r.numbers = r.numbers[i+1:]; n > most {
				break
			}
			return n
		}
	}
	r.bad = true
	return 0
}

// term returns the word in the next term, without its language.
func (r *rowReader) term() string {
	_, word, _ := strings.Cut(r.terms[r.next(len(r.terms)-1)], ":")
	return word
}
