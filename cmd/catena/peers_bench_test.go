package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
	"catena/rest"
	"catena/storage"
)

// itemTypes declare what the items of BenchmarkPeers are.
const itemTypes = `
schemas:
  item:
    fields:
      status: {type: string, index: true}
      priority: {type: long, index: true}
      rank: {type: long, index: true}
      owner: string
      note: string
      amount: double
types:
  Item: {parent: File, schemas: [item]}
`

// peers are the servers of BenchmarkPeers with what they have been filled with.
type peers struct {
	bench
	b             *testing.B
	full          *app // with the items
	items         int
	relaxed       string // address of the catena that does not wait for the disk
	relaxedFloor  string
	itemIDs       []string
	scripts       string // of the floor that runs scripts
	sdk           string // of the handler of the library for MCP
	key           string // for MCP
	pocket, token string // PocketBase; "" if there is none
}

// peerWork is a line of the table: the same work on the floor, on catena and on PocketBase. Where nil or "", an arm is left out.
type peerWork struct {
	name             string
	floorAddr, addr  func(x *peers) string
	floor, own, peer func(i int) []byte
	goals            string // of the ratio to the floor, and to PocketBase, on 1 / 16 connections
	before           func() // nil: nothing
}

// BenchmarkPeers measures, in one run, what people compare servers by: requests per second of catena on 1 and 16 kept-alive
// connections, as a ratio to the floor, which copies stored bytes, and to PocketBase, and the start and the memory of an idle
// server. CATENA_BENCH_DOCS sets the number of documents (10,000), CATENA_PEER the program that testdata/pocketbase makes;
// make peers builds it. Arms run in turn; figures are the medians of three turns, after one that is not measured.
//
//	make peers
func BenchmarkPeers(b *testing.B) {
	x := newPeers(b)
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "work\treq/s, 1\treq/s, 16\tfloor, 1\tfloor, 16\tPocketBase, 1\tPocketBase, 16\tgoals")
	for _, w := range x.works() {
		b.Run(strings.ReplaceAll(w.name, " ", "_"), func(b *testing.B) {
			if w.before != nil {
				w.before()
			}
			var rates [3][2]float64 // of the floor, catena and PocketBase
			for c, conns := range []int{1, 16} {
				got := x.rates(b, &w, conns)
				for arm := range got {
					rates[arm][c] = got[arm]
				}
			}
			fmt.Fprintf(out, "%s\t%.0f\t%.0f", w.name, rates[1][0], rates[1][1])
			for arm, unit := range map[int]string{0: "of-floor", 2: "of-PocketBase"} {
				for c, conns := range []int{1, 16} {
					if rates[arm][c] > 0 {
						b.ReportMetric(rates[1][c]/rates[arm][c], fmt.Sprintf("%s/c%d", unit, conns))
					}
				}
			}
			for _, arm := range []int{0, 2} {
				for c := range 2 {
					fmt.Fprint(out, "\t", ratioText(rates[1][c], rates[arm][c]))
				}
			}
			fmt.Fprintln(out, "\t"+w.goals)
			b.ReportMetric(0, "ns/op")
		})
	}
	x.starts(out)
	must(b, out.Flush())
	fmt.Println(table.String())
}

func ratioText(own, other float64) string {
	if other == 0 {
		return "-"
	}
	return strconv.FormatFloat(own/other, 'g', 3, 64)
}

// turn is how long an arm is measured at a time.
const turn = 700 * time.Millisecond

// turnOf runs an arm without measuring it, and returns how many requests a turn has. An arm that has just begun is slower, for what
// it keeps in memory is still to be read: how many requests are answered in a turn is known once one of at least half of
// them was run.
func turnOf(b *testing.B, addr string, conns int, request func(int) []byte) int {
	for n := 60; ; {
		wanted := max(20, int(turn.Seconds()*rate(b, addr, conns, n, request)))
		if n >= wanted/2 || b.Failed() {
			return wanted
		}
		n = wanted
	}
}

// rates runs the arms of a work in turn, three times each, and returns the medians of their requests per second.
func (x *peers) rates(b *testing.B, w *peerWork, conns int) (medians [3]float64) {
	addresses := [3]string{x.floorAddr, x.catenaAddr, x.pocket}
	if w.floorAddr != nil {
		addresses[0] = w.floorAddr(x)
	}
	if w.addr != nil {
		addresses[1] = w.addr(x)
	}
	for arm, request := range []func(int) []byte{w.floor, w.own, w.peer} {
		if request == nil || addresses[arm] == "" {
			continue
		}
		n := turnOf(b, addresses[arm], conns, request)
		var all []float64
		stop := func() {}
		if arm < 2 {
			stop = profiled(b, fmt.Sprintf("%s-c%d-%s-%dx", strings.ReplaceAll(w.name, " ", "_"), conns, [...]string{"floor", "catena"}[arm], 3*n))
		}
		for range 3 {
			settle()
			all = append(all, rate(b, addresses[arm], conns, n, request))
		}
		stop()
		slices.Sort(all)
		medians[arm] = all[1]
	}
	return medians
}

