package blob

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

// damaging is a store with the means to change what it has of a content.
type damaging struct {
	*Store

	name   string
	change func(b *Blob, fn func([]byte) []byte)
	reopen func() *Store
}

// damagings opens a store of each kind that keeps content outside this process.
func damagings(t *testing.T, fn func(t *testing.T, d *damaging)) {
	change := func(t *testing.T, file string, fn func([]byte) []byte) {
		data, err := os.ReadFile(file)
		if err == nil {
			if data = fn(data); data == nil {
				err = os.Remove(file)
			} else {
				err = os.WriteFile(file, data, fileMode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		open := func() *Store {
			s, err := Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		fn(t, &damaging{open(), "folder", func(b *Blob, fn func([]byte) []byte) {
			change(t, filepath.Join(dir, contentPath(b.Digest)), fn)
		}, open})
	})
	for name, cache := range map[string]int64{"bucket": 0, "cache": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			store, dir := buckettest.New(t), t.TempDir()
			open := func() *Store { return inBucket(t, store, dir, cache) }
			fn(t, &damaging{open(), name, func(b *Blob, fn func([]byte) []byte) {
				if cache > 0 {
					change(t, filepath.Join(dir, cacheDir, b.Digest), fn)
					return
				}
				store.Set("files/"+b.Digest, fn(bytes.Clone(store.Get("files/"+b.Digest))), time.Now())
			}, open})
		})
	}
}

func flip(at int64) func([]byte) []byte {
	return func(data []byte) []byte {
		data[at] ^= 0x10
		return data
	}
}

// sizes are those of contents, around where blocks end.
var sizes = []int{1, 1000, blockSize - 1, blockSize, blockSize + 1, 3*blockSize - 5, sendSize, sendSize + 1, window + sendSize + 77}

// TestDamageIsNotSent flips a bit in contents and sends all of them, and parts before, in and behind the damage. Nothing
// but the error describes the damaged block; the others are sent. A damaged file of the cache is asked for again.
func TestDamageIsNotSent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	damagings(t, func(t *testing.T, d *damaging) {
		for i, size := range sizes {
			data := random(size)
			b := d.Load(*keep(t, d.Store, data))
			places := []int64{0, int64(size) - 1, rnd.Int64N(int64(size)), min(blockSize, int64(size)-1)}
			at := places[i%len(places)]
			read(t, b) // so that a cache has it
			d.change(b, flip(at))
			from, to := at-at%blockSize, min(at-at%blockSize+blockSize, int64(size)) // of the damaged block
			for _, part := range [][2]int64{{0, int64(size)}, {0, from}, {to, int64(size)}, {at, at + 1}, {from / 2, at + 1}, {from, to}, {to - 1, int64(size)}, {to / 2, to}} {
				if part[0] >= part[1] {
					continue
				}
				var got bytes.Buffer
				err := send(t, b, &got, part[0], part[1]-part[0])
				hit := part[0] < to && part[1] > from && d.name != "cache"
				if want := data[part[0]:part[1]]; !hit && (err != nil || !bytes.Equal(got.Bytes(), want)) {
					t.Errorf("%d bytes, damaged at %d, part %d: %d bytes sent, %v", size, at, part, got.Len(), err)
				}
				if hit && (DamageIn(err) == nil || !fault.Is(err, fault.Internal) || fault.CodeOf(err) != fault.CodeContentDamaged) {
					t.Errorf("%d bytes, damaged at %d, part %d: %v", size, at, part, err)
				}
				if sent := data[part[0]:max(part[0], min(from, part[1]))]; hit && !bytes.Equal(got.Bytes(), sent) {
					t.Errorf("%d bytes, damaged at %d, part %d: %d bytes sent instead of %d", size, at, part, got.Len(), len(sent))
				}
			}
			if all, err := b.Bytes(0); (err == nil) != (d.name == "cache") || err == nil && !bytes.Equal(all, data) {
				t.Errorf("%d bytes, damaged at %d: read whole: %v", size, at, err)
			}
			if (d.Damaged()[b.Digest] != nil) != (d.name != "cache") {
				t.Errorf("%d bytes: known damage %v", size, d.Damaged())
			}
			if err := d.Keep(t.Context(), spooled(t, d.Store, data)); err != nil { // which heals it
				t.Error(err)
			}
			if got := read(t, b); !bytes.Equal(got, data) || len(d.Damaged()) > 0 {
				t.Errorf("%d bytes: still damaged after it came again", size)
			}
		}
	})
}

// TestDamageIsFoundBeforeItIsSent has the first block of a part verified by Begin, and no other.
func TestDamageIsFoundBeforeItIsSent(t *testing.T) {
	damagings(t, func(t *testing.T, d *damaging) {
		if d.name == "cache" {
			return
		}
		b := d.Load(*keep(t, d.Store, random(8*blockSize)))
		d.change(b, flip(5*blockSize))
		r, err := b.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, at := range []int64{0, 4*blockSize + 1, 6 * blockSize, 8*blockSize - 1} {
			if err := b.Begin(r, at, 8*blockSize-at); err != nil {
				t.Errorf("from %d on: %v", at, err)
			}
		}
		if err := b.Begin(r, 5*blockSize+9, 1); DamageIn(err) == nil {
			t.Errorf("damaged block: %v", err)
		}
	})
}

