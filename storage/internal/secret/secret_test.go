package secret

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestText: a secret fits into addresses and headers as it is, has 256 bits, and no two are alike.
func TestText(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		s := Text()
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(b) != 32 || strings.ContainsAny(s, "+/= ") || seen[s] {
			t.Fatalf("%q: %d bytes, %v", s, len(b), err)
		}
		seen[s] = true
	}
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		text string
		sum  []byte
		want bool
	}{
		{"a", Sum("a"), true},
		{"", Sum(""), true},
		{"\x00", Sum("\x00"), true},
		{"é", Sum("e\u0301"), false},
		{"A", Sum("a"), false},
		{"a ", Sum("a"), false},
		{"a", nil, false},
		{"", nil, false},
		{"a", []byte{}, false},
		{"a", Sum("a")[:31], false},
		{"a", append(Sum("a"), 0), false},
		{"a", []byte(Hash("a")), false},
	} {
		if got := Is(c.text, c.sum); got != c.want {
			t.Errorf("%q for %x: %v", c.text, c.sum, got)
		}
	}
	if Hash("abc") != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the key of abc is %s", Hash("abc"))
	}
}
