package bulk_test

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// TestTable exports documents to a table: whoever asked gets the file, nobody else, and only what
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
		"parameters": `{"schemas": ["uid"], "xpaths": ["dc:subjects", "dc:description"], "fileName": "all.csv"}`,
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
		res, err := w.e.Run(t.Context(), engine.Call{Op: "Bulk.Result", Params: map[string]any{"commandId": id}, As: p, Door: engine.REST})
		if err != nil {
			return nil, err
		}
		return res.Value, nil
	}
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return tx.SaveUser(&storage.User{Username: "eve"}, "") }))
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
	if len(lines) != 25 || len(lines[0]) != 18+3+2 {
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
	for _, params := range []string{`{"schemas": ["nope"]}`, `{"xpaths": 7}`, `{"schemas": [1]}`} {
		p, err := w.e.PrincipalOf(t.Context(), "bob")
		w.must(err)
		_, err = w.e.Run(t.Context(), engine.Call{Op: "Bulk.RunAction", As: p, Door: engine.REST, Params: map[string]any{
			"action": "csvExport", "query": "SELECT * FROM File", "parameters": params,
		}})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", params, err)
		}
	}
}
