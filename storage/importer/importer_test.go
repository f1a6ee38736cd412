package importer_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/cluster"
	"catena/storage/importer"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

func TestTyped(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
	for _, c := range []struct{ name, typ, content, want string }{
		{"a.txt", "", "hello", "text/plain"},
		{"a.txt", "application/octet-stream", "hello", "text/plain"},
		{"a.txt", "application/x-own", "hello", "application/x-own"},
		{"a.png", "", png, "image/png"},
		{"picture", "", png, "image/png"},
		{"", "", "", "application/octet-stream"},
		{"a.unknown", "", "\x00\x01\x02\xff", "application/octet-stream"},
		{"A.PDF", "", "%PDF-1.4\n", "application/pdf"},
		{"a.md", "", "# T", "text/markdown"},
		{"ä\u0308.html", "", "<p>", "text/html"},
	} {
		b, err := importer.Typed(blob.FromBytes(c.name, c.typ, []byte(c.content)))
		if err != nil || b.Name != c.name || !strings.HasPrefix(b.Type, c.want) || b.Size != int64(len(c.content)) {
			t.Errorf("%q %q: %v, %v, want %s", c.name, c.typ, b, err, c.want)
		}
	}
}

// TestProps: text that a note can hold becomes one, whole; anything else keeps its bytes in a file.
func TestProps(t *testing.T) {
	w := storagetest.NewWorld(t)
	for _, c := range []struct {
		name, typ string
		content   []byte
		want      string
		note      string
	}{
		{"text", "text/plain", []byte("hello"), "Note", "hello"},
		{"empty", "text/plain", nil, "Note", ""},
		{"with a mark", "text/plain", []byte("\ufeffhello"), "Note", "hello"},
		{"with two marks", "text/plain", []byte("\ufeff\ufeffhello"), "Note", "\ufeffhello"},
		{"with a character set", "text/html; charset=utf-8", []byte("<p>ä</p>"), "Note", "<p>ä</p>"},
		{"XML", "application/xml", []byte("<a/>"), "Note", "<a/>"},
		{"XHTML", "application/xhtml+xml", []byte("<html/>"), "Note", "<html/>"},
		{"decomposed", "text/markdown", []byte("e\u0301 \u202eabc \U0001F600"), "Note", "e\u0301 \u202eabc \U0001F600"},
		{"of another encoding", "text/plain", []byte("caf\xe9"), "File", ""},
		{"of wide characters", "text/plain", []byte("\xff\xfeh\x00i\x00"), "File", ""},
		{"as long as a note may be", "text/plain", bytes.Repeat([]byte("x"), 899<<10-2), "Note", strings.Repeat("x", 899<<10-2)},
		{"longer", "text/plain", bytes.Repeat([]byte("x"), 899<<10-1), "File", ""},
		{"longer as JSON", "text/plain", bytes.Repeat([]byte("a\n"), 300<<10), "File", ""},
		{"control characters", "text/plain", bytes.Repeat([]byte("\x01"), 150<<10), "File", ""},
		{"far longer", "text/plain", bytes.Repeat([]byte("x"), storage.MaxNoteText+1), "File", ""},
		{"picture", "image/png", []byte("png"), "Picture", ""},
		{"drawing", "image/svg+xml", []byte("<svg/>"), "Picture", ""},
		{"film", "video/mp4", []byte("mp4"), "Video", ""},
		{"sound", "audio/mpeg", []byte("mp3"), "Audio", ""},
		{"almost a film", "videos/mp4", []byte("mp4"), "File", ""},
		{"almost a picture", "imagery/png", []byte("png"), "File", ""},
		{"JSON", "application/json", []byte("{}"), "File", ""},
		{"of no type", "", []byte("\x00\x01"), "File", ""},
		{"almost text", "textual/plain", []byte("x"), "File", ""},
	} {
		w.Write(w.System(), func(tx *storage.Tx) error {
			in := blob.FromBytes(c.name, c.typ, c.content)
			typ, props, err := importer.Props(tx, in)
			if err != nil {
				return err
			}
			text, isNote := props["note:note"].(string)
			if typ != c.want || isNote != (c.want == "Note") || text != c.note || !isNote && props["file:content"] != any(in) {
				t.Errorf("%s: %s, %.40q", c.name, typ, text)
			}
			root, err := tx.Root()
			if err != nil {
				return err
			}
			d, err := tx.Create(root, typ, c.name, props)
			if err != nil {
				t.Errorf("%s: cannot be kept: %v", c.name, err)
				return nil
			}
			if isNote {
				if got, err := d.Get("note:note"); err != nil || got != c.note && (c.note != "" || got != nil) {
					t.Errorf("%s: kept as %.40q, %v", c.name, got, err)
				}
			}
			return nil
		})
	}
}

