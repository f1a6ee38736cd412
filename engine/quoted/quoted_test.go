package quoted

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// counted is a source of texts that counts how often it is read.
type counted struct {
	mu   sync.Mutex
	read map[string]int
}

func (c *counted) of(text string) func() (string, error) {
	return func() (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.read == nil {
			c.read = map[string]int{}
		}
		c.read[text]++
		return text, nil
	}
}

func TestTextsAreJSON(t *testing.T) {
	var texts Texts
	for _, text := range []string{
		"", "plain", `<p class="a">`, "a\\b\n\t\r\x00\x1f", "é \u2028 日本 😀", "\xff broken", strings.Repeat("\"", 10_000), strings.Repeat("\n", mostKept),
	} {
		for range 2 { // made, and kept
			got, err := texts.Get(Key{"test", text}, func() (string, error) { return text, nil })
			if err != nil {
				t.Fatal(err)
			}
			var back string
			if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(text, "\uFFFD") {
				t.Errorf("%.40q: got %.60s, %v", text, got, err)
			}
			if raw, err := json.Marshal(got); err != nil || !json.Valid(raw) {
				t.Errorf("%.40q: as a part of JSON: %.60s, %v", text, raw, err)
			}
		}
	}
}

func TestTextIsReadOnce(t *testing.T) {
	var texts Texts
	var c counted
	get := func(key Key, text string) string {
		t.Helper()
		got, err := texts.Get(key, c.of(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for _, test := range []struct {
		key  Key
		text string
		want string
	}{
		{Key{"a", "1"}, "one", `"one"`},
		{Key{"a", "1"}, "ignored", `"one"`},
		{Key{"b", "1"}, "other kind", `"other kind"`},
		{Key{"a", "2"}, "two", `"two"`},
		{Key{"a", "1"}, "ignored", `"one"`},
	} {
		if got := get(test.key, test.text); got != test.want {
			t.Errorf("%v: got %s, want %s", test.key, got, test.want)
		}
	}
	if c.read["ignored"] != 0 {
		t.Errorf("a kept text was read again: %v", c.read)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	var texts Texts
	wrong := errors.New("wrong")
	if _, err := texts.Get(Key{"a", "1"}, func() (string, error) { return "half", wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	if got, err := texts.Get(Key{"a", "1"}, func() (string, error) { return "whole", nil }); err != nil || string(got) != `"whole"` {
		t.Errorf("after an error: %s, %v", got, err)
	}
}

// TestRoom fills the room several times over: what was asked for last stays, what is too long is never kept.
func TestRoom(t *testing.T) {
	var texts Texts
	var c counted
	const size = mostKept / 2
	text := func(i int) string { return fmt.Sprintf("%08d", i) + strings.Repeat("x", size-8) }
	get := func(i int) {
		if _, err := texts.Get(Key{"a", fmt.Sprint(i)}, c.of(text(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		get(0) // asked for all the time
		get(i)
		sum := 0
		for _, e := range texts.byKey {
			sum += e.Value.(*kept).takes()
		}
		if sum != texts.size || texts.size > Room || texts.used.Len() != len(texts.byKey) {
			t.Fatalf("after %d: %d bytes of %d texts, counted as %d, room %d", i, sum, texts.used.Len(), texts.size, Room)
		}
	}
	get(99)
	get(1)
	if c.read[text(0)] != 1 || c.read[text(99)] != 1 || c.read[text(1)] != 2 {
		t.Errorf("read %d, %d and %d times, want 1, 1 and 2", c.read[text(0)], c.read[text(99)], c.read[text(1)])
	}
	long := strings.Repeat("x", mostKept)
	before := texts.size
	for range 2 {
		if _, err := texts.Get(Key{"a", "long"}, c.of(long)); err != nil {
			t.Fatal(err)
		}
	}
	if c.read[long] != 2 || texts.size != before {
		t.Errorf("a text that is too long was kept: read %d times", c.read[long])
	}
}

func TestSharedTexts(t *testing.T) {
	var texts Texts
	var c counted
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprint((i + w) % 10)
				if got, err := texts.Get(Key{"a", text}, c.of(text)); err != nil || string(got) != `"`+text+`"` {
					t.Errorf("got %s, %v, want %q", got, err, text)
				}
			}
		})
	}
	wg.Wait()
	if len(texts.byKey) != 10 || texts.used.Len() != 10 {
		t.Errorf("%d texts are kept, %d in order, want 10", len(texts.byKey), texts.used.Len())
	}
}