// TestContentWithoutSums reads contents as earlier versions left them, whole ones and damaged ones.
func TestContentWithoutSums(t *testing.T) {
	damagings(t, func(t *testing.T, d *damaging) {
		for _, size := range sizes {
			data := random(size)
			b := keep(t, d.Store, data)
			bad := keep(t, d.Store, append(data, 7))
			read(t, d.Load(*bad)) // so that a cache has it
			d.change(bad, flip(int64(size)))
			file := filepath.Join(d.root.Dir, sumsFile(b.Digest))
			_, err := os.Stat(file)
			if (err == nil) != (size > blockSize) {
				t.Errorf("%d bytes: checksums: %v", size, err)
			}
			old := d.reopen()
			damageSums(t, old, b.Digest, size)
			old.dropSums(bad.Digest)
			var got bytes.Buffer
			if err := send(t, old.Load(*b), &got, int64(size)/2, int64(size)-int64(size)/2); err != nil || !bytes.Equal(got.Bytes(), data[size/2:]) {
				t.Errorf("%d bytes: %v", size, err)
			}
			if text, err := os.ReadFile(file); (err == nil && parseSums(text, int64(size)) != nil) != (size > blockSize) {
				t.Errorf("%d bytes: checksums afterwards: %v", size, err)
			}
			r, err := old.Load(*bad).Open()
			if err == nil {
				err = r.Close()
			}
			if (DamageIn(err) != nil) != (d.name != "cache") {
				t.Errorf("%d bytes, damaged: %v", size, err)
			}
			if err := old.Close(); err != nil {
				t.Error(err)
			}
			d.Store = d.reopen()
		}
	})
}

// damageSums has the file of checksums of a content cut, empty, changed, that of another size, or gone.
func damageSums(t *testing.T, s *Store, digest string, size int) {
	t.Helper()
	file := filepath.Join(s.root.Dir, sumsFile(digest))
	text, err := os.ReadFile(file)
	if err != nil {
		return // of one block
	}
	s.known.forget(digest)
	switch size % 4 {
	case 0:
		text = nil
	case 1:
		text[len(text)-6] ^= 1
	case 2:
		text = text[:len(text)-3]
	case 3:
		text = formatSums(make(sums, blocksIn(int64(size))), int64(size)+1)
	}
	if err := os.WriteFile(file, text, fileMode); err != nil {
		t.Fatal(err)
	}
}

// TestCutContent reads contents whose files are shorter or longer than they should be, or gone.
func TestCutContent(t *testing.T) {
	damagings(t, func(t *testing.T, d *damaging) {
		for i, fn := range []func([]byte) []byte{
			func(b []byte) []byte { return b[:len(b)-1] },
			func(b []byte) []byte { return b[:0] },
			func(b []byte) []byte { return append(b, 1) },
			func(b []byte) []byte { return nil },
		} {
			data := random(2*blockSize + i)
			b := d.Load(*keep(t, d.Store, data))
			d.change(b, fn)
			if r, err := b.Open(); d.name == "cache" {
				got, failed := io.ReadAll(r)
				if err != nil || failed != nil || !bytes.Equal(got, data) {
					t.Errorf("%d: %v %v", i, err, failed)
				}
			} else if DamageIn(err) == nil {
				t.Errorf("%d: %v", i, err)
			}
			if err := d.Verify(t.Context(), b.Digest); (err == nil) != (d.name == "cache") {
				t.Errorf("%d: verified: %v", i, err)
			}
		}
	})
}

// TestFileCutWhileRead cuts a file that is open.
func TestFileCutWhileRead(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data := random(3 * blockSize)
	b := s.Load(*keep(t, s, data))
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(filepath.Join(s.root.Dir, contentPath(b.Digest)), 2*blockSize); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); DamageIn(err) == nil || !bytes.Equal(got, data[:2*blockSize]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestSumsAreForgotten holds no more checksums than there is room for.
func TestSumsAreForgotten(t *testing.T) {
	var k known
	for i := range 10 {
		k.put(string(rune('a'+i)), make(sums, sumsRoom/4))
	}
	if k.room < 0 || len(k.all) != 3 || k.get("j", sumsRoom/4*blockSize) == nil {
		t.Errorf("%d entries, room for %d", len(k.all), k.room)
	}
	k.forget("j")
	if k.get("j", sumsRoom/4*blockSize) != nil {
		t.Error("still known")
	}
}

// TestCheck finds the block that is damaged by its checksum, what is missing at the end, and what is whole.
func TestCheck(t *testing.T) {
	damagings(t, func(t *testing.T, d *damaging) {
		for _, size := range sizes {
			data := random(size)
			b := keep(t, d.Store, data)
			var n int
			count := func(m int) error {
				n += m
				return nil
			}
			if err := d.Check(t.Context(), b.Digest, b.Size, count); err != nil || n != size {
				t.Errorf("%d: %d bytes, %v", size, n, err)
			}
			if d.name == "cache" { // which this does not read
				continue
			}
			at := int64(size) / 2
			d.change(b, flip(at))
			found := DamageIn(d.Check(t.Context(), b.Digest, b.Size, nil))
			if found == nil {
				t.Errorf("%d: no damage", size)
				continue
			}
			from := at - at%blockSize
			if want := fmt.Sprintf(isDamaged, from, min(from+blockSize, b.Size)); size > blockSize && found.What != want {
				t.Errorf("%d: %s", size, found.What)
			}
			d.change(b, func(data []byte) []byte { return data[:len(data)-1] })
			if found := DamageIn(d.Check(t.Context(), b.Digest, b.Size, nil)); found == nil {
				t.Errorf("%d: no damage at the end", size)
			}
		}
	})
}
