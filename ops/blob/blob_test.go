package blob

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/engine"
	"catena/engine/pdf"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

func text(name, content string) *storage.Blob {
	return blob.FromBytes(name, "text/plain", []byte(content))
}

func TestEntryNames(t *testing.T) {
	given := []string{"a", "a", "a", "renamed_1_a", "dir/a", `C:\b`, "..", "", "x/"}
	want := []string{"a", "renamed_1_a", "renamed_2_a", "renamed_3_renamed_1_a", "renamed_4_a", "b", "untitled", "renamed_5_untitled", "renamed_6_untitled"}
	var all entries
	for _, name := range given {
		if err := all.add("", text(name, name)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(all.names, want) {
		t.Errorf("got %q, want %q", all.names, want)
	}
}

// TestContainerNames packs a collection of two folders of one name, whose files have one name, too.
func TestContainerNames(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		shelf := w.Make(c, "/", "Collection", "shelf", nil)
		for _, up := range []string{"a", "b"} {
			w.Make(c, "/", "Folder", up, nil)
			folder := w.Make(c, storage.Ref("/"+up), "Folder", "same", nil)
			w.Make(c, folder.Ref(), "File", "file", storage.Props{"dc:title": "1", "file:content": text("x.txt", up)})
			inner := w.Make(c, folder.Ref(), "Folder", "x.txt", storage.Props{"dc:title": "2"})
			w.Make(c, inner.Ref(), "File", "file", storage.Props{"file:content": text("x.txt", up)})
			if err := cmp.Or(folder.AddFacet("CollectionMember"), folder.Set("collectionMember:collectionIds", []string{shelf.ID()})); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Tx.Save(folder, storage.SaveOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := containerParams{Limit: 10, Depth: 3}.run(c, shelf)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"same/x.txt 1", "same/renamed_1_x.txt/x.txt 1", "renamed_2_same/x.txt 1", "renamed_2_same/renamed_3_x.txt/x.txt 1"}
		if got := listing(t, b); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return nil
	})
}

func TestCreateZip(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		big := strings.Repeat("line\n", 100_000)
		b, err := createZipParams{}.blobs(c, storage.Blobs{text("a.txt", "one"), text("b.txt", big)})
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != "a.txt" || b.Type != "application/zip" {
			t.Errorf("got %s of type %s", b.Name, b.Type)
		}
		if got := listing(t, b); !slices.Equal(got, []string{"a.txt 3", "b.txt 500000"}) {
			t.Errorf("got %q", got)
		}
		again, err := createZipParams{}.blobs(c, storage.Blobs{text("a.txt", "one"), text("b.txt", big)})
		if err != nil || again.Digest != b.Digest {
			t.Errorf("a second archive of the same differs: %v", err)
		}
		return nil
	})
}

// listing is the names and sizes of what is in an archive.
func listing(t *testing.T, b *storage.Blob) (all []string) {
	t.Helper()
	data, err := b.Bytes(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		all = append(all, fmt.Sprint(f.Name, " ", f.UncompressedSize64))
	}
	return all
}

func onePage() *storage.Blob {
	var out bytes.Buffer
	page := `{"paper":"A4","pages":{"1":{"content":{"text":[{"value":"Hello","pos":[100,100],"font":{"name":"Helvetica","size":12}}]}}}}`
	if err := api.Create(nil, strings.NewReader(page), &out, pdf.Settings()); err != nil {
		panic(err)
	}
	return blob.FromBytes("a.pdf", "application/pdf", out.Bytes())
}

func TestConcatenatePDFs(t *testing.T) {
	a := onePage()
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		p := concatenateParams{Filename: "all.pdf"}
		if same, err := p.blob(c, a); err != nil || same != a {
			t.Errorf("single: got %v, %v", same, err)
		}
		c.Vars["cover"] = a
		p.Variable = "cover"
		joined, err := p.blobs(c, storage.Blobs{a, a})
		if err != nil {
			t.Fatal(err)
		}
		data, err := joined.Bytes(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := api.PageCount(bytes.NewReader(data), pdf.Settings())
		if err != nil || pages != 3 || joined.Name != "all.pdf" || joined.Type != "application/pdf" {
			t.Errorf("got %d pages, %s, %s, %v", pages, joined.Name, joined.Type, err)
		}
		return nil
	})
}

