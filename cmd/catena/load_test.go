package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"catena/engine"
	"catena/rest"
)

// The end-to-end load benchmark: every work once on the floor and once on catena, over 1
// and 16 kept-alive connections. A name that ends in Copied has the floor that copies what is stored. The last line of each pair is the ratio of requests per
// second. What waits for the disk has a third line, the limit: what is left of the floor
// if all it does is one synced write. CATENA_BENCH_DOCS sets the size of the repository
// (10,000).
//
//	go test -run '^$' -bench Load ./cmd/catena
func BenchmarkLoad(b *testing.B) {
	docs := 10_000
	if s := os.Getenv("CATENA_BENCH_DOCS"); s != "" {
		docs, _ = strconv.Atoi(s)
	}
	strict := newBench(b, docs, false)
	for _, w := range []struct {
		name                 string
		floor, catena, limit func(i int) []byte
	}{
		{name: "noop", floor: post("/noop", `{"input":"x","params":{}}`), catena: post("/api/v1/automation/Bench.Noop", `{"input":"x","params":{}}`)},
		{name: "get", floor: strict.floorGet, catena: strict.catenaGet},
		{name: "getByPath", floor: strict.floorGet, catena: strict.catenaGetByPath},
		{name: "getCopied", floor: strict.floorCopied, catena: strict.catenaGetByPath},
		{name: "page", floor: strict.floorPage, catena: strict.catenaPage("-1")},
		{name: "pageWithTotal", floor: strict.floorPage, catena: strict.catenaPage("1000")},
		{name: "create", floor: post("/docs", floorBody), catena: numbered("/api/v1/path/default-domain/workspaces/bench", catenaBody), limit: post("/synced", floorBody)},
		{name: "chain", floor: post("/chain", `{"input":"x"}`), catena: post("/api/v1/automation/Bench.Chain", `{"input":"x","params":{}}`)},
		{name: "chainAndStore", floor: post("/chain", `{"input":"x","store":true}`), catena: numbered("/api/v1/automation/Bench.Store", `{"input":"x","params":{"name":"%s"}}`)},
		{name: "chainAndStoreUnnamed", floor: post("/chain", `{"input":"x","store":true}`), catena: post("/api/v1/automation/Bench.Unnamed", `{"input":"x","params":{}}`)},
	} {
		for _, conns := range []int{1, 16} {
			var base float64
			b.Run(fmt.Sprintf("%s/floor/c%d", w.name, conns), func(b *testing.B) {
				base = load(b, strict.floorAddr, conns, w.floor)
			})
			compare := func(server, addr string, request func(i int) []byte) {
				b.Run(fmt.Sprintf("%s/%s/c%d", w.name, server, conns), func(b *testing.B) {
					if got := load(b, addr, conns, request); base > 0 {
						b.ReportMetric(got/base, "ratio")
					}
				})
			}
			compare("catena", strict.catenaAddr, w.catena)
			if w.limit != nil && conns == 1 {
				compare("limit", strict.floorAddr, w.limit)
			}
		}
	}
}

// BenchmarkRelaxed measures creation without waiting for the disk.
func BenchmarkRelaxed(b *testing.B) {
	relaxed := newBench(b, 100, true)
	for _, conns := range []int{1, 16} {
		var base float64
		b.Run(fmt.Sprintf("create/floor/c%d", conns), func(b *testing.B) {
			base = load(b, relaxed.floorAddr, conns, post("/docs", floorBody))
		})
		b.Run(fmt.Sprintf("create/catena/c%d", conns), func(b *testing.B) {
			got := load(b, relaxed.catenaAddr, conns, numbered("/api/v1/path/default-domain/workspaces/bench", catenaBody))
			if base > 0 {
				b.ReportMetric(got/base, "ratio")
			}
		})
	}
}

var (
	filler     = strings.Repeat("lorem ipsum ", 60)
	floorBody  = `{"title":"a title","properties":{"dc:title":"a title","dc:description":"` + filler + `","dc:source":"bench","dc:language":"en"}}`
	catenaBody = `{"entity-type":"document","type":"File","name":"%s","properties":{"dc:title":"a title","dc:description":"` + filler + `","dc:source":"bench","dc:language":"en"}}`
)

// bench is a floor and a catena, each holding the same number of documents.
type bench struct {
	floorAddr, catenaAddr string
	floorIDs, catenaIDs   []string
	floorTimes            []int64
}

func newBench(b *testing.B, docs int, relaxed bool) *bench {
	b.Helper()
	x := &bench{}
	f := newFloor(b, !relaxed)
	x.fillFloor(b, f, docs)
	x.floorAddr = listen(b, f.handler())
	args := openOptions{adminPassword: adminPassword}
	if relaxed {
		args.durability = (&serve{relaxed: true}).options().durability
	}
	g := &global{data: b.TempDir(), logLevel: "error", logFormat: "text"}
	a, err := g.openWith(b.Context(), args)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.close() })
	x.prepare(b, a)
	x.fillCatena(b, a, docs)
	x.catenaAddr = listen(b, a.handler(rest.Config{}))
	return x
}

