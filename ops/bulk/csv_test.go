package bulk_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/ops/bulk"
	"catena/storage"
	"catena/storage/outbox"
	"catena/storage/search"
)

// importing starts an import as bob and carries it out to its end.
func (w *world) importing(csv string, params map[string]any) (id string, status map[string]any) {
	w.t.Helper()
	id = w.started(csv, params)
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{bulk.CSVJobKind: {Do: bulk.CSVJob(w.e), Buried: bulk.CSVBuried(w.e)}})
	}()
	for ctx.Err() == nil {
		if status = w.seen("CSV.ImportStatus", id); status["state"] == "COMPLETED" || status["state"] == "ERROR" {
			break
		}
		time.Sleep(3 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
	return id, status
}

// started starts an import into a workspace with two files, one of them locked by somebody else.
func (w *world) started(csv string, params map[string]any) string {
	w.t.Helper()
	var file *storage.Blob
	w.must(w.Update(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		desk, err := tx.Create(root, "Workspace", "desk", nil)
		if err != nil {
			return err
		}
		if _, err := tx.Create(desk, "File", "old", nil); err != nil {
			return err
		}
		locked, err := tx.Create(desk, "File", "locked", nil)
		if err != nil {
			return err
		}
		if _, err := tx.Lock(locked); err != nil {
			return err
		}
		file, err = tx.NewBlob("rows.csv", "text/csv", strings.NewReader(csv))
		return err
	}))
	with := map[string]any{"path": "/desk"}
	maps.Copy(with, params)
	id, _ := w.onInput("CSV.Import", file, with).(string)
	return id
}

func (w *world) seen(op, id string) map[string]any {
	w.t.Helper()
	m, _ := w.onInput(op, id, nil).(map[string]any)
	return m
}

// lines are what the log says: the line, the status, the end of the label and the parameters.
func (w *world) lines(id string) (out []string) {
	w.t.Helper()
	list, _ := w.onInput("CSV.ImportLog", id, nil).([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		label, _ := m["localizedMessage"].(string)
		out = append(out, fmt.Sprint(m["line"], " ", m["status"], " ", strings.TrimPrefix(label, "label.csv.importer."), " ", m["localizedMessageParams"]))
	}
	return out
}

func TestImportCSV(t *testing.T) {
	w := newWorld(t)
	id, status := w.importing(`name,type,dc:title,dc:description,dc:nature,dc:subjects
in,Folder,In,"a folder",,
in/one,File,One,,letter,art|music
in/two,Note,Two,,,
old,,New title,,,
,File,No name,,,
x,,No type,,,
x,Nope,No such type,,,
away/x,File,No parent,,,
../x,File,Outside,,,
locked,File,Locked by another,,,
in/three,Domain,Not there,,,
short,File
`, nil)
	if status["state"] != "COMPLETED" || status["numberOfProcessedDocument"] != int64(4) || status["totalNumberOfDocument"] != int64(12) {
		t.Errorf("status %v", status)
	}
	want := []string{
		"2 SUCCESS documentCreated []",
		"3 SUCCESS documentCreated []",
		"4 SUCCESS documentCreated []",
		"5 SUCCESS documentUpdated []",
		"6 ERROR missingNameValue []",
		"7 ERROR missingTypeValue []",
		"8 ERROR notExistingType [Nope]",
		"9 ERROR parentDoesNotExist [/desk/away]",
	}
	got := w.lines(id)
	if len(got) != 12 || !slices.Equal(got[:8], want) {
		t.Errorf("log %q", got)
	}
	for i, begin := range []string{"10 ERROR unableToCreate", "11 ERROR unableToUpdate", "12 ERROR notAllowedSubType [Domain Folder]", "13 ERROR errorReadingLine"} {
		if !strings.HasPrefix(got[8+i], begin) {
			t.Errorf("log %q, want %s", got[8+i], begin)
		}
	}
	result := w.seen("CSV.ImportResult", id)
	if result["totalLineCount"] != int64(12) || result["successLineCount"] != int64(4) || result["skippedLineCount"] != int64(0) || result["errorLineCount"] != int64(8) {
		t.Errorf("result %v", result)
	}
	if n := w.count("SELECT * FROM File WHERE ecm:path = '/desk/in/one' AND dc:subjects = 'music' AND dc:nature = 'letter' AND dc:creator = 'bob'"); n != 1 {
		t.Errorf("the file was imported %d times", n)
	}
	if n := w.count("SELECT * FROM File WHERE ecm:path = '/desk/old' AND dc:title = 'New title'"); n != 1 {
		t.Errorf("the file was updated %d times", n)
	}
}

// TestImportCSVValues looks at single rows.
func TestImportCSVValues(t *testing.T) {
	for _, c := range []struct{ csv, want string }{
		{"name,type,dc:issued\na,File,2026-03-01\n", "2 SUCCESS documentCreated []"},
		{"name,type,dc:issued\na,File,soon\n", "2 ERROR cannotConvertFieldValue [dc:issued soon]"},
		{"name,type,dc:titel\na,File,x\n", "2 ERROR notExistingField [dc:titel File]"},
		{"name,type,titel\na,File,x\n", "2 ERROR notExistingField [titel File]"},
		{"name,type,note:note\na,File,text\n", "2 SUCCESS documentCreated []"}, // of other types
		{"name,type,file:content\na,File,/etc/passwd\n", "2 ERROR notExistingFile [/etc/passwd]"},
		{"name,type,files:files\na,File,\"[\"\n", "2 ERROR cannotConvertFieldValue [files:files []"},
		{"name;type;dc:title\na;File;x\n", "2 SUCCESS documentCreated []"},
		{"\ufeffname,type\n\"a\",File\n", "2 SUCCESS documentCreated []"},
		{"name,type,dc:title\na,File,\" \"\n", "2 SUCCESS documentCreated []"},
	} {
		w := newWorld(t)
		id, _ := w.importing(c.csv, nil)
		if got := w.lines(id); len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: log %q, want %q", c.csv, got, c.want)
		}
	}
}