func TestConcatenateRefuses(t *testing.T) {
	a := onePage()
	pdf := func(data string) *storage.Blob { return blob.FromBytes("x.pdf", "application/pdf", []byte(data)) }
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		c.Vars["word"] = "x"
		tests := []struct {
			p     concatenateParams
			files storage.Blobs
		}{
			{concatenateParams{}, nil},
			{concatenateParams{}, storage.Blobs{a, text("a.txt", "x")}},
			{concatenateParams{Variable: "none"}, storage.Blobs{a}},
			{concatenateParams{Variable: "word"}, storage.Blobs{a}},
			{concatenateParams{}, storage.Blobs{a, pdf("")}},
			{concatenateParams{}, storage.Blobs{pdf("%PDF-1.7 nothing"), a}},
			{concatenateParams{}, storage.Blobs{pdf(strings.Repeat("[", 1<<20)), a}},
		}
		for i, test := range tests {
			if _, err := test.p.blobs(c, test.files); fault.Of(err) != fault.Invalid {
				t.Errorf("case %d: got %v, want invalid", i, err)
			}
		}
		return nil
	})
}

func TestImport(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Folder", "desk", nil)
		c.Vars["currentDocument"] = "/desk"
		tests := []struct {
			b        *storage.Blob
			typ, src string
		}{
			{text("a.txt", "Hello"), "Note", "note:note"},
			{text("b.md", "\xff\xfe"), "File", "file:content"},
			{blob.FromBytes("c.html", "text/html", []byte("<p>")), "Note", "note:note"},
			{blob.FromBytes("c.xml", "application/xml", []byte("<p/>")), "Note", "note:note"},
			{blob.FromBytes("d.png", "image/png", []byte("x")), "Picture", "file:content"},
			{blob.FromBytes("e.bin", "application/octet-stream", []byte{1, 2, 3}), "File", "file:content"},
			{text("long.txt", strings.Repeat("x", 1<<20+1)), "File", "file:content"},
			{text(`C:\docs\f.txt`, "x"), "Note", "note:note"},
		}
		for _, test := range tests {
			d, err := importParams{}.run(c, test.b)
			if err != nil {
				t.Fatalf("%s: %v", test.b.Name, err)
			}
			v, err := d.Get(test.src)
			if d.Type().Name != test.typ || d.Title() != baseName(test.b.Name) || v == nil || err != nil {
				t.Errorf("%s: got %s %q, %v, %v", test.b.Name, d.Type().Name, d.Title(), v, err)
			}
		}
		return nil
	})
}

func TestImportOver(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Folder", "desk", nil)
		w.Make(c, "/desk", "Folder", "a.bin", storage.Props{"dc:title": "a.bin"})
		c.Vars["currentDocument"] = w.Doc(c, "/desk")
		first, err := importParams{}.run(c, blob.FromBytes("a.bin", "", []byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		second, err := importParams{Overwrite: true}.run(c, blob.FromBytes("a.bin", "", []byte{1, 2}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := second.MainBlob()
		if first.ID() != second.ID() || err != nil || b.Size != 2 || second.Type().Name != "File" {
			t.Errorf("got %s %s, %v, %v", second.Type().Name, second.Path(), b, err)
		}
		return nil
	})
	for _, container := range []any{nil, "", 7} {
		err := w.Try("Administrator", func(c *engine.Ctx) error {
			c.Vars["currentDocument"] = container
			_, err := importParams{}.run(c, text("a.txt", "x"))
			return err
		})
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%v: got %v, want invalid", container, err)
		}
	}
	err := w.Try("bob", func(c *engine.Ctx) error {
		c.Vars["currentDocument"] = "/"
		_, err := importParams{}.run(c, text("a.txt", "x"))
		return err
	})
	if fault.Of(err) != fault.Denied {
		t.Errorf("got %v, want denied", err)
	}
}

func TestAttachAndRemove(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "File", "a", nil)
		p := attachParams{Document: "/a", Save: true, Xpath: "file:content"}
		if _, err := p.blobs(c, storage.Blobs{text("1", "1"), text("2", "2")}); err != nil {
			t.Fatal(err)
		}
		p.Xpath = "files:files"
		if _, err := p.blobs(c, storage.Blobs{text("3", "3"), text("4", "4"), text("5", "5")}); err != nil {
			t.Fatal(err)
		}
		steps := []struct{ xpath, want string }{
			{"", "2 3 4 5"},
			{"files:files/1", "2 3 5"},
			{"files:files/0/file", "2 5"},
			{"blobholder:0", "5"},
			{"blobholder:2", ""},
			{"files:files", ""},
		}
		for _, s := range steps {
			if s.xpath != "" {
				if _, err := (removeParams{Save: true, Xpath: s.xpath}).run(c, w.Doc(c, "/a")); err != nil {
					t.Fatalf("%s: %v", s.xpath, err)
				}
			}
			all, err := w.Doc(c, "/a").AllBlobs()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range all {
				got = append(got, b.Name)
			}
			if strings.Join(got, " ") != s.want {
				t.Errorf("after %s: got %q, want %q", s.xpath, got, s.want)
			}
		}
		return nil
	})
}
