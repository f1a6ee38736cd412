package entity_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage"
	"catena/storage/schema"
)

// A document leaves the store as the bytes that it was stored as. They are the same as those that its values give: every
// property is set to what it is, so that it has to be encoded anew.
func TestStoredBytesAreThoseOfValues(t *testing.T) {
	repo := world(t)
	r := rand.New(rand.NewPCG(17, 5))
	update(t, repo, func(c *engine.Ctx) error {
		desk, err := c.Tx.Doc("/desk")
		if err != nil {
			return err
		}
		for i := range 120 {
			typ := []string{"File", "Note", "Folder", "Picture", "Workspace"}[r.IntN(5)]
			props := storage.Props{}
			types := repo.Types()
			declared, _ := types.Type(typ)
			for _, s := range declared.Schemas {
				for _, f := range s.Fields {
					if s.Name != "uid" && r.IntN(2) == 0 {
						props[f.Key] = anyOf(r, f)
					}
				}
			}
			made, err := c.Tx.Create(desk, typ, fmt.Sprint("n", i), props)
			if err != nil {
				t.Fatalf("%s %v: %v", typ, props, err)
			}
			if r.IntN(3) == 0 {
				if err := made.AddFacet("NXTag"); err != nil {
					return err
				}
				if made, err = c.Tx.Save(made, storage.SaveOptions{}); err != nil {
					return err
				}
			}
			compareForms(t, c, r, made)
		}
		return nil
	})
}

func compareForms(t *testing.T, c *engine.Ctx, r *rand.Rand, made *storage.Doc) {
	t.Helper()
	stored, err := c.Tx.Reload(made)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := c.Tx.Reload(made)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range encoded.Schemas() {
		for _, f := range s.Fields {
			v, err := encoded.Get(f.Key)
			if err == nil && v != nil {
				err = encoded.Set(f.Key, v)
			}
			if err != nil {
				t.Fatalf("%s: %v", f.Key, err)
			}
		}
	}
	o := &entity.Options{Base: "http://h/nuxeo", Properties: [][]string{nil, {"*"}, {"dublincore"}, {"file", "common"}, {"nope", "dublincore"}}[r.IntN(5)]}
	if r.IntN(3) == 0 {
		o.Fetch = map[string][]string{"document": {[]string{"properties", "versionLabel", "dc:creator"}[r.IntN(3)]}}
	}
	got, err := entity.Append(nil, c, storage.Docs{stored, encoded, stored}, o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := entity.Append(nil, c, storage.Docs{encoded, stored, encoded}, o)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Fatalf("%s, options %+v:\ngot  %s\nwant %s", stored.Path(), o, got, want)
	}
}

// anyOf is a random value of a field, with what is hard to write: quotes, controls, other scripts, limits of numbers.
func anyOf(r *rand.Rand, f *schema.Field) any {
	if f.List {
		one := *f
		one.List = false
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = anyOf(r, &one)
		}
		return list
	}
	switch f.Kind {
	case schema.Integer:
		return []int64{0, 7, math.MaxInt32}[r.IntN(3)] // some have a least value of 0
	case schema.Long:
		return []int64{0, math.MinInt64, math.MaxInt64, r.Int64()}[r.IntN(4)]
	case schema.Double:
		return []float64{0, -0.5, 1e300, 1e-9, r.Float64()}[r.IntN(5)]
	case schema.Boolean:
		return r.IntN(2) == 0
	case schema.Date:
		return time.UnixMilli(r.Int64N(4e12)).UTC()
	case schema.Blob:
		return engine.NewBlob("a \"é\"/b.txt", "text/plain", []byte(fmt.Sprint(r.IntN(3))))
	case schema.Complex:
		parts := map[string]any{}
		for _, sub := range f.Fields {
			if r.IntN(3) > 0 {
				parts[sub.Name] = anyOf(r, sub)
			}
		}
		return parts
	case schema.String:
	}
	return []string{"", "a", `"\/<&>`, "tab\tnew\nline\x01", "Zürich 東京 \U0001f600", "null", "[]", "Administrator"}[r.IntN(8)]
}

// A list says of each file where it is, with one function for all documents.
func TestFilesOfAList(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		a, err := c.Tx.Doc("/desk/a")
		if err != nil {
			return err
		}
		b, err := c.Tx.Copy(a, must(c.Tx.Root()), "b")
		if err != nil {
			return err
		}
		o := &entity.Options{Base: "http://h", Properties: []string{"file"}}
		for _, d := range []*storage.Doc{a, b} {
			props := parse(t, c, storage.Docs{a, b, d}, o)["entries"].([]any)[2].(map[string]any)["properties"].(map[string]any)
			want := "http://h/nxfile/default/" + d.ID() + "/file:content/%C3%A4%20b.txt?changeToken=" + d.ChangeToken()
			if got := props["file:content"].(map[string]any)["data"]; got != want {
				t.Errorf("got %v, want %s", got, want)
			}
		}
		return nil
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The title is the name where none is set, and text that looks like JSON stays text.
func TestTitles(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		for i, title := range []any{nil, "", "null", "[]", `""`, "a\n\"b\"", "東京"} {
			made, err := c.Tx.Create(must(c.Tx.Root()), "File", fmt.Sprint("t", i), storage.Props{"dc:title": title})
			if err != nil {
				return err
			}
			stored := must(c.Tx.Reload(made))
			if got := parse(t, c, stored, nil)["title"]; got != made.Title() || got != stored.Title() {
				t.Errorf("%v: got %v, want %s", title, got, made.Title())
			}
			if err := stored.Set("dc:title", "other"); err != nil {
				return err
			}
			if got := parse(t, c, stored, nil)["title"]; got != "other" {
				t.Errorf("set and not stored: got %v", got)
			}
			if err := stored.Set("dc:modified", nil); err != nil {
				return err
			}
			if got, there := parse(t, c, stored, nil)["lastModified"]; there {
				t.Errorf("lastModified: got %v", got)
			}
		}
		return nil
	})
}
