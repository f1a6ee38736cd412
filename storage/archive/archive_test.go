package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/archive"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// make creates documents at paths, all of one type.
func create(w *storagetest.World, typ string, paths ...string) {
	w.Write(w.System(), func(tx *storage.Tx) error {
		for _, path := range paths {
			at := strings.LastIndexByte(path, '/')
			parent, err := tx.Doc(storage.Ref(path[:max(1, at)]))
			if err != nil {
				return err
			}
			if _, err := tx.Create(parent, typ, path[at+1:], nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func entries(t *testing.T, b *storage.Blob) (names []string) {
	t.Helper()
	content, err := b.Bytes(0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names
}

// TestEntryNames: every document has an entry of its own, none leads out of the archive, and names that become one, or that
// differ in case only, are told apart.
func TestEntryNames(t *testing.T) {
	w := storagetest.NewWorld(t)
	create(w, "Folder", "/top", `/top/a\b`, "/top/a-b", "/top/A-B", "/top/...", `/top/..\..\etc`, "/top/ä", "/top/a\u0308", "/top/\u202egpj.exe", `/top/a\b/inner`, "/top/a-b/inner")
	var got []string
	w.Read(w.System(), func(tx *storage.Tx) error {
		top, err := tx.Doc("/top")
		if err != nil {
			return err
		}
		b, err := archive.ExportZip(tx, top, true)
		if err == nil {
			got = entries(t, b)
		}
		return err
	})
	if len(got) != 11 {
		t.Errorf("%d entries: %q", len(got), got)
	}
	seen := map[string]bool{}
	for _, name := range got {
		folded := strings.ToLower(name)
		if seen[folded] || !strings.HasPrefix(name, "top/") || strings.Contains(name, `\`) || slices.Contains(strings.Split(name, "/"), "..") {
			t.Errorf("entry %q", name)
		}
		seen[folded] = true
	}
	for _, want := range []string{"top/document.xml", "top/a-b/document.xml", "top/..-..-etc/document.xml"} {
		if !seen[want] {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
}

// TestRoot: the root has no name, and its archive a folder all the same.
func TestRoot(t *testing.T) {
	w := storagetest.NewWorld(t)
	w.Read(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		b, err := archive.ExportZip(tx, root, false)
		if err == nil {
			if got := entries(t, b); !slices.Equal(got, []string{"root/document.xml"}) || b.Name != "export.zip" || b.Type != "application/zip" {
				t.Errorf("%v: %v", b, got)
			}
		}
		return err
	})
}

// TestLimit: as many documents as may be copied may be exported.
func TestLimit(t *testing.T) {
	repo := storagetest.Open(t, func(c *storage.Config) { c.Limits.TreeCopy = 3 })
	if err := repo.Update(t.Context(), repo.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		top, err := tx.Create(root, "Folder", "top", nil)
		for n := 0; err == nil && n < 3; n++ {
			b, problem := archive.ExportZip(tx, top, true)
			if problem != nil || len(entries(t, b)) != n+1 {
				t.Errorf("%d documents: %v", n+1, problem)
			}
			_, err = tx.Create(top, "File", "", nil)
		}
		if _, problem := archive.ExportZip(tx, top, true); !fault.Is(problem, fault.Limit) {
			t.Errorf("4 documents: %v", problem)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestWriter: whatever ends the making of an archive ends the reading of it, with its reason.
func TestWriter(t *testing.T) {
	w := storagetest.NewWorld(t)
	meant := errors.New("meant")
	for _, c := range []struct {
		name string
		fill func(a *archive.Writer) error
		want string
	}{
		{"nothing", func(*archive.Writer) error { return nil }, ""},
		{"entries", func(a *archive.Writer) error { return a.Add("a/b.txt", strings.NewReader("x")) }, "a/b.txt"},
		{"failure", func(a *archive.Writer) error { _ = a.Add("a", strings.NewReader("x")); return meant }, "!meant"},
		{"panic", func(*archive.Writer) error { panic("at the disco") }, "!at the disco"},
		{"a reader that fails", func(a *archive.Writer) error {
			return a.Add("a", io.MultiReader(strings.NewReader("x"), failing{meant}))
		}, "!meant"},
		{"a file", func(a *archive.Writer) error { return a.AddBlob("c", blob.FromBytes("n", "", []byte("y"))) }, "c"},
		{"a file that is gone", func(a *archive.Writer) error { return a.AddBlob("c", &blob.Blob{Name: "n", Digest: "00", Size: 1}) }, "!"},
	} {
		w.Read(w.System(), func(tx *storage.Tx) error {
			b, err := archive.New(tx, "x.zip", c.fill)
			want, fails := strings.CutPrefix(c.want, "!")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %v", c.name, err)
			case !fails && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case !fails && strings.Join(entries(t, b), " ") != want:
				t.Errorf("%s: %v", c.name, entries(t, b))
			}
			return nil
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := w.View(ctx, w.System(), func(tx *storage.Tx) error {
		_, err := archive.New(tx, "x.zip", func(a *archive.Writer) error { cancel(); return a.Add("a", strings.NewReader("x")) })
		return err
	})
	if err == nil {
		t.Error("the call has ended, and its archive was made")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestXMLText: what a reader of XML gets back is what the document has, except for what XML cannot say.
func TestXMLText(t *testing.T) {
	w := storagetest.NewWorld(t)
	for text, want := range map[string]string{
		"plain": "plain", "<a>&'\"": "<a>&'\"", "]]>": "]]>", " a\tb\nc ": " a\tb\nc ", "\u202eabc": "\u202eabc", "e\u0301": "e\u0301", "\U0001F600": "\U0001F600", "a\x0bb": "a\uFFFDb",
		"\uFFFE": "\uFFFD", "a\rb": "a\rb",
	} {
		var b []byte
		w.Write(w.System(), func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err != nil {
				return err
			}
			d, err := tx.Create(root, "File", "", storage.Props{"dc:title": text, "dc:subjects": []string{text, ""}, "dc:description": nil})
			if err == nil {
				b, err = archive.ExportXML(tx, d)
			}
			return err
		})
		var got struct {
			Titles   []string `xml:"schema>title"`
			Subjects []string `xml:"schema>subjects>item"`
			Nothing  []string `xml:"schema>description"`
		}
		if err := xml.Unmarshal(b, &got); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !slices.Equal(got.Titles, []string{want}) || !slices.Equal(got.Subjects, []string{want, ""}) || !slices.Equal(got.Nothing, []string{""}) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
