package importer_test

import (
	"bytes"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/importer"
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
