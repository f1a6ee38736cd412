package bulk_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// TestTable exports documents to a table: anyone who asked gets the file, nobody else, and only what
// they may read is in it.
func TestTable(t *testing.T) {
	w := newWorld(t)
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f01")
		if err != nil {
			return err
		}
		if err := d.Set("dc:title", "=SUM(A1), \"quoted\""); err != nil {
			return err
		}
		if err := d.Set("dc:subjects", []any{"art", "music"}); err != nil {
			return err
		}
		if _, err = tx.Save(d, storage.SaveOptions{}); err != nil {
			return err
		}
		hidden, err := tx.Doc("/f02")
		if err != nil {
			return err
		}
		_, err = tx.SetACL(hidden, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
		return err
	}))
	cmd := w.run("Bulk.RunAction", map[string]any{
		"action": "csvExport", "query": "SELECT * FROM File ORDER BY ecm:name", "batchSize": 4,
		"parameters": `{"schemas": ["uid"], "xpaths": ["dc:subjects", "dc:description", "=1+1"], "fileName": "all.csv"}`,
	})
	id, _ := cmd["commandId"].(string)
	if got := w.work(id); got["state"] != "COMPLETED" || got["processed"] != 24 || got["errorCount"] != 0 {
		t.Errorf("status %v", got)
	}
	result, _ := w.run("Bulk.Get", map[string]any{"commandId": id, "base": "http://x"})["result"].(map[string]any)
	if result["url"] != "http://x/api/v1/bulk/"+id+"/result" || result["filename"] != "all.csv" {
		t.Errorf("result %v", result)
	}
	as := func(name string) (any, error) {
		p, err := w.e.PrincipalOf(t.Context(), name)
		w.must(err)
		res, err := w.e.Run(t.Context(), engine.Call{Op: "Bulk.Result", Params: map[string]any{"commandId": id}, As: p, EntryPoint: engine.REST})
		if err != nil {
			return nil, err
		}
		return res.Value, nil
	}
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "eve"}, "") }))
	if _, err := as("eve"); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else's: %v", err)
	}
	v, err := as("bob")
	w.must(err)
	b, _ := v.(*storage.Blob)
	f, err := b.Open()
	w.must(err)
	defer f.Close()
	text, err := io.ReadAll(f)
	w.must(err)
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	w.must(err)
	if len(lines) != 25 || len(lines[0]) != 18+3+3 || lines[0][23] != "'=1+1" {
		t.Fatalf("%d lines of %d cells", len(lines), len(lines[0]))
	}
	at := func(line []string, column string) string { return line[slices.Index(lines[0], column)] }
	one := lines[2]
	for column, want := range map[string]string{
		"path": "/f01", "type": "File", "repository": "default", "title": `'=SUM(A1), "quoted"`, "dc:subjects": "art | music", "dc:description": "",
		"isVersion": "false", "uid:major_version": "0", "lockOwner": "",
	} {
		if got := at(one, column); got != want {
			t.Errorf("%s: got %q, want %q", column, got, want)
		}
	}
	if got := at(lines[1], "lockOwner"); got != "system" {
		t.Errorf("lock owner %q", got)
	}
	for _, params := range []string{`{"schemas": ["nope"]}`, `{"xpaths": 7}`, `{"schemas": [1]}`, `{"zip": "yes"}`, `{"lang": 1}`, `{"fileName": "../a"}`} {
		p, err := w.e.PrincipalOf(t.Context(), "bob")
		w.must(err)
		_, err = w.e.Run(t.Context(), engine.Call{Op: "Bulk.RunAction", As: p, EntryPoint: engine.REST, Params: map[string]any{
			"action": "csvExport", "query": "SELECT * FROM File", "parameters": params,
		}})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// TestTableInAnArchive has a table sorted, with labels in a language, and put into an archive.
func TestTableInAnArchive(t *testing.T) {
	w := newWorld(t)
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f01")
		if err != nil {
			return err
		}
		for xpath, v := range map[string]any{"dc:nature": "contract", "dc:subjects": []any{"art/music", "nowhere"}} {
			if err := d.Set(xpath, v); err != nil {
				return err
			}
		}
		_, err = tx.Save(d, storage.SaveOptions{})
		return err
	}))
	cmd := w.run("Bulk.RunAction", map[string]any{
		"action": "csvExport", "query": "SELECT * FROM File ORDER BY ecm:name DESC",
		"parameters": `{"xpaths": ["dc:nature", "dc:title", "dc:subjects"], "lang": "fr", "zip": true, "sortResult": true, "fileName": "all.csv"}`,
	})
	id, _ := cmd["commandId"].(string)
	if got := w.work(id); got["state"] != "COMPLETED" || got["errorCount"] != 0 {
		t.Fatalf("status %v", got)
	}
	b, _ := w.value("Bulk.Result", map[string]any{"commandId": id}).(*storage.Blob)
	if b == nil || b.Name != "all.zip" || b.Type != "application/zip" {
		t.Fatalf("file %v", b)
	}
	f, err := b.Open()
	w.must(err)
	defer f.Close()
	data, err := io.ReadAll(f)
	w.must(err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	w.must(err)
	if len(z.File) != 1 || z.File[0].Name != "all.csv" {
		t.Fatalf("archive %v", z.File)
	}
	in, err := z.File[0].Open()
	w.must(err)
	lines, err := csv.NewReader(in).ReadAll()
	w.must(err)
	if got, want := lines[0][18:], []string{"dc:nature", "dc:nature[label]", "dc:title", "dc:subjects", "dc:subjects[label]"}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	if len(lines) != 26 || !slices.IsSortedFunc(lines[1:], func(a, b []string) int { return strings.Compare(a[1], b[1]) }) {
		t.Errorf("%d lines, or not sorted", len(lines))
	}
	for _, line := range lines {
		if line[2] == "/f01" {
			if want := []string{"contract", "Contrat", "", "art/music | nowhere", "Musique | nowhere"}; !slices.Equal(line[18:], want) {
				t.Errorf("got %q, want %q", line[18:], want)
			}
		}
	}
}
