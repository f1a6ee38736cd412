package storage

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"catena/storage/fault"
)

// Rows of indexes hold the names of indexes, types and states as numbers, which take a byte or two where a
// name takes twenty. The row "m numbers" lists the names, one on a line; the number of a name is that of its
// line and never changes. Names that a declaration brings are added when a repository is opened.
var numbersKey = metaKey("numbers")

// numbers are the names that rows hold as numbers. They do not change once a repository is open.
type numbers struct {
	byName map[string]uint64
	names  [][]byte // the first has number one
}

func newNumbers(names []string) *numbers {
	n := &numbers{byName: make(map[string]uint64, len(names))}
	for i, name := range names {
		n.names = append(n.names, []byte(name))
		n.byName[name] = uint64(i + 1)
	}
	return n
}

// append appends the number of a name, or zero and the name if it has none.
func (n *numbers) append(dst []byte, name string) []byte {
	if number := n.byName[name]; number > 0 {
		return binary.AppendUvarint(dst, number)
	}
	return appendText(append(dst, 0), name)
}

// read reads what append wrote.
func (n *numbers) read(in *reader) []byte {
	number := in.uvarint()
	if number == 0 {
		return in.bytes()
	}
	if number > uint64(len(n.names)) {
		in.bad = true
		return nil
	}
	return n.names[number-1]
}

// numberMark begins a number in a key; the parts of keys that hold values begin with lower bytes.
const numberMark = 0x80

// maxNumber is the largest number that a key has room for.
const maxNumber = 1<<15 - 1

// appendKey appends the number of a name to a key. A name without one is a bug: its rows would be
// those of every other such name.
func (n *numbers) appendKey(dst []byte, name string) []byte {
	number := n.byName[name]
	if number == 0 {
		panic("storage: no number for " + strconv.Quote(name))
	}
	return append(dst, numberMark|byte(number>>8), byte(number))
}

// openNumbers reads the numbers and adds those of the names that are declared now.
func (r *Repo) openNumbers(ctx context.Context) error {
	want := r.indexNames()
	for _, t := range r.types.Types() {
		want = append(want, t.Name)
		if t.LifeCycle != nil {
			want = append(want, t.LifeCycle.States...)
		}
	}
	var have []string
	missing := func(t *Tx) (bool, error) {
		b, err := t.kv.Get(numbersKey)
		if have = nil; len(b) > 0 {
			have = strings.Split(string(b), "\n")
		}
		before := len(have)
		for _, name := range want {
			if !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
		if len(have) > maxNumber {
			return false, fault.Limit.Errorf("names of indexes, types and states: %d, at most %d", len(have), maxNumber)
		}
		return len(have) > before, err
	}
	add := false
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		add, err = missing(t)
		return err
	})
	if err == nil && add {
		err = r.Update(ctx, r.System(), func(t *Tx) error {
			if _, err := missing(t); err != nil {
				return err
			}
			return t.kv.Set(numbersKey, []byte(strings.Join(have, "\n")))
		})
	}
	r.numbers = newNumbers(have)
	return err
}