// TestFind: a file that was imported before is found by its title, or by the name of its file if the title was changed.
func TestFind(t *testing.T) {
	w := storagetest.NewWorld(t)
	w.Write(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		folder, err := tx.Create(root, "Folder", "f", nil)
		if err != nil {
			return err
		}
		file := func(name string) storage.Props {
			return storage.Props{"dc:title": "renamed", "file:content": blob.FromBytes(name, "text/csv", []byte("x"))}
		}
		made := map[string]string{}
		for name, c := range map[string]struct {
			typ   string
			props storage.Props
		}{
			"titled": {"File", storage.Props{"dc:title": "a.csv"}}, "filed": {"File", file("b.csv")}, "note": {"Note", storage.Props{"dc:title": "a.csv"}},
			"trashed": {"File", storage.Props{"dc:title": "c.csv"}},
		} {
			d, err := tx.Create(folder, c.typ, name, c.props)
			if err != nil {
				return err
			}
			made[d.ID()] = name
			if name == "trashed" {
				if _, err := tx.SetTrashed(d, true); err != nil {
					return err
				}
			}
		}
		for _, c := range []struct{ typ, name, want string }{
			{"File", "a.csv", "titled"}, {"Note", "a.csv", "note"}, {"File", "b.csv", "filed"}, {"Note", "b.csv", ""}, {"File", "c.csv", ""}, {"File", "A.CSV", ""}, {"File", "", ""}, {"Picture", "a.csv", ""},
		} {
			d, err := importer.Find(tx, folder, c.typ, c.name)
			got := ""
			if d != nil {
				got = made[d.ID()]
			}
			if err != nil || got != c.want {
				t.Errorf("%s %q: %q, %v, want %q", c.typ, c.name, got, err, c.want)
			}
		}
		return nil
	})
}

// TestFindAmongMany: what is found is the first in the folder, whether it is called so by title or by file, and it is found without
// reading the others there, nor those of the same name elsewhere.
func TestFindAmongMany(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	r := storagetest.Open(t, func(c *storage.Config) {
		c.DB, c.Owners = kv.New(store, kv.Options{}), append(slices.Clip(c.Owners), cluster.Owner)
	})
	file := func(title, name string) storage.Props {
		props := storage.Props{"file:content": blob.FromBytes(name, "text/csv", []byte("x"))}
		if title != "" {
			props["dc:title"] = title
		}
		return props
	}
	note := func(title string) storage.Props {
		return storage.Props{"dc:title": title, "note:note": "x", "note:mime_type": "text/markdown"}
	}
	long := strings.Repeat("long ", 50)
	children := []struct {
		name, typ string
		props     storage.Props
	}{
		{"1", "File", file("renamed", "b.csv")},
		{"2", "File", file("b.csv", "other.csv")},
		{"3", "File", file("a.csv", "other.csv")},
		{"4", "File", file("renamed", "a.csv")},
		{"c.csv", "File", file("", "other.csv")},
		{"d.csv", "File", file("renamed", "d.csv")},
		{"5", "Note", note("e")},
		{"f", "Note", note("")},
		{"6", "Note", note("g.md")},
		{"7", "File", file("renamed", long+"1")},
		{"8", "File", file("renamed", long+"2")},
		{"9", "File", file("A.CSV", "B.CSV")},
		{"10", "Folder", storage.Props{"dc:title": "h"}},
	}
	fill := func(tx *storage.Tx, many int) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		folder, err := tx.Create(root, "Folder", "in", nil)
		for i := 0; i < len(children) && err == nil; i++ {
			_, err = tx.Create(folder, children[i].typ, children[i].name, children[i].props)
		}
		for i := range many {
			if err == nil {
				_, err = tx.Create(folder, "File", fmt.Sprint("x", i), file(fmt.Sprint("y", i), fmt.Sprint("z", i)))
			}
			var other *storage.Doc
			if err == nil {
				other, err = tx.Create(root, "Folder", fmt.Sprint("of", i), nil)
			}
			if err == nil {
				_, err = tx.Create(other, "File", "a.csv", file("", "a.csv"))
			}
			if err == nil {
				_, err = tx.Create(other, "File", "i", file("i.csv", "i.csv"))
			}
		}
		return err
	}
	if err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error { return fill(tx, 2000) }); err != nil {
		t.Fatal(err)
	}
	find := func(folder, typ, name string) (got string, rows int64) {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			f, err := tx.Doc(storage.Ref(folder))
			if err != nil {
				return err
			}
			store.Reset()
			d, err := importer.Find(tx, f, typ, name)
			if rows = store.Keys.Load() + store.Rows.Load(); d != nil {
				got = d.Name()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, rows
	}
	check := func(most int64) {
		t.Helper()
		for _, c := range []struct{ folder, typ, name, want string }{
			{"/in", "File", "b.csv", "1"},
			{"/in", "File", "a.csv", "3"},
			{"/in", "File", "c.csv", "c.csv"},
			{"/in", "File", "d.csv", "d.csv"},
			{"/in", "Note", "e.md", "5"},
			{"/in", "Note", "e", "5"},
			{"/in", "Note", "e.txt", ""},
			{"/in", "Note", "f.md", "f"},
			{"/in", "Note", "g.md", "6"},
			{"/in", "File", long + "2", "8"},
			{"/in", "File", long + "3", ""},
			{"/in", "File", "A.CSV", "9"},
			{"/in", "File", "B.CSV", "9"},
			{"/in", "File", "z1999", "x1999"},
			{"/in", "Folder", "h", "10"},
			{"/in", "Folder", "a.csv", ""},
			{"/in", "File", "i", ""},
			{"/of7", "File", "a.csv", "a.csv"},
			{"/of7", "File", "i.csv", "i"},
		} {
			if got, rows := find(c.folder, c.typ, c.name); got != c.want || rows > most {
				t.Errorf("%s: %s %.10q: %q, %d rows, want %q", c.folder, c.typ, c.name, got, rows, c.want)
			}
		}
	}
	check(700)
	// While a server of an older version is there, which writes no rows of the names of files, all are read.
	if err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error { return tx.Table("node").Put("b", cluster.Node{ID: "b"}) }); err != nil {
		t.Fatal(err)
	}
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, rows := find("/in", "File", "z1999"); rows < 2000 {
		t.Errorf("%d rows: an index is used of which rows may be missing", rows)
	}
	check(1 << 20)
}