// noop passes its input on.
type noop struct{}

func (noop) run(_ *engine.Ctx, in string) (string, error) { return in, nil }

// dot appends a full stop, for the chain of ten.
type dot struct{}

func (dot) run(_ *engine.Ctx, in string) (string, error) { return in + ".", nil }

// prepare adds the operations and chains that only the benchmark needs.
func (x *bench) prepare(b *testing.B, a *app) {
	b.Helper()
	err := a.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{
			{Name: "Bench.Noop", Doc: "Passes its input on.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(func(p noop, c *engine.Ctx, in string) (string, error) { return p.run(c, in) })},
			{Name: "Bench.Dot", Doc: "Appends a full stop.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(func(p dot, c *engine.Ctx, in string) (string, error) { return p.run(c, in) })},
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	steps := strings.Repeat("  - op: Bench.Dot\n", 10)
	c, err := a.client(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	store := func(name, params, create string) string {
		return "name: " + name + "\ndescription: Ten steps and one document.\ninput: string\noutput: document\nparams: [" + params + "]\nsteps:\n" + steps +
			"  - op: Context.SetInputAsVar\n    params: {name: text}\n  - op: Repository.GetDocument\n    params: {value: /default-domain/workspaces/bench}\n" +
			"  - op: Document.Create\n    params: {type: File, " + create + "properties: {\"dc:title\": \"@{text}\"}}\n"
	}
	for _, source := range []string{
		"name: Bench.Chain\ndescription: Ten steps.\ninput: string\noutput: string\nsteps:\n" + steps,
		store("Bench.Store", "{name: name, type: string}", `name: "@{name}", `),
		store("Bench.Unnamed", "", ""),
	} {
		if err := c.object(b.Context(), call{op: "Chain.Save", params: map[string]any{"source": source}}, nil); err != nil {
			b.Fatal(err)
		}
	}
	x.folder(b, a)
}

// folder makes the folder that documents go to.
func (x *bench) folder(b *testing.B, a *app) {
	b.Helper()
	c, err := a.client(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	err = c.object(b.Context(), call{op: "Document.Create", input: "/default-domain/workspaces", params: map[string]any{"type": "Folder", "name": "bench"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
}

func (x *bench) fillFloor(b *testing.B, f *floor, docs int) {
	b.Helper()
	batch := f.db.NewWriteBatch()
	defer batch.Cancel()
	for i := range docs {
		d := floorDoc{ID: fmt.Sprintf("%036d", i), Title: "a title", Modified: int64(i), Properties: []byte(`{"dc:title":"a title","dc:description":"` + filler + `"}`)}
		raw, _ := json.Marshal(d)
		if err := batch.Set([]byte("d"+d.ID), raw); err != nil {
			b.Fatal(err)
		}
		if err := batch.Set(floorIndex(d), nil); err != nil {
			b.Fatal(err)
		}
		x.floorIDs, x.floorTimes = append(x.floorIDs, d.ID), append(x.floorTimes, d.Modified)
	}
	if err := batch.Flush(); err != nil {
		b.Fatal(err)
	}
}

// fillCatena makes documents through operations, a few hundred in a transaction and
// several transactions at a time.
func (x *bench) fillCatena(b *testing.B, a *app, docs int) {
	b.Helper()
	const batch, importers = 500, 4
	if err := a.engine.Swap(func(s *engine.Set) (*engine.Set, error) { return s.With([]engine.Op{fillOp}) }); err != nil {
		b.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		next atomic.Int64
		ids  = make([][]string, (docs+batch-1)/batch)
	)
	for range importers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ids) {
					return
				}
				params := map[string]any{"from": i * batch, "count": min(batch, docs-i*batch)}
				r, err := a.engine.Run(b.Context(), engine.Call{Op: "Bench.Fill", As: a.repo.System(), Params: params})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = r.Value.([]string)
			}
		})
	}
	wg.Wait()
	x.catenaIDs = append(x.catenaIDs, slices.Concat(ids...)...)
}

// load sends requests over conns connections and reports rate, p99 and CPU an answer.
func load(b *testing.B, addr string, conns int, request func(i int) []byte) float64 {
	b.Helper()
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		mu    sync.Mutex
		times []time.Duration
	)
	settle()
	cpu := cpuTime()
	start := time.Now()
	b.ResetTimer()
	for range conns {
		wg.Go(func() {
			own, err := visit(addr, &next, int64(b.N), request)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	elapsed := time.Since(start)
	slices.Sort(times)
	rate := float64(b.N) / elapsed.Seconds()
	b.ReportMetric(rate, "req/s")
	if len(times) > 0 {
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	}
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N)/1000, "cpu-µs/op")
	return rate
}

// settle waits, for a while, until the process does little: what a server puts off, as merging what was written,
// is not to be counted as work of the next one measured.
func settle() {
	const pause = 50 * time.Millisecond
	for range 100 {
		cpu := cpuTime()
		time.Sleep(pause)
		if cpuTime()-cpu < pause/20 {
			return
		}
	}
}

// visit sends requests over one connection until n are sent.
func visit(addr string, next *atomic.Int64, n int64, request func(i int) []byte) ([]time.Duration, error) {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	var times []time.Duration
	for {
		i := next.Add(1) - 1
		if i >= n {
			return times, nil
		}
		start := time.Now()
		if _, err := conn.Write(request(int(i))); err != nil {
			return times, err
		}
		if err := readAnswer(r); err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
	}
}

// readAnswer reads one response and insists on success, or on nothing new.
func readAnswer(r *bufio.Reader) error {
	length, status := 0, ""
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case status == "":
			status = string(line)
		case len(line) == 0:
			body, err := readBody(r, length)
			if err == nil && !strings.HasPrefix(status, "HTTP/1.1 20") && !strings.HasPrefix(status, "HTTP/1.1 304") {
				err = fmt.Errorf("%s: %s", status, body)
			}
			return err
		case len(line) > 16 && strings.EqualFold(string(line[:15]), "content-length:"):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[15:]))); err != nil {
				return err
			}
		case bytes.EqualFold(line, []byte("transfer-encoding: chunked")):
			length = -1
		}
	}
}

