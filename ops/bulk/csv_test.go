package bulk_test

import (
	"context"
	"encoding/csv"
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
	return id, w.finished(id)
}

// finished carries out an import to its end.
func (w *world) finished(id string) (status map[string]any) {
	w.t.Helper()
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
	return status
}

// started starts an import into a workspace with two files, one of them locked by somebody else.
func (w *world) started(csv string, params map[string]any) string {
	w.t.Helper()
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
		_, err = tx.Lock(locked)
		return err
	}))
	return w.start(csv, params)
}

// start starts an import into the workspace.
func (w *world) start(csv string, params map[string]any) string {
	w.t.Helper()
	var file *storage.Blob
	w.must(w.Update(w.t.Context(), w.System(), func(tx *storage.Tx) (err error) {
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

// TestImportExported edits tables that were exported, as people do in spreadsheets, and imports them: what was edited changes, what was not
// stays, and what somebody else has changed meanwhile is not overwritten.
func TestImportExported(t *testing.T) {
	w := newWorld(t)
	w.importing(`name,type,dc:title,dc:description,dc:nature,dc:subjects
one,File,One,"first, ""quoted""",letter,art|music
two,File,=1+1,to be removed,,
three,File,Three,,,
four,File,Four,,,
`, nil)
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/desk/one")
		if err != nil {
			return err
		}
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader("content"))
		if err == nil {
			err = d.Set("file:content", b)
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	}))
	exported := func() (rows [][]string) {
		t.Helper()
		id, _ := w.run("Bulk.RunAction", map[string]any{
			"action": "csvExport", "query": "SELECT * FROM File WHERE ecm:path STARTSWITH '/desk' AND ecm:name <> 'locked' ORDER BY ecm:name",
			"parameters": `{"xpaths": ["dc:title", "dc:description", "dc:nature", "dc:nature[label]", "dc:subjects", "dc:created", "dc:modified", "dc:contributors", "file:content", "note:note"], "fileName": "all.csv"}`,
		})["commandId"].(string)
		if got := w.work(id); got["state"] != "COMPLETED" {
			t.Fatalf("export: %v", got)
		}
		b, _ := w.value("Bulk.Result", map[string]any{"commandId": id}).(*storage.Blob)
		f, err := b.Open()
		w.must(err)
		defer f.Close()
		rows, err = csv.NewReader(f).ReadAll()
		w.must(err)
		return rows
	}
	// edited is a table in which cells of documents are different, as a spreadsheet saves it.
	type cell struct{ name, column, text string }
	edited := func(rows [][]string, cells ...cell) string {
		t.Helper()
		var out strings.Builder
		to := csv.NewWriter(&out)
		to.Comma, to.UseCRLF = ';', true
		for _, row := range rows {
			row = slices.Clone(row)
			for _, c := range cells {
				if strings.HasSuffix(row[slices.Index(rows[0], "path")], "/"+c.name) {
					row[slices.Index(rows[0], c.column)] = c.text
				}
			}
			w.must(to.Write(row))
		}
		to.Flush()
		return out.String()
	}
	imported := func(csv string, want ...string) {
		t.Helper()
		id := w.start(csv, nil)
		if s := w.finished(id); s["state"] != "COMPLETED" {
			t.Errorf("status %v", s)
		}
		if got := w.lines(id); !slices.Equal(got, want) {
			t.Errorf("log %q, want %q", got, want)
		}
	}
	const same, changed = " SKIPPED documentUnchanged []", " SUCCESS documentUpdated []"
	rows := exported()
	imported(edited(rows), "2"+same, "3"+same, "4"+same, "5"+same, "6"+same) // by name: four, old, one, three, two
	imported(edited(rows, cell{"one", "dc:subjects", "art|theater"}, cell{"one", "dc:nature[label]", "of no account"}, cell{"two", "dc:description", ""}, cell{"three", "title", "Third"},
		cell{"four", "title", "Fourth"}, cell{"four", "dc:title", "Fourth"}, cell{"old", "note:note", "of other types"}),
		"2"+changed, "3"+same, "4"+changed, "5 ERROR fixedColumn [title Three Third]", "6"+changed)
	for query, want := range map[string]int{
		"dc:subjects = 'theater' AND ecm:name = 'one' AND dc:nature = 'letter' AND content/name = 'a.txt'": 1, "dc:subjects = 'music' AND ecm:path STARTSWITH '/desk'": 0,
		"ecm:name = 'two' AND dc:description IS NULL AND dc:title = '=1+1'": 1, "dc:title = 'Fourth'": 1, "dc:title = 'Three'": 1,
	} {
		if n := w.count("SELECT * FROM File WHERE " + query); n != want {
			t.Errorf("%s: %d documents", query, n)
		}
	}
	// The table is of before: rows that have changed since are refused, whether or not it has the column that shows it.
	imported(edited(rows, cell{"three", "dc:title", "Third"}), "2 ERROR changedSinceExport [/desk/four]", "3"+same, "4 ERROR changedSinceExport [/desk/one]", "5"+changed, "6 ERROR changedSinceExport [/desk/two]")
	untitled := make([][]string, len(rows))
	for i, row := range rows {
		untitled[i] = slices.Delete(slices.Clone(row), slices.Index(rows[0], "dc:title"), slices.Index(rows[0], "dc:title")+1)
	}
	imported(edited(untitled[:2]), "2 ERROR changedSinceExport [/desk/four]")
	rows = exported()
	created := rows[3][slices.Index(rows[0], "dc:created")]
	imported(edited(rows, cell{"one", "dc:created", strings.Replace(created, "Z", "+00:00", 1)}), "2"+same, "3"+same, "4"+same, "5"+same, "6"+same)
	imported(edited(rows, cell{"four", "uid", "nobody"}, cell{"old", "file:content", "b.txt"}, cell{"one", "dc:created", "soon"}, cell{"three", "state", "deleted"}, cell{"two", "repository", "other"}),
		"2 ERROR unableToUpdate [nobody]", "3 ERROR notExistingFile [b.txt]", "4 ERROR cannotConvertFieldValue [dc:created soon]", "5 ERROR fixedColumn [state project deleted]", "6 ERROR fixedColumn [repository default other]")
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		outside, err := tx.Create(root, "File", "outside", nil)
		if err == nil {
			rows[1][slices.Index(rows[0], "uid")] = outside.ID()
		}
		return err
	}))
	imported(edited(rows[:2]), "2 ERROR notInFolder [/outside /desk]")
}
