package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// balancer sends requests to nodes in turn, as a proxy does that asks /readyz: one that cannot be connected to, or is not ready, gets
// none until it is again. A request whose connection breaks is sent to another node if it only reads.
type balancer struct {
	mu    sync.Mutex
	nodes []*process
	up    map[*process]bool
	next  int
}

func (b *balancer) add(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = append(b.nodes, p)
}

// probe asks the nodes whether they are ready, until ctx ends.
func (b *balancer) probe(ctx context.Context) {
	client := http.Client{Timeout: 2 * time.Second}
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		b.mu.Lock()
		nodes := slices.Clone(b.nodes)
		b.mu.Unlock()
		for _, p := range nodes {
			resp, err := client.Get(p.base + "/readyz")
			if err == nil {
				_ = resp.Body.Close()
			}
			b.mark(p, err == nil && resp.StatusCode == http.StatusOK)
		}
	}
}

func (b *balancer) mark(p *process, up bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up[p] = up
}

// choose returns the next node that is up, nil if there is none.
func (b *balancer) choose() *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.nodes {
		b.next++
		if p := b.nodes[b.next%len(b.nodes)]; b.up[p] {
			return p
		}
	}
	return nil
}

// do sends a request and returns the status, 0 if there is no answer, and the text of the error.
func (b *balancer) do(method, path, body string) (status int, why string) {
	for range 10 {
		p := b.choose()
		if p == nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		resp, err := admin(context.Background(), method, p.base+path, "application/json", strings.NewReader(body))
		if err == nil {
			var text []byte
			text, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err == nil && resp.StatusCode >= http.StatusBadRequest {
				return resp.StatusCode, string(text)
			}
			if err == nil {
				return resp.StatusCode, ""
			}
		}
		b.mark(p, false)
		if method != http.MethodGet {
			return 0, err.Error() // it may have been carried out
		}
	}
	return 0, "no node is up"
}

// handled is a request that was answered, or not.
type handled struct {
	at, took time.Duration
	status   int
	write    bool
	why      string
}

// happening is what became of a node.
type happening struct {
	at   time.Duration
	what string
}

// TestNodesComeAndGo has nodes leave and join behind a load balancer, under load: one joins, one is killed, one is drained, and one
// joins again. Reads go on without an error, at most those writes are unanswered that were under way on the node that was killed, and
// what was acknowledged is there. CATENA_CHART names a file for a chart of a minute of it.
func TestNodesComeAndGo(t *testing.T) {
	const clients = 6
	chart, phase := os.Getenv("CATENA_CHART"), 700*time.Millisecond
	if chart != "" {
		phase = 12 * time.Second
	}
	args := []string{"--store", pgtest.Database(t), "--blobs", t.TempDir(), "--rate", "-1"}
	b := &balancer{up: map[*process]bool{}}
	start := func() *process {
		p := startServer(t, t.TempDir(), args...)
		get(t, p.base+workspaces) // the first sign-in hashes the password
		b.add(p)
		b.mark(p, true)
		return p
	}
	first, second := start(), start()
	first.want(t, http.StatusCreated, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"load"}`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		working sync.WaitGroup
		mu      sync.Mutex
		all     []handled
		made    []string
		number  atomic.Int64
	)
	began := time.Now()
	working.Go(func() { b.probe(ctx) })
	for range clients {
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				a := handled{at: time.Since(began), write: n%5 == 0}
				name := ""
				if a.write {
					name = "c" + strconv.FormatInt(number.Add(1), 10)
					a.status, a.why = b.do(http.MethodPost, spaces+"/load", fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q}`, name))
				} else {
					a.status, a.why = b.do(http.MethodGet, spaces, "")
				}
				a.took = time.Since(began) - a.at
				mu.Lock()
				if all = append(all, a); a.write && a.status == http.StatusCreated {
					made = append(made, name)
				}
				mu.Unlock()
			}
		})
	}
	var events []happening
	happens := func(what string) { events = append(events, happening{time.Since(began), what}) }
	time.Sleep(phase)
	third := start()
	happens("a third node joins")
	time.Sleep(phase)
	happens("one is killed")
	first.kill()
	time.Sleep(phase)
	happens("one is drained")
	if err := second.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(phase)
	start()
	happens("another one joins")
	time.Sleep(phase)
	stop()
	working.Wait()
	unanswered := 0
	for _, a := range all {
		switch {
		case a.status == 0 && a.write:
			unanswered++
		case a.status != http.StatusOK && a.status != http.StatusCreated:
			t.Errorf("a request after %s: status %d, write: %v: %.500s", a.at, a.status, a.write, a.why)
		}
	}
	if unanswered > clients {
		t.Errorf("%d writes have no answer, more than were under way", unanswered)
	}
	there := map[string]bool{}
	for name := range names(t, third, "load") {
		there[name] = true
	}
	for _, name := range made {
		if !there[name] {
			t.Errorf("%s was acknowledged, and is lost", name)
		}
	}
	t.Logf("%d requests, %d writes acknowledged and there, %d writes without an answer", len(all), len(made), unanswered)
	if chart != "" {
		if err := os.WriteFile(chart, drawNodes(all, events), 0o644); err != nil { //nolint:gosec // a picture for the manual
			t.Fatal(err)
		}
	}
}

// drawNodes draws requests a second and the 99th percentile of each second as SVG.
func drawNodes(all []handled, events []happening) []byte {
	const width, height, left = 800, 150, 60
	seconds := 0
	for _, a := range all {
		seconds = max(seconds, int(a.at.Seconds()))
	}
	rates, slow := make([]float64, seconds), make([]float64, seconds)
	for s := range seconds { // the last second is not whole
		var took []time.Duration
		for _, a := range all {
			if int(a.at.Seconds()) == s {
				took = append(took, a.took)
			}
		}
		if slices.Sort(took); len(took) > 0 {
			rates[s], slow[s] = float64(len(took)), float64(took[len(took)*99/100].Microseconds())/1000
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12"><rect width="100%%" height="100%%" fill="#fff"/>`, width+left+20, 2*(height+40)+20)
	at := func(s float64) float64 { return left + s/float64(max(seconds-1, 1))*width }
	for i, series := range []struct {
		name, color string
		values      []float64
	}{{"requests per second", "#1f77b4", rates}, {"99th percentile, ms", "#d62728", slow}} {
		top, most := i*(height+40)+30, max(1, slices.Max(append([]float64{0}, series.values...)))
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><text x="4" y="%d">%.0f</text><text x="4" y="%d">0</text><polyline fill="none" stroke="%s" stroke-width="2" points="`,
			left, top-8, series.name, top+10, most, top+height, series.color)
		for s, v := range series.values {
			fmt.Fprintf(&b, "%.1f,%.1f ", at(float64(s)), float64(top+height)-v/most*height)
		}
		b.WriteString(`"/>`)
		for _, e := range events {
			fmt.Fprintf(&b, `<line x1="%[1]f" x2="%[1]f" y1="%[2]d" y2="%[3]d" stroke="#888" stroke-dasharray="4"/>`, at(e.at.Seconds()), top, top+height)
			if i == 0 {
				fmt.Fprintf(&b, `<text x="%f" y="%d" fill="#444">%s</text>`, at(e.at.Seconds())+4, top+height+14, e.what)
			}
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%d seconds</text></svg>`+"\n", left+width-60, 2*(height+40)+12, seconds)
	return b.Bytes()
}
