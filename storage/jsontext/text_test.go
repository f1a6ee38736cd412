package jsontext

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestText compares texts with what encoding/json reads of them.
func TestText(t *testing.T) {
	parts := []string{
		"a", "é", `\n`, `\"`, `\\`, `\/`, `\b\f\r\t`, `\u00e9`, `\uD83D`, `\ude00`, `\ud83d\ude00`, `\u12`, `\x`, `\U0041`, `\uzzzz`, "\xff", "<p>", `\u0000`,
		`\ud83d\n`, `\ud83dx`,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		b.WriteByte('"')
		for range rnd.IntN(6) {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		b.WriteByte('"')
		src := b.String()
		var want string
		bad := json.Unmarshal([]byte(src), &want) != nil || strings.Contains(src, "\xff")
		s := Scanner{Data: []byte(src)}
		got, err := s.Text()
		if (err != nil) != bad || err == nil && string(got) != want {
			t.Fatalf("%s: got %q %v, want %q", src, got, err, want)
		}
		s = Scanner{Data: []byte(src), Pairs: true}
		if _, err := s.Text(); (err != nil) != (bad || strings.ContainsRune(want, '\uFFFD')) {
			t.Fatalf("%s: pairs: %v", src, err)
		}
	}
}

// TestPlain compares with looking at one byte after the other, wherever the first special one is.
func TestPlain(t *testing.T) {
	for b := range 256 {
		special := b < ' ' || b >= 0x80 || b == '"' || b == '\\'
		for at := range 20 {
			text := []byte("aaaaaaaaaaaaaaaaaaaaaaaa")
			text[at] = byte(b)
			want := len(text)
			if special {
				want = at
			}
			if got := Plain(text); got != want {
				t.Errorf("byte %#x at %d: got %d, want %d", b, at, got, want)
			}
			if got := Plain(string(text)); got != want {
				t.Errorf("text with byte %#x at %d: got %d, want %d", b, at, got, want)
			}
		}
	}
	if got := Plain(""); got != 0 {
		t.Errorf("nothing: got %d", got)
	}
}
