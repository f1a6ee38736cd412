package bulk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/retention"
)

// keep makes documents records: one that is retained, one without a date, and one with a legal hold.
func (w *world) keep(paths [3]string) {
	w.t.Helper()
	w.must(w.Update(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		for i, path := range paths {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			if d, err = retention.MakeRecord(tx, d); err != nil {
				return err
			}
			switch i {
			case 0:
				_, err = retention.Retain(tx, d, storage.Until(tx.Now().Add(time.Hour).UnixMilli()))
			case 1:
				_, err = retention.Retain(tx, d, storage.Indeterminate)
			default:
				_, err = retention.Hold(tx, d, true, "")
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestActionsOnRecords: a bulk action by an administrator leaves the records that must be kept as they are, with the error of each, and does
// the others.
func TestActionsOnRecords(t *testing.T) {
	for _, c := range []struct{ action, params, done string }{
		{"trash", "", "SELECT * FROM File WHERE ecm:isTrashed = 1"},
		{"setProperties", `{"dc:title": "all"}`, "SELECT * FROM File WHERE dc:title = 'all'"},
		{"deletion", "", ""},
		{"automation", `{"operationId": "Document.SetProperty", "operationParameters": {"xpath": "dc:title", "value": "x"}}`, "SELECT * FROM File WHERE dc:title = 'x'"},
		{"automationUi", `{"operationId": "Document.Delete", "parameters": {}}`, ""},
	} {
		t.Run(c.action, func(t *testing.T) {
			w := newWorld(t)
			w.keep([3]string{"/f01", "/f02", "/f03"})
			admin, err := w.e.PrincipalOf(t.Context(), "Administrator")
			w.must(err)
			cmd, _ := w.valueAs(admin, "Bulk.RunAction", map[string]any{"action": c.action, "query": "SELECT * FROM File WHERE ecm:name IN ('f01', 'f02', 'f03', 'f04')", "parameters": c.params}).(map[string]any)
			id, _ := cmd["commandId"].(string)
			got := w.work(id)
			if message := fmt.Sprint(got["errorMessage"]); got["state"] != "COMPLETED" || got["processed"] != 4 || got["errorCount"] != 3 || !strings.Contains(message, "is under ") {
				t.Errorf("status %v", got)
			}
			if n := w.count("SELECT * FROM File WHERE ecm:isRecord = 1 AND ecm:isTrashed = 0 AND dc:title IS NULL"); n != 3 {
				t.Errorf("%d records are as they were", n)
			}
			if c.done == "" && w.count("SELECT * FROM File WHERE ecm:name = 'f04'") != 0 || c.done != "" && w.count(c.done) != 1 {
				t.Error("the other document was not done")
			}
		})
	}
}

// TestLoadRecords: records of a file that would change a document which must be kept are rejected, each with its code, and the others
// are loaded.
func TestLoadRecords(t *testing.T) {
	w := newWorld(t)
	w.keep([3]string{"/f01", "/f02", "/f03"})
	var records []any
	for _, name := range []string{"f01", "f02", "f03", "f04", "new"} {
		records = append(records, map[string]any{"name": name, "dc:title": "Loaded", "dc:source": "file"})
	}
	out, _ := w.valueAs(w.System(), "Bulk.Load", map[string]any{"records": records, "into": "/", "key": "name", "existing": "update"}).([]any)
	var got []string
	for _, one := range out {
		m := one.(map[string]any)
		got = append(got, fmt.Sprint(m["status"], " ", m["code"]))
	}
	if want := []string{"rejected under_retention", "rejected under_retention", "rejected under_retention", "updated <nil>", "created <nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %q: %v", got, out)
	}
	if n := w.count("SELECT * FROM File WHERE dc:title = 'Loaded' AND dc:source = 'file'"); n != 2 {
		t.Errorf("%d documents have what was loaded", n)
	}
	if n := w.count("SELECT * FROM File WHERE ecm:isRecord = 1 AND dc:title IS NULL AND dc:source IS NULL"); n != 3 {
		t.Errorf("%d records are as they were", n)
	}
}

// TestImportCSVOverRecords: the importer of CSV says of each row why its document stays.
func TestImportCSVOverRecords(t *testing.T) {
	w := newWorld(t)
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		kept, err := tx.Create(root, "Folder", "kept", nil)
		for i := 0; i < 4 && err == nil; i++ {
			_, err = tx.Create(kept, "File", fmt.Sprintf("k%d", i), nil)
		}
		return err
	}))
	w.keep([3]string{"/kept/k0", "/kept/k1", "/kept/k2"})
	id, status := w.importing("name,type,dc:title,dc:description\nk0,,T,D\nk1,,T,D\nk2,,T,D\nk3,,T,D\n", map[string]any{"path": "/kept"})
	if status["state"] != "COMPLETED" {
		t.Errorf("status %v", status)
	}
	got := w.lines(id)
	for i := range 3 {
		if !strings.HasPrefix(got[i], fmt.Sprintf("%d ERROR unableToUpdate", i+2)) || !strings.Contains(got[i], "is under retention or legal hold, and its property dc:") {
			t.Errorf("line %d: %s", i+2, got[i])
		}
	}
	if got[3] != "5 SUCCESS documentUpdated []" || w.count("SELECT * FROM File WHERE dc:title = 'T'") != 1 || w.count("SELECT * FROM File WHERE ecm:isRecord = 1 AND dc:title IS NULL") != 3 {
		t.Errorf("%q", got)
	}
}

// TestChangeInOneTransaction: a call that would change several documents, one of which must be kept, changes none.
func TestChangeInOneTransaction(t *testing.T) {
	w := newWorld(t)
	w.keep([3]string{"/f01", "/f02", "/f03"})
	for _, op := range []struct {
		name   string
		params map[string]any
	}{
		{"Document.Delete", nil}, {"Document.Trash", nil}, {"Document.SetProperty", map[string]any{"xpath": "dc:title", "value": "x"}},
	} {
		_, err := w.e.Run(t.Context(), engine.Call{Op: op.name, Input: storage.Refs{"/f04", "/f06", "/f01"}, Params: op.params, As: w.System(), EntryPoint: engine.REST})
		if err == nil || !strings.Contains(err.Error(), "is under retention") {
			t.Errorf("%s: %v", op.name, err)
		}
		if n := w.count("SELECT * FROM File WHERE ecm:isTrashed = 0 AND dc:title IS NULL"); n != 25 {
			t.Errorf("%s left %d documents as they were", op.name, n)
		}
	}
}
