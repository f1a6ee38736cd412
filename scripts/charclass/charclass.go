// Package charclass replaces the property escapes of regular expressions, such as \p{L}, by classes of characters. The
// runtime of scripts does not know these escapes: it takes \p for the letter p.
//
// Properties come from package unicode, so characters are as in its version of Unicode. What package unicode cannot say
// (Script_Extensions and some properties of algorithms) is an error, never a wrong answer.
package charclass

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength bounds the length of a pattern whose escapes have been replaced, in bytes: a class of letters has 10 kB.
const MaxLength = 512 << 10

// Error is a mistake in a pattern.
type Error struct {
	Offset  int // in bytes
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Expand replaces the property escapes of a pattern that has the flag u. With ignoreCase the classes contain the
// characters that differ only in case from those of the property, as matching requires.
func Expand(source string, ignoreCase bool) (string, error) {
	if !needed(source) {
		return source, nil
	}
	x := &expander{source: source, ignoreCase: ignoreCase, out: &strings.Builder{}}
	for x.at < len(source) {
		var err error
		switch source[x.at] {
		case '\\':
			_, err = x.escape(false)
		case '[':
			err = x.class()
		default:
			x.copy(1)
		}
		if err == nil && x.out.Len() > MaxLength {
			err = x.mistake(x.at, "a pattern of more than %d bytes, with its property escapes replaced by characters", MaxLength)
		}
		if err != nil {
			return "", err
		}
	}
	return x.out.String(), nil
}

// needed reports whether there is anything to replace. The runtime takes [^] and [] for the characters of two planes only.
func needed(source string) bool {
	for _, s := range []string{`\p`, `\P`, "[]", "[^]"} {
		if strings.Contains(source, s) {
			return true
		}
	}
	return false
}

// expander copies a pattern up to at.
type expander struct {
	source     string
	at         int
	ignoreCase bool
	out        *strings.Builder
}

func (x *expander) mistake(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (x *expander) copy(n int) {
	x.out.WriteString(x.source[x.at : x.at+n])
	x.at += n
}

// escape copies what begins with a backslash; many reports whether it is a property.
func (x *expander) escape(inClass bool) (many bool, err error) {
	rest := x.source[x.at:]
	if len(rest) < 2 || rest[1]|0x20 != 'p' {
		_, size := utf8.DecodeRuneInString(rest[1:])
		x.copy(1 + size)
		return false, nil
	}
	name, _, closed := strings.Cut(rest[2:], "}")
	if !closed || !strings.HasPrefix(name, "{") {
		return false, x.mistake(x.at, `\%c must be followed by a property in braces, such as \p{L}`, rest[1])
	}
	characters, err := classOf(name[1:], rest[1] == 'P', x.ignoreCase)
	if err != nil {
		return false, x.mistake(x.at, "%s: %v", rest[:3+len(name)], err)
	}
	switch {
	case inClass:
		x.out.WriteString(characters)
	case characters == "":
		x.out.WriteString("[^" + everything + "]")
	default:
		x.out.WriteString("[" + characters + "]")
	}
	x.at += 3 + len(name)
	return true, nil
}

// class copies a class. One of no characters is written as the opposite of one of all.
func (x *expander) class() error {
	around := x.out
	x.out = &strings.Builder{}
	x.at++
	negated := strings.HasPrefix(x.source[x.at:], "^")
	if negated {
		x.at++
	}
	err := x.atoms()
	inside := x.out.String()
	x.out = around
	if err != nil {
		return err
	}
	if inside == "" {
		negated, inside = !negated, everything
	}
	x.out.WriteByte('[')
	if negated {
		x.out.WriteByte('^')
	}
	x.out.WriteString(inside)
	if x.at < len(x.source) {
		x.copy(1)
	}
	return nil
}

var everything = set{{0, unicode.MaxRune}}.text()

// atoms copies what is in a class. Its atoms are told apart, since a property cannot begin or end a range.
func (x *expander) atoms() error {
	for x.at < len(x.source) && x.source[x.at] != ']' {
		start := x.at
		many, err := x.atom()
		if err != nil {
			return err
		}
		rest := x.source[x.at:]
		if !strings.HasPrefix(rest, "-") || len(rest) == 1 || rest[1] == ']' {
			continue
		}
		x.copy(1)
		last, err := x.atom()
		if err != nil {
			return err
		}
		if many || last {
			return x.mistake(start, "a range of characters cannot begin or end with a property")
		}
	}
	return nil
}

// atom copies one character or escape of a class.
func (x *expander) atom() (many bool, err error) {
	switch x.source[x.at] {
	case '\\':
		return x.escape(true)
	case '-':
		// The engines below would join a hyphen to the range that follows it.
		x.out.WriteString(`\-`)
		x.at++
		return false, nil
	}
	_, size := utf8.DecodeRuneInString(x.source[x.at:])
	x.copy(size)
	return false, nil
}
