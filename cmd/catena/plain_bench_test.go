package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"catena/storage/postgres/pgtest"
)

// plainTables are those that a person would create for documents with permissions in folders.
const plainTables = `
CREATE TABLE doc (id uuid PRIMARY KEY, parent uuid, name text NOT NULL, title text NOT NULL, created timestamptz NOT NULL, modified timestamptz NOT NULL,
	creator text NOT NULL, props jsonb NOT NULL, acl jsonb, UNIQUE (parent, name));
CREATE INDEX ON doc (parent, title);
CREATE INDEX ON doc (title);
CREATE INDEX ON doc (modified);
CREATE INDEX ON doc (creator);
CREATE TABLE audit (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, doc uuid NOT NULL, at timestamptz NOT NULL, who text NOT NULL, event text NOT NULL);
CREATE INDEX ON audit (doc, at);`

// plainDoc is a row of it.
type plainDoc struct {
	ID       uuid.UUID       `json:"uid"`
	Parent   *uuid.UUID      `json:"parent"`
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	Modified time.Time       `json:"modified"`
	Creator  string          `json:"creator"`
	Props    json.RawMessage `json:"properties"`
	ACL      json.RawMessage `json:"acl"`
}

const plainColumns = "id, parent, name, title, modified, creator, props, acl"

// plain is a server that does by SQL what the table of BenchmarkPlain names, without types, history and events.
type plain struct {
	pool   *pgxpool.Pool
	folder uuid.UUID
	made   atomic.Int64
}

func (p *plain) get(w http.ResponseWriter, r *http.Request) {
	rows, _ := p.pool.Query(r.Context(), "SELECT "+plainColumns+" FROM doc WHERE id = $1", r.PathValue("id"))
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[plainDoc])
	plainAnswer(w, d, err)
}

// page returns the first 50 children with the permissions of each and of its folder.
func (p *plain) page(w http.ResponseWriter, r *http.Request) {
	rows, _ := p.pool.Query(r.Context(), "SELECT d.id, d.parent, d.name, d.title, d.modified, d.creator, d.props, coalesce(d.acl, f.acl) FROM doc d JOIN doc f ON f.id = d.parent WHERE d.parent = $1 ORDER BY d.title LIMIT 51", p.folder)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[plainDoc])
	plainAnswer(w, all, err)
}

// create adds a row, and what the audit log says of it.
func (p *plain) create(w http.ResponseWriter, r *http.Request) {
	d := plainDoc{ID: uuid.New(), Parent: &p.folder, Name: fmt.Sprintf("n%d", p.made.Add(1)), Title: "new", Modified: time.Now(), Creator: "Administrator", Props: []byte(`{"description":"text"}`)}
	err := pgx.BeginTxFunc(r.Context(), p.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("SELECT acl FROM doc WHERE id = $1", p.folder)
		b.Queue("INSERT INTO doc (id, parent, name, title, created, modified, creator, props) VALUES ($1, $2, $3, $4, $5, $5, $6, $7)", d.ID, d.Parent, d.Name, d.Title, d.Modified, d.Creator, d.Props)
		b.Queue("INSERT INTO audit (doc, at, who, event) VALUES ($1, $2, $3, 'documentCreated')", d.ID, d.Modified, d.Creator)
		return tx.SendBatch(r.Context(), b).Close()
	})
	plainAnswer(w, d, err)
}

