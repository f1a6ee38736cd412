package kv

import "slices"

// change is what a write has replaced.
type change struct {
	key []byte
	old entry
	had bool
}

// Nest runs fn as a part that can fail alone: if it returns an error or panics,
// everything it buffered is undone. What it read stays part of the transaction.
func (t *Tx) Nest(fn func() error) error {
	if err := t.usable(); err != nil {
		return err
	}
	size, wake, after, writes := t.bytes, len(t.wake), len(t.after), len(t.undo)
	t.parts++
	ok := false
	defer func() {
		if !ok {
			for _, c := range slices.Backward(t.undo[writes:]) {
				t.restore(c)
			}
			t.undo, t.bytes = t.undo[:writes], size
			t.wake, t.after = t.wake[:wake], t.after[:after]
		}
		if t.parts--; t.parts == 0 {
			t.undo = t.undo[:0]
		}
	}()
	err := fn()
	ok = err == nil
	return err
}

// restore undoes a write.
func (t *Tx) restore(c change) {
	if c.had {
		t.own.Set(c.key, c.old)
	} else {
		t.own.Delete(c.key)
	}
}
