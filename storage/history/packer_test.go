package history

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestPacker: items come back as they were written, each by itself, and by way of another packer.
func TestPacker(t *testing.T) {
	rows := [][]any{
		{},
		{"", "a", "a", int64(0), int64(1), int64(-1), int64(63), int64(-64), int64(64)},
		{int64(math.MaxInt64), int64(math.MinInt64), int64(1) << 61, int64(1)<<61 - 1, -int64(1) << 61, -int64(1)<<61 - 1, int64(1) << 62},
		{"0123456789abcdef", "0123456789ABCDEF", "0123456789abcde", "0123456", "01234567", strings.Repeat("ab", 32), strings.Repeat("ab", 33)},
		{strings.Repeat("x", maxKnown), strings.Repeat("x", maxKnown+1), "\x00\xff", "a", int64(7), "ümlaut"},
	}
	var p, again Packer
	p.reset()
	again.reset()
	for _, row := range rows {
		for _, v := range row {
			switch v := v.(type) {
			case string:
				p.Text(v)
			case int64:
				p.Int(v)
			}
		}
		p.end()
	}
	raw := p.append(nil)
	items, err := unpack(raw)
	if err != nil || len(items) != len(rows) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	for _, u := range items {
		if err := again.again(u); err != nil {
			t.Fatal(err)
		}
		again.end()
	}
	if !bytes.Equal(again.append(nil), raw) {
		t.Error("another packer writes something else")
	}
	for i, row := range rows {
		u := items[i]
		got := []any{}
		for _, v := range row {
			if _, text := v.(string); text {
				got = append(got, u.Text())
			} else {
				got = append(got, u.Int())
			}
		}
		if !reflect.DeepEqual(got, row) || u.Err() != nil || len(u.item) != 0 {
			t.Errorf("got %q, want %q (%v)", got, row, u.Err())
		}
		for range 3 {
			if n, s := u.Int(), u.Text(); n != 0 || s != "" || u.Err() == nil {
				t.Errorf("behind the end: %d %q %v", n, s, u.Err())
			}
		}
	}
}

// FuzzUnpack reads damaged blocks: what they have is an error or something else, and takes no more room than they do.
func FuzzUnpack(f *testing.F) {
	blocks := Pack([]Ended{{Run: Run{ID: "1a21af20b8000000a-0000000001"}, Details: Details{Left: []string{"a", "b"}}}, {Run: Run{ID: "1a21af20b8000000a-0000000002"}}})
	f.Add(blocks[0].heads, blocks[0].details, uint64(1))
	f.Fuzz(func(t *testing.T, heads, details []byte, seed uint64) {
		if len(heads) > 1 {
			r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // which byte is damaged
			heads = bytes.Clone(heads)
			heads[r.IntN(len(heads))] = byte(r.Uint32())
		}
		if runs, err := runsOf(heads); err == nil && len(runs) > len(heads)*1000 {
			t.Errorf("%d runs of %d bytes", len(runs), len(heads))
		}
		_, _ = without(heads, details, func(*Run) bool { return true })
		items, err := opened(details)
		if err != nil {
			return
		}
		for _, u := range items {
			_, _ = detailsOf(u)
		}
	})
}
