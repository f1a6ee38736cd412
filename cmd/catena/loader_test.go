package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"catena/storage/postgres/pgtest"
)

// TestImportRecords imports files of records with the files they name, more than one request holds, and again.
func TestImportRecords(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "scans"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("scans/1.txt", "one")
	write("secret.txt", "a secret")
	write("few.csv", "name,type,dc:title,file\na,File,One,1.txt\nb,File,Two,\nc,File,Three,2.txt\nd,File,Four,../secret.txt\ne,Nope,Five,\n")
	var many strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&many, "{\"name\":\"m%d\",\"dc:title\":\"Title %d\",\"dc:description\":%q}\n", i, i, strings.Repeat("x", loadBytes/1000))
	}
	write("many.jsonl", many.String())
	write("more.jsonl", many.String()+"no record\n{\"name\":\"m1200\"}\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		args string
		code int
		want []string
	}{
		{"init", 0, nil},
		{"import " + in("few.csv") + " --key name --files " + in("scans") + " --rejected " + in("rejected"), 1, []string{
			"2 created, 0 updated, 0 skipped, 3 rejected", "few.csv:4: file: open ", "few.csv:5: file: must be a path within", "few.csv:6: Type: Nope does not exist",
		}},
		{"import " + in("few.csv") + " --key name --existing update --files " + in("scans"), 1, []string{"0 created, 2 updated, 0 skipped, 3 rejected"}},
		{"run Blob.Get --input /default-domain/workspaces/a", 0, []string{"one"}},
		{"import " + in("many.jsonl") + " --dry-run", 0, []string{"1200 created"}},
		{"import " + in("many.jsonl") + " --json", 0, []string{`"created": 1200`}},
		{"import " + in("more.jsonl") + " --key name", 1, []string{"1 created, 0 updated, 1200 skipped, 1 rejected", "more.jsonl:1201: record: must be a JSON object in one line"}},
		{"import " + in("many.jsonl") + " --into /default-domain/sections --workers 4", 0, []string{"1200 created"}},
		{"import " + in("many.jsonl") + " --workers 9", 1, []string{"workers"}},
		{"import " + in("many.jsonl") + " --key dc:subjects", 1, []string{"must be name, or a text property", "0 created"}},
		{"import " + in("none.csv"), 2, []string{"none.csv"}},
		{"import " + in("none"), 2, []string{"none"}},
	} {
		var out bytes.Buffer
		code := run(context.Background(), append(strings.Fields(test.args), "--data", data), strings.NewReader(""), &out, &out)
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %s, want %q", test.args, out.String(), want)
			}
		}
		if code != test.code {
			t.Errorf("%s: exit %d, want %d: %s", test.args, code, test.code, out.String())
		}
	}
	got, err := os.ReadFile(in("rejected"))
	if err != nil || strings.Count(string(got), "\n") != 3 || !strings.Contains(string(got), `"line":6,"code":"invalid","error":"Type: Nope does not exist`) ||
		!strings.Contains(string(got), `"record":{"name":"e","properties":{"dc:title":"Five"},"type":"Nope"}`) {
		t.Errorf("rejected: %v %s", err, got)
	}
}

