package storage

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"testing"
	"time"

	"catena/storage/internal/layout"
	"catena/storage/schema"

	"github.com/google/uuid"
)

func typed(t testing.TB) *catalog {
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return newCatalog(&Repo{name: "default"}, Declared{Types: types}, 0, nil)
}

func sample(t testing.TB, r *catalog) *Doc {
	d, err := (&Tx{session: &session{repo: r}}).NewDoc("File")
	if err != nil {
		t.Fatal(err)
	}
	err = cmp.Or(d.AddFacet("HiddenInNavigation"), d.setAll(Props{
		"dc:title": "T \"quoted\" ✓", "dc:subjects": []string{"a", "b,]}"}, "dc:created": "2024-05-02T10:15:30.123Z",
		"file:content": map[string]any{"data": "text", "name": "a.txt"},
		"files:files":  `[{"file":{"data":"x","name":"\\\"b\""}}]`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	d.lockOwner, d.lockSince = "bob", time.UnixMilli(1).UTC()
	d.series, d.target = layout.ID{1}, layout.ID{2}
	d.major, d.minor, d.system, d.user = 3, -1, 1<<40, 7
	d.archived = time.UnixMilli(5).UTC()
	for i := range d.blocks {
		if err := d.blocks[i].store(r); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestRecordRoundTrip(t *testing.T) {
	r := typed(t)
	d := sample(t, r)
	b := d.record.append(nil)
	rec, err := r.parseRecord(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := rec.append(nil); !bytes.Equal(again, b) {
		t.Errorf("got\n%q\nwant\n%q", again, b)
	}
	if rec.lockOwner != "bob" || rec.major != 3 || rec.minor != -1 || rec.system != 1<<40 || rec.user != 7 || rec.target != d.target || !rec.archived.Equal(d.archived) {
		t.Errorf("system fields: %+v", rec)
	}
	for n := range b {
		if _, err := r.parseRecord(b[:n]); err == nil {
			t.Fatalf("a record cut at %d of %d is read", n, len(b))
		}
	}
}

// TestRecordOfOtherShape reads records whose schemas were declared differently.
func TestRecordOfOtherShape(t *testing.T) {
	r := typed(t)
	d := sample(t, r)
	for i := range d.blocks {
		if d.blocks[i].shape.Name == "dublincore" {
			other := *d.blocks[i].shape
			other.hash++
			d.blocks[i].shape = &other
			d.blocks[i].raw = []byte(`"dc:gone":[{"a":"]"}],"dc:rights":"R","dc:title":"moved"`)
		}
	}
	d.blocks[0], d.blocks[1] = d.blocks[1], d.blocks[0]
	rec, err := r.parseRecord(d.record.append(nil))
	if err != nil {
		t.Fatal(err)
	}
	got := &Doc{repo: r, record: rec}
	for xpath, want := range map[string]any{"dc:title": "moved", "dc:rights": "R", "dc:creator": nil} {
		if v, err := got.Get(xpath); v != want || err != nil {
			t.Errorf("%s: got %v, want %v: %v", xpath, v, want, err)
		}
	}
	text := string(got.AppendProperties(nil, func(s string) bool { return s == "dublincore" }, nil))
	if !bytes.HasPrefix([]byte(text), []byte(`"dc:title":"moved","dc:description":null`)) {
		t.Errorf("properties: %s", text)
	}
}

func TestKeysKeepOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		a, b := int64(rnd.Uint64()), int64(rnd.Uint64())
		x, y := layout.ChildPositionKey(layout.None, a, layout.None), layout.ChildPositionKey(layout.None, b, layout.None)
		if (a < b) != (bytes.Compare(x, y) < 0) {
			t.Fatalf("positions %d and %d are out of order", a, b)
		}
		if p, _ := layout.PositionAndID(x); p != a {
			t.Fatalf("position %d reads back as %d", a, p)
		}
		id := layout.ID(uuid.New())
		if back, ok := layout.ParseID(id.String()); !ok || back != id {
			t.Fatalf("id %s reads back as %s", id, back)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	r := typed(f)
	b := sample(f, r).record.append(nil)
	f.Add(b)
	f.Add(b[:40])
	f.Add(bytes.Replace(b, []byte(`"dc:title"`), []byte(`"dc:title `), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := r.parseRecord(b)
		if err != nil {
			return
		}
		for i := range rec.blocks {
			for j := range rec.blocks[i].shape.Fields {
				rec.blocks[i].member(j)
				if _, err := rec.blocks[i].shape.Fields[j].ParseJSON(rec.blocks[i].member(j)); err != nil {
					continue
				}
			}
		}
		if len(rec.append(nil)) == 0 {
			t.Fatal("nothing written")
		}
	})
}

func FuzzParseID(f *testing.F) {
	f.Add("5f1c0a8e-2b0e-4f0f-9f0e-5a5b8e4a6d11")
	f.Add("5F1C0A8E-2B0E-4F0F-9F0E-5A5B8E4A6D11")
	f.Add("5f1c0a8e-2b0e-4f0f-9f0e-5a5b8e4a6d1-")
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := layout.ParseID(s)
		want, err := uuid.Parse(s)
		if ok != (err == nil && len(s) == 36) || ok && id != layout.ID(want) {
			t.Fatalf("%q: got %t %s, want %v %v", s, ok, id, want, err)
		}
	})
}
