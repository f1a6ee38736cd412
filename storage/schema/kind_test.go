package schema

import (
	"reflect"
	"testing"
	"time"

	"catena/storage/blob"
)

// TestKinds takes a value of every kind through all that has to know the kinds: its name in a declaration, the coercion
// of what clients send, and the JSON form in rows.
func TestKinds(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	samples := map[Kind]struct{ sent, held any }{
		String:  {"a", "a"},
		Integer: {"7", int64(7)},
		Long:    {float64(1 << 40), int64(1 << 40)},
		Double:  {"0.5", 0.5},
		Boolean: {"true", true},
		Date:    {"2026-03-01T12:00:00Z", day},
		Blob:    {blob.FromBytes("a.txt", "text/plain", []byte("x")), nil},
		Complex: {map[string]any{"part": "x"}, map[string]any{"part": "x"}},
	}
	if len(samples) != len(kinds) {
		t.Fatalf("%d samples of %d kinds", len(samples), len(kinds))
	}
	for k, sample := range samples {
		t.Run(k.String(), func(t *testing.T) {
			if got, ok := kindNamed(k.String()); !ok || got != k {
				t.Errorf("%q is the name of %v, %v", k, got, ok)
			}
			if k.Number() && !k.Scalar() {
				t.Error("a number that is not a scalar")
			}
			f := &Field{Name: "x", Key: "x", Kind: k, Fields: []*Field{{Name: "part", Key: "x/part"}}}
			v, err := f.Coerce(sample.sent)
			if err != nil {
				t.Fatal(err)
			}
			if sample.held == nil {
				sample.held = v
			}
			if !reflect.DeepEqual(v, sample.held) {
				t.Errorf("coerced to %#v, want %#v", v, sample.held)
			}
			if _, err := f.Coerce(struct{ odd bool }{}); err == nil {
				t.Error("a value of an unknown Go type was taken")
			}
			raw := f.AppendJSON(nil, v, nil)
			if back, err := f.ParseJSON(raw); err != nil || !reflect.DeepEqual(back, v) && k != Blob {
				t.Errorf("%s is read as %#v %v", raw, back, err)
			}
		})
	}
}