func plainAnswer(w http.ResponseWriter, v any, err error) {
	if err == nil {
		var body []byte
		if body, err = json.Marshal(v); err == nil {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// plainRow is a document to fill in, the same for both.
func plainRow(i int) (name, title, description string) {
	return fmt.Sprintf("d%06d", i), fmt.Sprintf("Document %06d", spread(i, 1_000_000)), strings.Repeat("some text about it ", 5)
}

// against are the two servers that are compared.
type against struct {
	b        *testing.B
	nodes    [2]*process
	store    string
	sql      *plain
	server   *exec.Cmd // of sql
	addr     string    // of server
	docs     int
	ids      []string // of catena's documents
	plainIDs []string
	folder   string // of catena's documents
	postgres int    // the process that starts those of connections
	answered int    // requests of the last turn
}

// BenchmarkPlain compares catena on PostgreSQL with a server that does the same by SQL on the same PostgreSQL, in one run, over
// sockets: median and 99th percentile on 1 and 16 connections, and, with CATENA_BENCH_LATENCY, such as 0.5ms, each way to the database
// takes as long. What plain leaves out and catena cannot, strictSQL does as well as a person would. CATENA_BENCH_DOCS sets the number of documents (2,000). Arms run in turn; figures are the medians of three turns.
//
//	make plain
func BenchmarkPlain(b *testing.B) {
	x := newAgainst(b)
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "work\tconnections\tcatena, median\tp99\tSQL, median\tp99\tstrict SQL, median\tp99\tratio to SQL\tgoal\tto strict SQL\tCPU of catena, database, client, µs\tof client and server, database\tstrict")
	chain := post("/api/v1/automation/Plain.Ten", `{"params":{},"input":"`+x.folder+`"}`)
	get := func(i int) []byte { return getRaw("/api/v1/id/" + x.ids[spread(i, len(x.ids))]) }
	page := func(int) []byte {
		return getRaw("/api/v1/id/" + x.folder + "/@children?pageSize=50&sortBy=dc:title&enrichers.document=permissions")
	}
	create := numbered("/api/v1/id/"+x.folder, `{"entity-type":"document","type":"File","name":"%s","properties":{"dc:title":"new","dc:description":"text"}}`)
	sqlGet := func(at string) func(int) []byte {
		return func(i int) []byte { return getRaw(at + "/doc/" + x.plainIDs[spread(i, len(x.plainIDs))]) }
	}
	sqlPage := func(at string) func(int) []byte { return func(int) []byte { return getRaw(at + "/page") } }
	sqlCreate := func(at string) func(int) []byte { return post(at+"/create", "{}") }
	sqlChain := func(at string) func(int) []byte {
		if at == "" { // one row is all that plain stores
			return sqlCreate(at)
		}
		return post(at+"/chain", "{}")
	}
	for _, w := range []struct {
		name, goal string
		own        func(i int) []byte
		sql        func(at string) func(i int) []byte
	}{
		{"document by id", "1.3", get, sqlGet},
		{"page of 50", "1.3", page, sqlPage},
		{"create", "1.5", create, sqlCreate},
		{"chain of ten", "1.5", chain, sqlChain},
	} {
		for _, conns := range []int{1, 16} {
			x.compare(out, w.name, w.goal, conns, w.own, w.sql(""), w.sql("/strict"))
		}
	}
	x.attempts(out)
	x.twoNodes(out)
	must(b, out.Flush())
	fmt.Println(table.String())
	b.ReportMetric(0, "ns/op")
}

func newAgainst(b *testing.B) *against {
	b.Helper()
	docs, err := strconv.Atoi(cmp.Or(os.Getenv("CATENA_BENCH_DOCS"), "2000"))
	must(b, err)
	x := &against{b: b, docs: docs, store: pgtest.Database(b)}
	if wait := os.Getenv("CATENA_BENCH_LATENCY"); wait != "" {
		d, err := time.ParseDuration(wait)
		must(b, err)
		x.store = farAway(b, x.store, d)
	}
	args := []string{"--store", x.store, "--blobs", b.TempDir(), "--rate", "-1"}
	for i := range x.nodes {
		x.nodes[i] = startServer(b, b.TempDir(), args...)
	}
	x.fillCatena()
	pool, err := plainPool(b.Context(), x.store)
	must(b, err)
	b.Cleanup(pool.Close)
	x.sql = &plain{pool: pool, folder: uuid.New()}
	x.fillPlain()
	must(b, strictSQL{x.sql}.fill(b.Context()))
	x.serveSQL()
	_, err = pool.Exec(b.Context(), "VACUUM ANALYZE")
	must(b, err)
	x.postgres = postmaster(b, pool)
	return x
}

// postmaster returns the process of a database server that starts those of connections.
func postmaster(b *testing.B, c interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) int {
	var backend int
	must(b, c.QueryRow(b.Context(), "SELECT pg_backend_pid()").Scan(&backend))
	return parent(backend)
}

// plainRecord is a document for an import, as a line.
func plainRecord(i int) string {
	name, title, description := plainRow(i)
	return fmt.Sprintf(`{"name":%q,"dc:title":%q,"dc:description":%q}`+"\n", name, title, description)
}

// serveSQL has another process serve sql, as others serve catena: one that also sends the requests would seldom have to be woken.
func (x *against) serveSQL() {
	name, err := os.Executable()
	must(x.b, err)
	x.server = exec.Command(name, plainVerb, x.store, x.sql.folder.String())
	x.server.Stderr = os.Stderr
	in, err := x.server.StdinPipe()
	must(x.b, err)
	out, err := x.server.StdoutPipe()
	must(x.b, err)
	must(x.b, x.server.Start())
	x.b.Cleanup(func() {
		_ = in.Close()
		_ = x.server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(x.b, err)
	x.addr = strings.TrimSpace(line)
}

// fillCatena imports the documents and saves the chain.
func (x *against) fillCatena() {
	b, base := x.b, x.nodes[0].base
	_, text := administer(b, http.MethodPost, base+"/api/v1/path/default-domain/workspaces", "application/json", `{"entity-type":"document","type":"Workspace","name":"plain"}`)
	var folder struct{ UID string }
	must(b, json.Unmarshal([]byte(text), &folder))
	x.folder = folder.UID
	const part = 50_000 // documents of one request
	uid := regexp.MustCompile(`"uid":"([^"]+)"`)
	for from := 0; from < x.docs; from += part {
		var lines strings.Builder
		to := min(from+part, x.docs)
		for i := from; i < to; i++ {
			lines.WriteString(plainRecord(i))
		}
		status, text := administer(b, http.MethodPost, base+"/api/v1/bulk?into=/default-domain/workspaces/plain&type=File&workers=4&batchSize=200", "application/x-ndjson", lines.String())
		ids := uid.FindAllStringSubmatch(text, -1)
		if status != http.StatusOK || len(ids) != to-from {
			b.Fatalf("import: %d, %d of %d documents: %.500s", status, len(ids), to-from, text)
		}
		for _, id := range ids {
			x.ids = append(x.ids, id[1])
		}
	}
	steps := strings.Repeat("  - op: Context.SetVar\n    params: {name: step, value: \"@{Document.title}.\"}\n", 8)
	saveChain(b, base, "name: Plain.Ten\ninput: document\nsteps:\n"+steps+"  - op: Document.Create\n    params: {type: File, name: chained, properties: {\"dc:title\": \"@{step}\"}}\n  - op: Document.SetProperty\n    params: {xpath: \"dc:description\", value: text}\n")
}

// fillPlain loads the same documents by COPY.
func (x *against) fillPlain() {
	b, ctx := x.b, x.b.Context()
	_, err := x.sql.pool.Exec(ctx, plainTables)
	must(b, err)
	acl := []byte(`[{"user":"members","permission":"Read","granted":true}]`)
	_, err = x.sql.pool.Exec(ctx, "INSERT INTO doc VALUES ($1, NULL, 'plain', 'plain', now(), now(), 'Administrator', '{}', $2)", x.sql.folder, acl)
	must(b, err)
	now := time.Now()
	_, err = x.sql.pool.CopyFrom(ctx, pgx.Identifier{"doc"}, []string{"id", "parent", "name", "title", "created", "modified", "creator", "props"}, pgx.CopyFromSlice(x.docs, func(i int) ([]any, error) {
		name, title, description := plainRow(i)
		props, err := json.Marshal(map[string]string{"dc:title": title, "dc:description": description})
		id := uuid.New()
		x.plainIDs = append(x.plainIDs, id.String())
		return []any{id, x.sql.folder, name, title, now, now, "Administrator", props}, err
	}))
	must(b, err)
}

// timed sends requests for a while and returns their median and 99th percentile, and how many a second were answered.
func (x *against) timed(addrs []string, conns int, request func(int) []byte) (median, p99 time.Duration, perSecond float64) {
	const turn = time.Second
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		all  []time.Duration
		stop atomic.Bool
		next atomic.Int64
	)
	began := time.Now()
	for c := range conns {
		wg.Go(func() {
			own, err := visitUntil(addrs[c%len(addrs)], &stop, &next, request)
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, own...); err != nil {
				x.b.Error(err)
			}
		})
	}
	time.Sleep(turn)
	stop.Store(true)
	wg.Wait()
	took := time.Since(began)
	x.answered = len(all)
	if slices.Sort(all); len(all) == 0 {
		return 0, 0, 0
	}
	return all[len(all)/2], all[len(all)*99/100], float64(len(all)) / took.Seconds()
}

// visitUntil sends requests over one connection until stop is set.
func visitUntil(addr string, stop *atomic.Bool, next *atomic.Int64, request func(int) []byte) (times []time.Duration, err error) {
	for !stop.Load() {
		var some atomic.Int64
		const few = 20
		from := next.Add(few) - few
		own, err := visit(addr, &some, few, func(i int) []byte { return request(int(from) + i) })
		if times = append(times, own...); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (p *process) host() string { return strings.TrimPrefix(p.base, "http://") }

// compare runs the arms in turn: catena, SQL, and SQL that does more.
func (x *against) compare(out io.Writer, name, goal string, conns int, requests ...func(int) []byte) {
	var medians, p99s [3][]time.Duration
	var used [3]spent
	var answered [3]int
	for range 3 {
		for arm, request := range requests {
			to := x.addr
			if arm == 0 {
				to = x.nodes[0].host()
			}
			before := x.spent()
			median, p99, _ := x.timed([]string{to}, conns, request)
			used[arm].add(x.spent(), before)
			answered[arm] += x.answered
			medians[arm], p99s[arm] = append(medians[arm], median), append(p99s[arm], p99)
		}
	}
	var median, p99 [3]time.Duration
	for arm := range medians {
		slices.Sort(medians[arm])
		slices.Sort(p99s[arm])
		median[arm], p99[arm] = medians[arm][1].Round(time.Microsecond), p99s[arm][1].Round(time.Microsecond)
	}
	ours, plain, strict := used[0].each(answered[0]), used[1].each(answered[1]), used[2].each(answered[2])
	fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%.2f\t%.0f + %.0f + %.0f\t%.0f + %.0f\t%.0f + %.0f\n", name, conns, median[0], p99[0], median[1], p99[1], median[2], p99[2],
		float64(median[0])/float64(median[1]), goal, float64(median[0])/float64(median[2]), ours[0], ours[1], ours[2], plain[2], plain[1], strict[2], strict[1])
}

// spent is how long processors were busy for catena, the database, and the client with the server of sql.
type spent [3]time.Duration

func (s *spent) add(now, before spent) {
	for i := range s {
		s[i] += now[i] - before[i]
	}
}

// each is that of one of n requests, in microseconds.
func (s *spent) each(n int) (us [3]float64) {
	for i := range s {
		us[i] = float64(s[i].Microseconds()) / float64(max(1, n))
	}
	return us
}

func (x *against) spent() (s spent) {
	for _, n := range x.nodes {
		s[0] += busy(n.cmd.Process.Pid)
	}
	s[1] = busyBelow(x.postgres)
	s[2] = busy(os.Getpid()) + busy(x.server.Process.Pid)
	return s
}

// stat are the fields of a process behind its name, from its state on.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.Fields(after)
}

func parent(pid int) int {
	if f := stat(pid); len(f) > 1 {
		n, _ := strconv.Atoi(f[1])
		return n
	}
	return 0
}

// busy is how long processors worked for a process, to a hundredth of a second.
func busy(pid int) (d time.Duration) {
	if f := stat(pid); len(f) > 12 {
		for _, ticks := range f[11:13] {
			n, _ := strconv.Atoi(ticks)
			d += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return d
}

// busyBelow is busy of a process and of those that it has started.
func busyBelow(parentPID int) time.Duration {
	d := busy(parentPID)
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		if pid, _ := strconv.Atoi(strings.Split(name, "/")[2]); parent(pid) == parentPID {
			d += busy(pid)
		}
	}
	return d
}

// figure sums a metric of both nodes.
func (x *against) figure(pattern string) (sum float64) {
	re := regexp.MustCompile(`(?m)^` + pattern + ` (\S+)$`)
	for _, p := range x.nodes {
		_, text := administer(x.b, http.MethodGet, p.base+"/metrics", "", "")
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			must(x.b, err)
			sum += n
		}
	}
	return sum
}

// attempts has 16 writers create documents in one folder, on both nodes.
func (x *against) attempts(out io.Writer) {
	const repeats, writes = `catena_transaction_repeats_total`, `catena_transactions_total\{kind="write",result="ok"\}`
	r, w := x.figure(repeats), x.figure(writes)
	x.timed([]string{x.nodes[0].host(), x.nodes[1].host()}, 16, numbered("/api/v1/id/"+x.folder, `{"entity-type":"document","type":"File","name":"w%s"}`))
	r, w = x.figure(repeats)-r, x.figure(writes)-w
	fmt.Fprintf(out, "16 writers in one folder, two nodes\t16\t%.3f attempts a transaction\t\t\t\t\t\t\t1.05\n", 1+r/max(w, 1))
}

// twoNodes compares what one node answers with what two do.
func (x *against) twoNodes(out io.Writer) {
	get := func(i int) []byte { return getRaw("/api/v1/id/" + x.ids[spread(i, len(x.ids))]) }
	var rates [2][]float64
	var used spent
	answered := 0
	for range 3 {
		before := x.spent()
		_, _, one := x.timed([]string{x.nodes[0].host()}, 16, get)
		answered += x.answered
		_, _, two := x.timed([]string{x.nodes[0].host(), x.nodes[1].host()}, 16, get)
		rates[0], rates[1] = append(rates[0], one), append(rates[1], two)
		answered += x.answered
		used.add(x.spent(), before)
	}
	slices.Sort(rates[0])
	slices.Sort(rates[1])
	fmt.Fprintf(out, "documents of two nodes, and of one\t16\t%.0f/s\t\t%.0f/s of one\t\t\t\t%.2f times\t1.8\n", rates[1][1], rates[0][1], rates[1][1]/rates[0][1])
	// All of it shares these processors. With as many for each node and for the database, a node answers until its own are busy, and
	// two do until those of the database are.
	us := used.each(answered)
	fmt.Fprintf(out, "the same, processors of their own\t16\t%.0f µs of a node, %.0f of the database, %.0f of the client\t\t\t\t\t\t%.2f times\t1.8\n", us[0], us[1], us[2], min(2, us[0]/us[1]))
}