// profiled writes, until stop is called, what the processor does and what is allocated, to files of this name in the folder
// CATENA_BENCH_PROFILES, if that is set. Names end with the number of requests, by which the times of parts can be divided.
func profiled(b *testing.B, name string) (stop func()) {
	dir := os.Getenv("CATENA_BENCH_PROFILES")
	if dir == "" {
		return func() {}
	}
	file := func(end string) *os.File {
		f, err := os.Create(filepath.Join(dir, name+end))
		must(b, err)
		return f
	}
	allocs := func(end string) {
		f := file(end)
		defer f.Close()
		must(b, pprof.Lookup("allocs").WriteTo(f, 0))
	}
	allocs(".before.allocs")
	cpu := file(".cpu")
	must(b, pprof.StartCPUProfile(cpu))
	return func() {
		pprof.StopCPUProfile()
		must(b, cpu.Close())
		allocs(".allocs")
	}
}

func newPeers(b *testing.B) *peers {
	docs, err := strconv.Atoi(cmp.Or(os.Getenv("CATENA_BENCH_DOCS"), "10000"))
	must(b, err)
	x := &peers{b: b, items: docs}
	f := newFloor(b, true)
	x.fillFloor(b, f, docs)
	x.floorAddr, x.scripts = listen(b, f.handler()), listen(b, f.scripts(x.floorIDs[:100]))
	x.relaxedFloor = listen(b, newFloor(b, false).handler())
	x.fillFloorDecks(f)
	a := x.open(true)
	x.full = a
	x.catenaAddr = listen(b, a.handler(rest.Config{Limits: rest.Limits{Rate: -1}}))
	x.relaxed = listen(b, x.open(false).handler(rest.Config{Limits: rest.Limits{Rate: -1}}))
	x.sdk = listen(b, sdkHandler())
	if program := os.Getenv("CATENA_PEER"); program != "" {
		x.startPocket(program)
	}
	return x
}

// sdkHandler is a server of the library for MCP with one tool that does nothing.
func sdkHandler() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	type empty struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "list_decks"}, func(context.Context, *mcp.CallToolRequest, struct {
		Page int `json:"page"`
	},
	) (*mcp.CallToolResult, empty, error) {
		return nil, empty{}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func (x *peers) fillFloorDecks(f *floor) {
	html, _ := json.Marshal(deckHTML)
	for i := range floorDecks {
		must(x.b, f.put(floorDoc{ID: fmt.Sprintf("deck-%d", i), Title: "a title", Modified: int64(x.items + i), Properties: []byte(`{"data":` + string(html) + `}`)}))
	}
}

// open opens a catena; a full one has the items and decks, and waits for the disk.
func (x *peers) open(full bool) *app {
	b, dir := x.b, x.b.TempDir()
	must(b, os.MkdirAll(filepath.Join(dir, "types"), 0o700))
	must(b, os.WriteFile(filepath.Join(dir, "types", "item.yaml"), []byte(itemTypes), 0o600))
	o := openOptions{adminPassword: adminPassword}
	if !full {
		o.durability = (&serve{relaxed: true}).options().durability
	}
	a, err := (&global{data: dir, logLevel: "error", logFormat: "text"}).openWith(b.Context(), o)
	must(b, err)
	b.Cleanup(func() { _ = a.close() })
	x.prepare(b, a)
	if !full {
		return a
	}
	x.fillCatena(b, a, 100) // what the script reads
	for from := 0; from < x.items; from += 500 {
		records := make([]any, min(500, x.items-from))
		for i := range records {
			records[i] = itemRecord(from + i)
		}
		r, err := a.engine.Run(b.Context(), engine.Call{Op: "Bulk.Load", As: a.repo.System(), Params: map[string]any{"records": records, "into": "/default-domain/workspaces/bench", "type": "Item"}})
		must(b, err)
		for _, one := range r.Value.([]any) {
			x.itemIDs = append(x.itemIDs, one.(map[string]any)["uid"].(string))
		}
	}
	fillDecks(b, a, floorDecks)
	x.prepareScripts(a)
	c, err := a.client(b.Context())
	must(b, err)
	var key struct{ Key string }
	must(b, c.object(b.Context(), call{op: "Key.Create", params: map[string]any{"name": "bench"}}, &key))
	x.key = key.Key
	return a
}

func itemRecord(i int) map[string]any {
	r := uint32(i) * 2654435761
	return map[string]any{"name": fmt.Sprint("i", i), "properties": map[string]any{
		"dc:title": fmt.Sprint("Item ", i), "dc:description": strings.Repeat("lorem ipsum ", 20), "dc:source": fmt.Sprintf("s%08d", i),
		"dc:language": "en", "dc:rights": "all", "dc:format": "text/plain", "item:status": []string{"draft", "open", "approved", "paid"}[r>>8%4],
		"item:owner": fmt.Sprint("user", r%500), "item:note": strings.Repeat("note ", 10), "item:priority": int64(r >> 12 % 10),
		"item:rank": int64(r >> 4), "item:amount": float64(r%100_000) / 100,
	}}
}

// prepareScripts deploys two of the scripts of BenchmarkScripts.
func (x *peers) prepareScripts(a *app) {
	must(x.b, a.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Bench.Call", Doc: "Passes its input on.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(numberedNoop.run)}})
	}))
	c, err := a.client(x.b.Context())
	must(x.b, err)
	ids, _ := json.Marshal(x.catenaIDs[:100])
	for _, w := range scripted {
		if w.name != "calls" && w.name != "read" {
			continue
		}
		source := "/**\n * @operation Bench." + w.name + "\n * @description Works.\n * @effect reads\n */\n" +
			"function run(input, params) { " + strings.ReplaceAll(w.catena, "IDS", string(ids)) + "; return 1 }\n"
		must(x.b, c.object(x.b.Context(), call{op: "Script.Save", params: map[string]any{"source": source}}, nil))
	}
}