// BenchmarkPlainImport compares the import of records by the command, on PostgreSQL, with COPY of the rows that they became: what the store
// has when the command ends and did not have before, byte for byte and in its order, by one COPY to a table like that of the store on the
// same server. CATENA_BENCH_IMPORT sets the number of documents (20,000). Arms run in turn; figures are the medians of three turns. The words
// of documents are indexed while they are imported and afterwards; a turn begins when all are.
//
//	make plain
func BenchmarkPlainImport(b *testing.B) {
	docs, err := strconv.Atoi(cmp.Or(os.Getenv("CATENA_BENCH_IMPORT"), "20000"))
	must(b, err)
	store := pgtest.Database(b)
	c, err := pgx.Connect(b.Context(), store)
	must(b, err)
	b.Cleanup(func() { _ = c.Close(context.Background()) })
	x := &importing{b: b, c: c, store: store, file: filepath.Join(b.TempDir(), "records.jsonl"), postgres: postmaster(b, c)}
	x.node = startServer(b, b.TempDir(), "--store", store, "--blobs", b.TempDir(), "--rate", "-1")
	var records bytes.Buffer
	for i := range docs {
		records.WriteString(plainRecord(i))
	}
	must(b, os.WriteFile(x.file, records.Bytes(), 0o600))
	b.Setenv("CATENA_PASSWORD", adminPassword)
	var imported, copied, ratios []float64 // documents a second, and their ratio in a turn
	for turn := range 3 {
		own, plain := x.turn(turn)
		imported, copied = append(imported, float64(docs)/own.Seconds()), append(copied, float64(docs)/plain.Seconds())
		ratios = append(ratios, plain.Seconds()/own.Seconds())
	}
	for _, f := range [][]float64{imported, copied, ratios} {
		slices.Sort(f)
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(3*docs) }
	fmt.Printf("import of %d documents: %.0f/s, %.1f rows each; the rows by COPY: %.0f/s; ratio %.2f (goal 0.5)\n", docs, imported[1], float64(x.rows)/float64(3*docs), copied[1], ratios[1])
	fmt.Printf("CPU of a document, µs: node %.0f, database %.0f, command %.0f; database with COPY %.0f\n", each(x.used[0]), each(x.used[1]), each(x.used[2]), each(x.used[3]))
	b.ReportMetric(0, "ns/op")
}

// importing are the arms of BenchmarkPlainImport.
type importing struct {
	b        *testing.B
	c        *pgx.Conn
	node     *process
	store    string // the address of the database
	file     string
	postgres int              // the process that starts those of connections
	rows     int64            // that imports added
	used     [4]time.Duration // by the processors: of node, database and command, and of the database with COPY
}

// turn returns how long the import takes, and COPY of the same rows. Both begin with the same rows in their tables.
func (x *importing) turn(number int) (own, plain time.Duration) {
	b, ctx := x.b, x.b.Context()
	folder := fmt.Sprintf("w%d", number)
	status, text := administer(b, http.MethodPost, x.node.base+"/api/v1/path/default-domain/workspaces", "application/json", `{"entity-type":"document","type":"Workspace","name":"`+folder+`"}`)
	if status != http.StatusCreated {
		b.Fatal(status, text)
	}
	x.awaitWords()
	x.exec("DROP TABLE IF EXISTS copied", "CREATE TABLE copied (LIKE catena.kv INCLUDING ALL)", "INSERT INTO copied SELECT * FROM catena.kv", "CHECKPOINT")
	name, err := builtBinary()
	must(b, err)
	cmd := exec.CommandContext(ctx, name, "import", x.file, "--server", x.node.base, "--into", "/default-domain/workspaces/"+folder)
	node, database, began := busy(x.node.cmd.Process.Pid), busyBelow(x.postgres), time.Now()
	out, err := cmd.CombinedOutput()
	own = time.Since(began)
	x.used[0] += busy(x.node.cmd.Process.Pid) - node
	x.used[1] += busyBelow(x.postgres) - database
	x.used[2] += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var rows bytes.Buffer
	tag, err := x.c.PgConn().CopyTo(ctx, &rows, "COPY (SELECT k, v FROM catena.kv s WHERE NOT EXISTS (SELECT FROM copied c WHERE c.k = s.k) ORDER BY ctid) TO STDOUT (FORMAT binary)")
	must(b, err)
	x.rows += tag.RowsAffected()
	x.awaitWords()
	x.exec("CHECKPOINT")
	database, began = busyBelow(x.postgres), time.Now()
	_, err = x.c.PgConn().CopyFrom(ctx, &rows, "COPY copied FROM STDIN (FORMAT binary)")
	must(b, err)
	x.used[3] += busyBelow(x.postgres) - database
	return own, time.Since(began)
}

func (x *importing) exec(statements ...string) {
	for _, sql := range statements {
		_, err := x.c.Exec(x.b.Context(), sql)
		must(x.b, err)
	}
}

// awaitWords returns when no words of documents wait to be indexed.
func (x *importing) awaitWords() {
	for pendingRows(x.b, x.store) > 0 {
		time.Sleep(50 * time.Millisecond)
	}
}
