package engine

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestUnescape compares texts with what encoding/json reads of them.
func TestUnescape(t *testing.T) {
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
		s := &scanner{data: []byte(src)}
		got, err := s.unescape(0, len(src))
		if (err != nil) != bad || err == nil && string(got) != want {
			t.Fatalf("%s: got %q %v, want %q", src, got, err, want)
		}
	}
}
