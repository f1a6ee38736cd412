// Package quoted keeps long texts as JSON. A text that is asked for again is then neither read nor escaped again: what
// answers a request copies it. Texts are named by what they are made of, such as a digest, so that a text never becomes
// out of date. Who may read one is decided before it is asked for.
package quoted

import (
	"container/list"
	"sync"

	"catena/storage/schema"
)

const (
	// Room is how many bytes of texts are kept: some 700 decks of 42 KB, an eighth of what the server's memory is to
	// stay below.
	Room = 28 << 20
	// mostKept is the longest text that is kept, so that one does not take the place of many.
	mostKept = Room / 16
	// entrySize is what a text takes besides its bytes: its key, its element and its part of the map.
	entrySize = 300
)

// Text is a text as JSON, with its quotation marks. It is shared, so nobody may change it.
type Text []byte

// MarshalJSON returns the text for encoding/json.
func (t Text) MarshalJSON() ([]byte, error) { return t, nil }

// Key names a text for good: what it is made of, and how.
type Key struct{ Kind, Digest string }

// Texts keeps the texts that were asked for last. The zero value is ready.
type Texts struct {
	mu    sync.Mutex
	byKey map[Key]*list.Element
	used  list.List // of *kept, latest first
	size  int
}

type kept struct {
	key  Key
	text Text
}

// Get returns a text as JSON. If it is not kept, read makes it.
func (t *Texts) Get(key Key, read func() (string, error)) (Text, error) {
	t.mu.Lock()
	e, ok := t.byKey[key]
	if ok {
		t.used.MoveToFront(e)
	}
	t.mu.Unlock()
	if ok {
		return e.Value.(*kept).text, nil
	}
	// Without the lock: two callers may read the same text at once, and one of them is kept. An error is not kept.
	plain, err := read()
	if err != nil {
		return nil, err
	}
	text := Text(schema.AppendString(make([]byte, 0, len(plain)+len(plain)/8+len(`""`)), plain))
	if len(text) <= mostKept {
		t.keep(&kept{key, text})
	}
	return text, nil
}

// keep adds a text and forgets those that were asked for longest ago.
func (t *Texts) keep(k *kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.byKey[k.key]; ok {
		return
	}
	if t.byKey == nil {
		t.byKey = map[Key]*list.Element{}
	}
	t.byKey[k.key] = t.used.PushFront(k)
	for t.size += k.takes(); t.size > Room; {
		last := t.used.Back()
		old := t.used.Remove(last).(*kept)
		delete(t.byKey, old.key)
		t.size -= old.takes()
	}
}

func (k *kept) takes() int { return cap(k.text) + entrySize }
