package property

import (
	"fmt"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

func TestRemoveEntry(t *testing.T) {
	tests := []struct {
		value any
		all   bool
		want  string
	}{
		{"art", true, "[music sport]"},
		{"art", false, "[music art sport]"},
		{"none", true, "[art music art sport]"},
		{"", true, "[art music art sport]"},
	}
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		for _, test := range tests {
			d := w.Make(c, "/", "File", "a", storage.Props{"dc:subjects": "art,music,art,sport"})
			d, err := removeEntryParams{Value: test.value, Xpath: "dc:subjects", All: test.all, Save: true}.run(c, d)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := d.Get("dc:subjects"); fmt.Sprint(got) != test.want {
				t.Errorf("%+v: got %v", test, got)
			}
		}
		for _, xpath := range []string{"dc:title", "files:files", "dc:nope", "file:content"} {
			_, err := removeEntryParams{Value: "x", Xpath: xpath}.run(c, w.Doc(c, "/"))
			if fault.Of(err) != fault.Invalid {
				t.Errorf("%s: got %v, want invalid", xpath, err)
			}
		}
		return nil
	})
}

func TestSetBlobInLists(t *testing.T) {
	w := opstest.New(t)
	file := func(name string) *storage.Blob { return blob.FromBytes(name, "text/plain", []byte(name)) }
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "File", "a", nil)
		for _, name := range []string{"one", "two"} {
			if _, err := (setBlobParams{File: file(name), Xpath: "files:files", Save: true}).run(c, d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := (setBlobParams{File: file("three"), Xpath: "files:files/0/file", Save: true}).run(c, d); err != nil {
			t.Fatal(err)
		}
		found, err := getBlobsByPropertyParams{Xpath: "files:files"}.run(c, w.Doc(c, "/a"))
		if err != nil || len(found) != 2 || found[0].Name != "three" || found[1].Name != "two" {
			t.Errorf("got %v, %v", found, err)
		}
		b, err := getBlobParams{Xpath: "file:content"}.run(c, w.Doc(c, "/a"))
		if err != nil || b.Name != "a.null" {
			t.Errorf("got %v, %v", b, err)
		}
		for _, xpath := range []string{"dc:title", "file:nope"} {
			if err := w.Doc(c, "/a").AttachBlob(xpath, file("x")); fault.Of(err) != fault.Invalid {
				t.Errorf("%s: got %v, want invalid", xpath, err)
			}
		}
		return nil
	})
}
