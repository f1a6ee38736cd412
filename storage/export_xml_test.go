package storage_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/archive"
	"catena/storage/blob"
)

func TestExportXML(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Workspace", nil)
	w.make("/ws/a.txt", "File", storage.Props{
		"dc:title": `One & <two> "three"` + "\x01", "dc:subjects": []string{"art", "music"},
		"file:content": blob.FromBytes("a.txt", "text/plain", []byte("hello")),
		"files:files":  []any{map[string]any{"file": blob.FromBytes("b.txt", "text/plain", []byte("more"))}},
	})
	var text []byte
	w.view(user("bob"), func(tx *storage.Tx) (err error) {
		text, err = archive.ExportXML(tx, must(tx.Doc("/ws/a.txt"))(t))
		return err
	})
	var got struct {
		XMLName    xml.Name `xml:"document"`
		Repository string   `xml:"repository,attr"`
		ID         string   `xml:"id,attr"`
		System     struct {
			Type   string   `xml:"type"`
			Path   string   `xml:"path"`
			State  string   `xml:"lifecycle-state"`
			Policy string   `xml:"lifecycle-policy"`
			Facets []string `xml:"facet"`
			Access struct {
				Lists []struct {
					Name    string `xml:"name,attr"`
					Entries []struct {
						Who   string `xml:"principal,attr"`
						What  string `xml:"permission,attr"`
						Grant bool   `xml:"grant,attr"`
					} `xml:"entry"`
				} `xml:"acl"`
			} `xml:"access-control"`
		} `xml:"system"`
		Schemas []struct {
			Name     string   `xml:"name,attr"`
			Title    string   `xml:"title"`
			Created  string   `xml:"created"`
			Subjects []string `xml:"subjects>item"`
			Files    []string `xml:"files>item>file>data"`
			Main     string   `xml:"content>filename"`
		} `xml:"schema"`
	}
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !strings.HasPrefix(string(text), `<?xml version="1.0" encoding="UTF-8"?>`) || got.Repository != "default" || len(got.ID) != 36 {
		t.Errorf("head: %.200s", text)
	}
	s := got.System
	if s.Type != "File" || s.Path != "ws/a.txt" || s.State != "project" || s.Policy != "default" || !slices.Contains(s.Facets, "Versionable") {
		t.Errorf("system: %+v", s)
	}
	if len(s.Access.Lists) != 1 || s.Access.Lists[0].Name != "inherited" || s.Access.Lists[0].Entries[1].Who != "members" {
		t.Errorf("access: %+v", s.Access)
	}
	var seen []string
	for _, sc := range got.Schemas {
		switch sc.Name {
		case "dublincore":
			seen = append(seen, sc.Title, sc.Created, strings.Join(sc.Subjects, "+"))
		case "file":
			seen = append(seen, sc.Main)
		case "files":
			seen = append(seen, sc.Files[0][64:])
		}
	}
	if s := strings.Join(seen, "|"); s != "One & <two> \"three\"\uFFFD|2026-03-01T12:00:00.000Z|art+music|a.txt|.blob" {
		t.Errorf("properties: %q\n%s", s, text)
	}
}

func TestExportZip(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Workspace", nil)
	w.make("/ws/a", "File", storage.Props{"file:content": blob.FromBytes("a.txt", "text/plain", []byte("hello"))})
	w.make("/ws/secret", "File", nil)
	w.grant("/ws/secret", "-Everyone:Everything")
	entries := func(deep bool) (names []string) {
		var b []byte
		w.view(user("bob"), func(tx *storage.Tx) error {
			archive, err := archive.ExportZip(tx, must(tx.Doc("/ws"))(t), deep)
			if err == nil {
				b, err = archive.Bytes(0)
			}
			return err
		})
		r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			name := f.Name
			if at := strings.Index(name, ".blob"); at > 64 {
				rc := must(f.Open())(t)
				name = name[:at-64] + "=" + string(must(io.ReadAll(rc))(t))
			}
			names = append(names, name)
		}
		return names
	}
	if got := entries(false); strings.Join(got, " ") != "ws/document.xml" {
		t.Errorf("alone: %v", got)
	}
	if got := entries(true); strings.Join(got, " ") != "ws/document.xml ws/a/document.xml ws/a/=hello" {
		t.Errorf("tree: %v", got)
	}
}
