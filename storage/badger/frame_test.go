package badger

import (
	"bytes"
	"testing"

	"catena/storage/kv"
)

// FuzzFrame checks that frames decode to what was written, and that whatever else is
// read as one yields an error at worst.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("key"), []byte("value"), uint64(1), []byte{})
	f.Add([]byte{0}, []byte{}, uint64(1<<63), []byte{1, 6, 'k', 'e', 'y', 2, 'v', 'v'})
	f.Fuzz(func(t *testing.T, key, value []byte, first uint64, raw []byte) {
		var store id
		copy(store[:], key)
		writes := []kv.Mutation{{Key: key, Value: append([]byte{}, value...)}, {Key: value}}
		h := frame{first: first, count: 2, segment: 3, synced: first - 1}
		b := appendWrites(appendWrites(make([]byte, frameHeader), writes), nil)
		c := h.seal(b, 100, store, chain{1})

		var got frame
		if !got.parse(b, store) || got.first != first || got.count != 2 || got.segment != 3 || got.chain != c || link(b, chain{1}) != c {
			t.Fatalf("header %+v", got)
		}
		p, ok := got.payload(append(b, raw...))
		if !ok {
			t.Fatal("payload is not whole")
		}
		var back []kv.Mutation
		if err := eachWrite(p, &got, func(version uint64, w kv.Mutation) error {
			if version != first {
				t.Errorf("version %d", version)
			}
			back = append(back, w)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(back) != 2 || !bytes.Equal(back[0].Key, key) || !bytes.Equal(back[0].Value, value) || back[0].Value == nil || !bytes.Equal(back[1].Key, value) || back[1].Value != nil {
			t.Fatalf("writes %v", back)
		}
		if len(raw) > 0 {
			bad := bytes.Clone(b)
			at := int(raw[0]) % len(bad)
			bad[at] ^= 1 + raw[0]%255
			if bad[at] != b[at] && got.parse(bad, store) {
				if _, ok := got.payload(bad); ok {
					t.Fatalf("a change of byte %d is not seen", at)
				}
			}
		}
		count := frame{first: 1, count: 1 + len(raw)%3}
		_ = eachWrite(raw, &count, func(uint64, kv.Mutation) error { return nil })
		got.parse(raw, store)
		_, _, _, _, _ = parseSegmentHeader(raw)
		wholeManifest(raw)
	})
}
