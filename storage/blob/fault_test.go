package blob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"catena/storage/disk/disktest"
)

// keepAll keeps content in every way, and again after an error, and returns what was acknowledged.
func keepAll(t *testing.T, s *Store, all map[string][]byte) (acked map[string]bool, failed error) {
	t.Helper()
	acked = map[string]bool{}
	keep := func(b *Blob, err error) {
		for try := 0; err == nil && try < 2; try++ { // as a call that is run again
			again := s.Keep(t.Context(), b)
			if again == nil {
				acked[b.Digest] = true
				return
			}
			failed = errors.Join(failed, again)
		}
		failed = errors.Join(failed, err)
	}
	content := func(c byte, n int) []byte { return bytes.Repeat([]byte{c, 1, 2, 3, 4, 5, 6}, n/7) }
	spool := func(data []byte) (*Blob, error) {
		return s.Spool(t.Context(), "a.bin", "", bytes.NewReader(data), 0)
	}
	small, large, other, grown := content('a', 700), content('b', inline+blockSize+3000), content('c', 3*inline), content('d', blockSize+3*inline)
	keep(spool(small))
	keep(spool(large))
	keep(spool(large)) // which is there already
	keep(spool(other))
	keep(draft(t, s, grown, 0))
	keep(draft(t, s, grown[:len(grown)-7], 7)) // of which more was sent
	for _, data := range [][]byte{small, large, other, grown, grown[:len(grown)-7]} {
		all[FromBytes("", "", data).Digest] = data
	}
	return acked, failed
}

// draft makes content of two pieces, and has more bytes follow.
func draft(t *testing.T, s *Store, data []byte, more int) (*Blob, error) {
	t.Helper()
	d := s.Draft(fmt.Sprint("d", more), 0, nil)
	size := int64(len(data))
	data = append(slices.Clip(data), make([]byte, more)...)
	for at := 0; at < len(data); {
		n := min(len(data)-at, blockSize)
		f, err := d.Open(true)
		if err == nil {
			_, err = d.Take(t.Context(), f, int64(at), int64(n), bytes.NewReader(data[at:at+n]))
		}
		if err != nil {
			return nil, err
		}
		at += n
	}
	return d.Whole(t.Context(), "a.bin", "", size)
}

// TestEveryOperationFails fails the n-th operation on a file, for each n, in every way, and then takes the power away: what
// was acknowledged is there, and what is damaged is not served.
func TestEveryOperationFails(t *testing.T) {
	for name, f := range map[string]disktest.Fault{
		"error": {}, "full": {Err: disktest.ErrFull}, "short": {Short: true}, "for good": {Times: -1}, "crash": {Crash: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < 400; n++ {
				f.N = n
				dir, to := filepath.Join(t.TempDir(), "blobs"), t.TempDir()
				files := disktest.New(dir, uint64(n), disktest.Plan{Faults: []disktest.Fault{f}})
				all, acked := map[string][]byte{}, map[string]bool{}
				s, err := OpenOn(files, dir, nil)
				if err == nil {
					acked, err = keepAll(t, s, all)
				}
				if err := files.Crash(to, nil); err != nil {
					t.Fatal(err)
				}
				if s != nil {
					_ = s.Close()
				}
				lostNothing(t, to, n, all, acked)
				if files.Ops() < n && err == nil {
					return // there are fewer operations
				}
				if err == nil && n > 1 {
					t.Logf("operation %d: failed unnoticed", n) // which is well where nothing depends on it
				}
			}
		})
	}
}

// lostNothing reads everything after a loss of power.
func lostNothing(t *testing.T, dir string, n int, all map[string][]byte, acked map[string]bool) {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Errorf("operation %d: opened again: %v", n, err)
		return
	}
	defer s.Close()
	for digest, data := range all {
		r, err := s.Load(Blob{Digest: digest, Size: int64(len(data))}).Open()
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
			_ = r.Close()
		}
		switch {
		case err == nil && !bytes.Equal(got, data):
			t.Errorf("operation %d: damaged content is served", n)
		case err != nil && acked[digest]:
			t.Errorf("operation %d: content was acknowledged: %v", n, err)
		}
	}
	if err := s.Each(t.Context(), func(digest string, _ int64, _ time.Time) error {
		if err := s.Verify(t.Context(), digest); err != nil && acked[digest] {
			return err
		}
		return nil
	}); err != nil {
		t.Errorf("operation %d: %v", n, err)
	}
}
