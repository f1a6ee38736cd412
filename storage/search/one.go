package search

import (
	"sync"

	"catena/storage"
)

// One returns the readable document, no version and no proxy, whose property has a text that no other document has; nil if
// there is none. It is what Lookup finds, but where it was found last is remembered, so that its own row is read and not the
// index. A document that has another text since, or that may not be read, is looked up again.
func One(t *storage.Tx, key, text string) (*storage.Doc, error) {
	found, of := &stateOf(t.Repo()).found, spot{key, text}
	if id := found.get(of); id != "" {
		d, err := t.Doc(storage.Ref(id))
		if err == nil && !d.IsVersion() && !d.IsProxy() && storage.Prop[string](d, key) == text {
			return d, nil
		}
	}
	docs, err := Lookup(t, key, text)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	found.put(of, docs[0].ID())
	return docs[0], nil
}

// spot is a property with a text.
type spot struct{ key, text string }

// finds are the ids of documents that were found by a text of theirs: those of the last mostFound to twice as many. They are
// only hints, since documents change.
type finds struct {
	mu          sync.RWMutex
	now, before map[spot]string
}

const mostFound = 4096

func (f *finds) get(s spot) (id string) {
	f.mu.RLock()
	id = f.now[s]
	old := ""
	if id == "" {
		old = f.before[s]
	}
	f.mu.RUnlock()
	if old != "" {
		f.put(s, old)
		return old
	}
	return id
}

func (f *finds) put(s spot, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.now) >= mostFound {
		f.before, f.now = f.now, nil
	}
	if f.now == nil {
		f.now = map[spot]string{}
	}
	f.now[s] = id
}