// readBody reads a body of a length, or, below zero, one in chunks.
func readBody(r *bufio.Reader, length int) ([]byte, error) {
	if length >= 0 {
		return io.ReadAll(io.LimitReader(r, int64(length)))
	}
	body, err := io.ReadAll(httputil.NewChunkedReader(r))
	if err == nil {
		_, err = r.ReadSlice('\n') // the empty line after the last chunk
	}
	return body, err
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// listen serves the handler on a free port.
func listen(b *testing.B, h http.Handler) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h}
	if own, ok := h.(*rest.Handler); ok {
		s, l = own.Server(), own.Listener(l)
	}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// post returns the same request every time.
func post(path, body string) func(int) []byte {
	raw := []byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, basic, len(body), body))
	return func(int) []byte { return raw }
}

// numbered is post with a name of its own for each document.
func numbered(path, body string) func(int) []byte {
	var n atomic.Int64
	return func(int) []byte { return post(path, fmt.Sprintf(body, fmt.Sprintf("n%d", n.Add(1))))(0) }
}

func getRaw(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic " + basic + "\r\nX-NXproperties: *\r\n\r\n")
}

func (x *bench) floorGet(i int) []byte {
	return getRaw("/docs/" + x.floorIDs[spread(i, len(x.floorIDs))])
}

func (x *bench) catenaGet(i int) []byte {
	return getRaw("/api/v1/id/" + x.catenaIDs[spread(i, len(x.catenaIDs))])
}

func (x *bench) floorCopied(i int) []byte {
	return getRaw("/copied/" + x.floorIDs[spread(i, len(x.floorIDs))])
}

func (x *bench) catenaGetByPath(i int) []byte {
	return getRaw(fmt.Sprintf("/api/v1/path/default-domain/workspaces/bench/d%08d", spread(i, len(x.catenaIDs))))
}

func (x *bench) floorPage(i int) []byte {
	return getRaw(fmt.Sprintf("/page?from=%d", x.floorTimes[spread(i, len(x.floorTimes)-50)]))
}

// catenaPage asks for fifty documents in the order of an indexed property; countLimit -1
// leaves the total out.
func (x *bench) catenaPage(countLimit string) func(i int) []byte {
	return func(i int) []byte {
		q := url.Values{
			"query":      {fmt.Sprintf("SELECT * FROM File WHERE dc:source >= 's%08d' ORDER BY dc:source", spread(i, len(x.catenaIDs)-50))},
			"pageSize":   {"50"},
			"countLimit": {countLimit},
		}
		return getRaw("/api/v1/search/execute?" + q.Encode())
	}
}

// spread visits 0..n-1 in an order far from the stored one.
func spread(i, n int) int { return int(uint32(i) * 2654435761 % uint32(max(n, 1))) }

var basic = base64.StdEncoding.EncodeToString([]byte("Administrator:" + adminPassword))

// fill makes many documents in one transaction.
type fill struct {
	From  int `json:"from" doc:"Number of the first."`
	Count int `json:"count" doc:"How many."`
}

func (p fill) run(c *engine.Ctx, _ engine.Void) ([]string, error) {
	parent, err := c.Tx.Doc("/default-domain/workspaces/bench")
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, p.Count)
	for i := range p.Count {
		d, err := c.Tx.Create(parent, "File", fmt.Sprintf("d%08d", p.From+i), map[string]any{
			"dc:title": "a title", "dc:description": filler, "dc:source": fmt.Sprintf("s%08d", p.From+i),
		})
		if err != nil {
			return nil, err
		}
		ids = append(ids, d.ID())
	}
	return ids, nil
}

var fillOp = engine.Op{Name: "Bench.Fill", Doc: "Makes many documents.", Callers: engine.Anyone, Run: engine.On(fill.run)}

// rate sends n requests over conns connections and returns how many a second were answered.
func rate(b *testing.B, addr string, conns, n int, request func(int) []byte) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range conns {
		wg.Go(func() {
			if _, err := visit(addr, &next, int64(n), request); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(start).Seconds()
}