// TestImportCSVBatches imports more rows than one transaction has, after a failure between two of them.
func TestImportCSVBatches(t *testing.T) {
	w := newWorld(t)
	var csv strings.Builder
	csv.WriteString("name,type\n")
	for i := range 120 {
		fmt.Fprintf(&csv, "row%03d,File\n", i)
	}
	id := w.started(csv.String(), nil)
	data := fmt.Appendf(nil, `{"command":%q}`, id)
	// The context ends after the first batch, as it does when a server stops.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && w.count("SELECT * FROM File WHERE ecm:name LIKE 'row%'") == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_ = bulk.CSVJob(w.e)(ctx, outbox.Job{Data: data}) // wherever it was interrupted
	w.must(bulk.CSVJob(w.e)(t.Context(), outbox.Job{Data: data}))
	w.must(bulk.CSVJob(w.e)(t.Context(), outbox.Job{Data: data})) // delivered again
	if s := w.seen("CSV.ImportStatus", id); s["state"] != "COMPLETED" || s["numberOfProcessedDocument"] != int64(120) {
		t.Errorf("status %v", s)
	}
	if n := w.count("SELECT * FROM File WHERE ecm:name LIKE 'row%'"); n != 120 {
		t.Errorf("%d documents", n)
	}
	if got := w.lines(id); len(got) != 120 || got[119] != "121 SUCCESS documentCreated []" {
		t.Errorf("log of %d lines", len(got))
	}
}

// TestImportCSVFails ends imports that cannot be carried out.
func TestImportCSVFails(t *testing.T) {
	for _, csv := range []string{"", "name,name\na,b\n", "name,\na,b\n"} {
		w := newWorld(t)
		id, status := w.importing(csv, nil)
		if csv == "" {
			if status["state"] != "COMPLETED" || status["totalNumberOfDocument"] != int64(0) {
				t.Errorf("an empty file: %v", status)
			}
			continue
		}
		if status["state"] != "ERROR" || status["errorMessage"] == nil {
			t.Errorf("%q: %v", csv, status)
		}
		if got := w.lines(id); len(got) != 0 {
			t.Errorf("%q: log %q", csv, got)
		}
	}
}

// TestImportCSVForgets removes an import a week after its last change.
func TestImportCSVForgets(t *testing.T) {
	w := newWorld(t)
	id, _ := w.importing("name,type\na,File\n", nil)
	forget := outbox.Job{Data: fmt.Appendf(nil, `{"command":%q,"forget":true}`, id)}
	if err := bulk.CSVJob(w.e)(t.Context(), forget); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("forgotten at once: %v", err)
	}
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		var row map[string]any
		if _, err := tx.Table("csv import").Get(id, &row); err != nil {
			return err
		}
		row["Changed"] = "2020-01-01T00:00:00Z"
		return tx.Table("csv import").Put(id, row)
	}))
	w.must(bulk.CSVJob(w.e)(t.Context(), forget))
	w.must(w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
		for _, table := range []string{"csv import", "csv import log"} {
			for key := range tx.Table(table).Scan(id, id+"0", false, 0) {
				t.Errorf("%s keeps %s", table, key)
			}
		}
		_, err := search.Query(tx, "SELECT * FROM File WHERE ecm:name = 'a'", search.Options{})
		return err
	}))
}