// startPocket fills PocketBase, starts it and signs in.
func (x *peers) startPocket(program string) {
	b, dir := x.b, x.b.TempDir()
	deck := bytes.ReplaceAll([]byte(deckHTML), []byte(deckSeed), []byte("12345678"))
	if out, err := exec.CommandContext(b.Context(), program, "fill", strconv.Itoa(x.items), string(deck), "--dir", dir, "--dev=false").CombinedOutput(); err != nil {
		b.Fatalf("%v %s", err, out)
	}
	x.pocket, _ = x.runPocket(program, dir)
	res, err := http.Post("http://"+x.pocket+"/api/collections/_superusers/auth-with-password", "application/json", strings.NewReader(`{"identity":"admin@example.org","password":"correct horse battery"}`)) //nolint:noctx // a benchmark
	must(b, err)
	defer res.Body.Close()
	var signed struct{ Token string }
	must(b, json.NewDecoder(res.Body).Decode(&signed))
	x.token = signed.Token
}

// runPocket starts PocketBase and returns its address once it answers, with how long that took and its process.
func (x *peers) runPocket(program, dir string) (addr string, p launched) {
	addr = freeAddress(x.b)
	cmd := exec.CommandContext(x.b.Context(), program, "serve", "--http", addr, "--dir", dir, "--dev=false")
	begun := time.Now()
	must(x.b, cmd.Start())
	x.b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for {
		res, err := http.Get("http://" + addr + "/api/health") //nolint:noctx // a benchmark
		if err == nil {
			_ = res.Body.Close()
			return addr, launched{time.Since(begun), cmd.Process.Pid}
		}
		if time.Since(begun) > 20*time.Second {
			x.b.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// starts adds the start of empty servers and their memory.
func (x *peers) starts(out *tabwriter.Writer) {
	own := startEmpty(x.b)
	fmt.Fprintf(out, "start, ms\t%.0f\t\t\t", own["start-ms"])
	peer := map[string]float64{}
	if program := os.Getenv("CATENA_PEER"); program != "" {
		_, p := x.runPocket(program, filepath.Join(x.b.TempDir(), "empty"))
		time.Sleep(2 * time.Second)
		peer["start-ms"] = float64(p.took.Microseconds()) / 1000
		peer["idle-MB"], _ = memory(strconv.Itoa(p.pid))
	}
	fmt.Fprintf(out, "\t%.0f\t\t45 ms\nidle memory, MB\t%.0f\t\t\t\t%.0f\t\t45 MB\n", peer["start-ms"], own["idle-MB"], peer["idle-MB"])
}

// launched is a started process.
type launched struct {
	took time.Duration
	pid  int
}

// indexed has the server do what it does every few minutes, until it has built the index that these requests would be cheap with.
func (x *peers) indexed(request func(i int) []byte) func() {
	return func() {
		ctx, repo := x.b.Context(), x.full.repo
		rate(x.b, x.catenaAddr, 1, 100, request)
		must(x.b, x.full.sweepBranch(ctx, x.full.branches[0]))
		all, err := repo.AutomaticIndexes(ctx)
		must(x.b, err)
		if !slices.ContainsFunc(all, func(a storage.Automatic) bool { return a.State == storage.IndexComplete }) {
			x.b.Errorf("automatic indexes: %+v", all)
		}
	}
}

// pageOf asks for a page of 50 items.
func pageOf(query, count string) func(int) []byte {
	q := url.Values{"query": {query}, "pageSize": {"50"}, "countLimit": {count}}
	raw := getRaw("/api/v1/search/execute?" + q.Encode())
	return func(int) []byte { return raw }
}

// asked makes a request from its parts.
func asked(method, path, body string, headers ...string) func(int) []byte {
	h := method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for _, line := range headers {
		h += line + "\r\n"
	}
	if body != "" {
		h += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	raw := []byte(h + "\r\n" + body)
	return func(int) []byte { return raw }
}

// pocketAsked is a request to PocketBase.
func (x *peers) pocketAsked(method, path, body string) func(int) []byte {
	return asked(method, "/api/collections/"+path, body, "Authorization: "+x.token)
}

// pocketPage asks PocketBase for a page of 50 items.
func (x *peers) pocketPage(filter, sort string, total bool) func(int) []byte {
	q := url.Values{"sort": {sort}, "perPage": {"50"}}
	if filter != "" {
		q.Set("filter", filter)
	}
	if !total {
		q.Set("skipTotal", "1")
	}
	return x.pocketAsked("GET", "items/records?"+q.Encode(), "")
}

// each makes the i-th request by fn.
func each(fn func(i int) func(int) []byte) func(int) []byte {
	return func(i int) []byte { return fn(i)(i) }
}

// works are the lines of the table.
func (x *peers) works() []peerWork {
	const (
		filtered = "SELECT * FROM Item WHERE item:status = 'approved' AND item:priority >= 5 ORDER BY item:rank DESC"
		wanted   = "status = 'approved' && priority >= 5"
	)
	item := `{"title":"a title","description":"` + filler + `","source":"bench","language":"en"}`
	html, _ := json.Marshal(strings.ReplaceAll(deckHTML, deckSeed, "12345678"))
	page := func(i int) []byte {
		return getRaw(fmt.Sprintf("/copiedPage?from=%d", x.floorTimes[spread(i, len(x.floorTimes)-50)]))
	}
	deck := func(i int) []byte { return getRaw(fmt.Sprintf("/copied/deck-%d", spread(i, floorDecks))) }
	pocketDeck := func(method, body string) func(int) []byte {
		return each(func(i int) func(int) []byte {
			return x.pocketAsked(method, fmt.Sprintf("decks/records/d%014d", spread(i, floorDecks)), body)
		})
	}
	accept, key := "Accept: application/json, text/event-stream", "Authorization: Bearer "+x.key
	tool := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	nothing := asked("POST", "/mcp/automation", tool("run_operation", `{"operation":"Bench.Noop","input":"x"}`), key, accept)
	own, listTool := func(x *peers) string { return x.catenaAddr }, tool("list_decks", `{"page":10,"per_page":20}`)
	list := asked("POST", "/mcp", listTool, key, accept)
	relaxed, scripts := func(x *peers) string { return x.relaxed }, func(x *peers) string { return x.scripts }
	relaxedFloor := func(x *peers) string { return x.relaxedFloor }
	create := numbered("/api/v1/path/default-domain/workspaces/bench", catenaBody)
	pocketCreate, filteredPage := x.pocketAsked("POST", "items/records", item), pageOf(filtered, "-1")
	return []peerWork{
		{name: "page, three conditions", floor: page, own: filteredPage, peer: x.pocketPage(wanted, "-rank", false), goals: "0.8 / 0.7, 5 / 5"},
		{name: "page, three conditions, total", floor: page, own: pageOf(filtered, "1000"), peer: x.pocketPage(wanted, "-rank", true), goals: "0.8 / 0.7, 15 / 15"},
		{name: "page by rank", floor: page, own: pageOf("SELECT * FROM Item ORDER BY item:rank DESC", "-1"), peer: x.pocketPage("", "-rank", false), goals: "0.8 / 0.7, 5 / 5"},
		{name: "page, three conditions, automatic index", before: x.indexed(filteredPage), floor: page, own: filteredPage, peer: x.pocketPage(wanted, "-rank", false), goals: "0.8 / 0.7, 5 / 5"},
		{name: "chain, unnamed document", floor: post("/chain", `{"input":"x","store":true}`), own: post("/api/v1/automation/Bench.Unnamed", `{"input":"x","params":{}}`), peer: pocketCreate, goals: "0.7 / 0.5, 5 / 5"},
		{name: "get by path", floor: x.floorCopied, own: func(i int) []byte {
			return getRaw(fmt.Sprintf("/api/v1/path/default-domain/workspaces/bench/i%d", spread(i, x.items)))
		}, peer: each(func(i int) func(int) []byte {
			return x.pocketAsked("GET", fmt.Sprintf("items/records/i%014d", spread(i, x.items)), "")
		}), goals: "0.75 / 0.65, 2.3 / 3.7"},
		{name: "get by id", floor: x.floorCopied, own: func(i int) []byte { return getRaw("/api/v1/id/" + x.itemIDs[spread(i, x.items)]) }},
		{name: "deck detail", floor: deck, own: func(i int) []byte {
			return getRaw(fmt.Sprintf("/v1/decks/%d?revision=b", 1+spread(i, floorDecks)))
		}, peer: pocketDeck("GET", ""), goals: "0.8 / 0.6, 9 / 14"},
		{name: "create, not synced", floorAddr: relaxedFloor, floor: post("/docs", floorBody), addr: relaxed, own: create, peer: pocketCreate, goals: "0.7 / 0.55, 2.4 / 3.9"},
		{name: "create, durable", floor: post("/docs", floorBody), own: create, peer: pocketCreate, goals: "1.7 / 0.7, 1.5 / 5"},
		{name: "chain of ten", floor: post("/chain", `{"input":"x"}`), own: post("/api/v1/automation/Bench.Chain", `{"input":"x","params":{}}`), goals: "0.75 / 0.65"},
		{name: "script, 100 calls", floorAddr: scripts, floor: post("/calls", `{"params":{}}`), own: post("/api/v1/automation/Bench.calls", `{"params":{}}`), goals: "1.5 / 1.2"},
		{name: "script, 100 documents", floorAddr: scripts, floor: post("/read", `{"params":{}}`), own: post("/api/v1/automation/Bench.read", `{"params":{}}`), goals: "1.8 / 1.7"},
		{name: "deck, new title", floor: func(i int) []byte { return patch(fmt.Sprintf("/docs/deck-%d", spread(i, floorDecks)), i) }, own: func(i int) []byte {
			return patch(fmt.Sprintf("/v1/decks/%d?revision=a", 1+spread(i, floorDecks)), i)
		}, peer: pocketDeck("PATCH", `{"title":"another title"}`), goals: "2.2, 7.4"},
		{name: "deck list", floor: x.floorPage, own: func(int) []byte { return getRaw("/v1/decks?per_page=20&page=10") }, peer: x.pocketAsked("GET", "decks/records?perPage=20&page=10", ""), goals: ", 100"},
		{name: "new deck", floor: post("/docs", `{"title":"a title","properties":{"data":`+string(html)+`}}`), own: post("/v1/decks", `{"title":"a title","data":`+string(html)+`}`), peer: x.pocketAsked("POST", "decks/records", `{"title":"a title","data":`+string(html)+`}`)},
		{name: "MCP call", floor: post("/noop", `{"input":"x","params":{}}`), own: nothing, goals: "0.6 / 0.5"},
		{name: "MCP call beside the library", floorAddr: func(x *peers) string { return x.sdk }, floor: asked("POST", "/", tool("list_decks", `{"page":1}`), accept), own: nothing, goals: "3 / 5"},
		{name: "MCP list beside HTTP", floorAddr: own, floor: asked("GET", "/v1/decks?per_page=20&page=10&revision=b", "", key), own: list, goals: "0.6 / 0.5"},
		// What is unusual about this Accept leads to the handler of the library, with the same tool.
		{name: "MCP list beside the library", floorAddr: own, floor: asked("POST", "/mcp", listTool, key, "Accept: application/json; charset=utf-8, text/event-stream"), own: list, goals: "3 / 5"},
	}
}

// freeAddress is an address that nobody listens on.
func freeAddress(b *testing.B) string {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	must(b, err)
	defer l.Close()
	return l.Addr().String()
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
