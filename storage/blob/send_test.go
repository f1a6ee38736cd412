package blob

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// long returns a content of a size that is sent in several blocks, kept in s.
func long(t *testing.T, s *Store) (*Blob, []byte) {
	t.Helper()
	data := make([]byte, window+sendSize+7)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	b := spooled(t, s, data)
	if err := s.Keep(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return s.Load(*b), data
}

func send(t *testing.T, b *Blob, w io.Writer, at, n int64) error {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return b.Send(w, r, at, n)
}

func TestSend(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		b, data := long(t, s)
		small := s.Load(*spooled(t, s, data[:100]))
		if err := s.Keep(t.Context(), spooled(t, s, data[:100])); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			of    *Blob
			at, n int64
		}{
			{b, 0, b.Size},
			{b, 0, b.Size}, // now as what is asked for again
			{b, 0, sendSize},
			{b, 0, sendSize - 1},
			{b, 1, sendSize + 1},
			{b, sendSize - 1, 2 * sendSize},
			{b, 7, b.Size - 7},
			{b, b.Size - sendSize, sendSize},
			{b, b.Size - 1, 1},
			{b, b.Size, 0},
			{small, 0, 100},
			{small, 99, 1},
		} {
			var got bytes.Buffer
			if err := send(t, c.of, &got, c.at, c.n); err != nil {
				t.Errorf("%d bytes from %d on: %v", c.n, c.at, err)
			}
			if !bytes.Equal(got.Bytes(), data[c.at:c.at+c.n]) {
				t.Errorf("%d bytes from %d on: other content, %d bytes", c.n, c.at, got.Len())
			}
		}
	})
}

// full takes some bytes and then no more.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// TestSendEnds has clients go away in all places, more often than contents are sent at a time.
func TestSendEnds(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, _ := long(t, s)
	for i := range 2 * senders {
		if err := send(t, b, &full{i * sendSize / 8}, 1, 4*sendSize+1); !errors.Is(err, errFull) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if s.sends.now != 0 {
		t.Errorf("%d are still being sent", s.sends.now)
	}
}

func TestSends(t *testing.T) {
	var s sends
	if !s.enter("a", true) || !s.enter("a", false) {
		t.Error("the parts of a content count as the content")
	}
	if s.enter("a", true) || s.enter("a", false) {
		t.Error("a content begun twice is not what is asked for once")
	}
	for s.now < senders {
		if !s.enter("b", false) {
			t.Fatalf("%d are the most", s.now)
		}
	}
	if s.enter("c", true) {
		t.Error("more than the most")
	}
	s.leave()
	if !s.enter("d", false) {
		t.Error("no place after one left")
	}
	for i := range 2 * remembered {
		s.enter(string(rune(i)), true)
	}
	if len(s.begun) != remembered {
		t.Errorf("%d remembered", len(s.begun))
	}
}
