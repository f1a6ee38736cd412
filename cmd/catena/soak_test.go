package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	soakClients  = 8
	soakContent  = 256 << 10 // bytes of a file
	soakFiles    = 64        // contents that there are: one that nothing refers to any more is kept for a day, and disk would only grow
	soakSamples  = 200       // in a run
	soakMeasured = 4 * time.Minute
)

// soakTime is how long the soak lasts: as CATENA_SOAK says, or so briefly that it only shows that it works.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("CATENA_SOAK")
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSoak keeps a server busy with everything at once, also with clients that disconnect in the middle, and removes
// what it creates. In the second half of a long run memory, descriptors, goroutines and disk no longer grow.
// CATENA_SOAK sets the duration, CATENA_SOAK_REPORT the folder for the samples and their chart.
func TestSoak(t *testing.T) {
	length := soakTime(t)
	data := t.TempDir()
	p := startServer(t, data, "--rate", "-1", "--log-level", "error")
	end := time.Now().Add(length)
	ctx, stop := context.WithDeadline(t.Context(), end)
	defer stop()
	var calls, failed atomic.Int64
	var working sync.WaitGroup
	for i := range soakClients {
		working.Go(func() {
			c := soakClient{base: p.base, name: fmt.Sprintf("soak-%d", i), random: rand.New(rand.NewPCG(uint64(i), 1))}
			for n := 0; ctx.Err() == nil; n++ {
				calls.Add(1)
				if err := c.round(ctx, n); err != nil && time.Now().Before(end) { // connections may time out a moment before the context
					failed.Add(1)
					t.Logf("client %d, round %d: %v", i, n, err)
				}
			}
		})
	}
	samples := watch(ctx, p, data, length/soakSamples)
	working.Wait()
	if failed.Load() > 0 || len(samples) < 2 {
		t.Errorf("%d of %d rounds failed, %d samples", failed.Load(), calls.Load(), len(samples))
	}
	if dir := os.Getenv("CATENA_SOAK_REPORT"); dir != "" {
		if err := report(dir, samples); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d rounds in %v; at the end %v", calls.Load(), length, samples[len(samples)-1])
	if length >= soakMeasured {
		levels(t, samples)
	}
}

// soakClient works in a folder of its own.
type soakClient struct {
	base, name string
	random     *rand.Rand
}

// round does one thing of each kind and leaves nothing behind.
func (c *soakClient) round(ctx context.Context, n int) error {
	name := fmt.Sprintf("%s-%d", c.name, n)
	path := workspaces + name
	run := func(op, body string) error {
		return c.send(ctx, http.MethodPost, "/api/v1/automation/"+op, body, http.StatusOK, http.StatusNoContent)
	}
	script := `{"params":{"script":"function run() { let s = 0; for (let i = 0; i < 1e5; i++) s += i; return s; }"}}`
	steps := []func() error{
		func() error {
			return c.send(ctx, http.MethodPost, strings.TrimSuffix(workspaces, "/"), fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q,"properties":{"dc:title":%q}}`, name, name), http.StatusCreated)
		},
		func() error { return c.upload(ctx, "/default-domain/workspaces/"+name) },
		func() error { return c.leave(ctx, path+"/@blob/file:content") },
		func() error {
			return c.send(ctx, http.MethodPut, path, `{"entity-type":"document","properties":{"dc:description":"changed"}}`, http.StatusOK)
		},
		func() error {
			return c.send(ctx, http.MethodGet, "/api/v1/search/lang/NXQL/execute?pageSize=20&query=SELECT+*+FROM+File+WHERE+dc:title+LIKE+'soak-%25'", "", http.StatusOK)
		},
		func() error { return run("RunScript", script) },
		func() error { return c.abandon(ctx) },
		func() error {
			return c.send(ctx, http.MethodGet, "/v1/decks", "", http.StatusOK)
		},
		func() error { return c.send(ctx, http.MethodDelete, path, "", http.StatusNoContent) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// send makes a request and reads the whole answer.
func (c *soakClient) send(ctx context.Context, method, path, body string, want ...int) error {
	for {
		resp, err := admin(ctx, method, c.base+path, "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || slices.Contains(want, resp.StatusCode) {
			return err
		}
		// A server that is busy with other work says when to ask again, and clients do.
		seconds, failed := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != http.StatusServiceUnavailable || failed != nil {
			return fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
}

// upload gives the document a file.
func (c *soakClient) upload(ctx context.Context, doc string) error {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], c.random.Uint64()%soakFiles)
	typ, body := attachment(doc, io.LimitReader(rand.NewChaCha8(seed), soakContent))
	resp, err := admin(ctx, http.MethodPost, c.base+attachOperation, typ, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("upload: %s: %w", resp.Status, err)
	}
	return nil
}

// leave disconnects in the middle of a download.
func (c *soakClient) leave(ctx context.Context, path string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := admin(ctx, http.MethodGet, c.base+path, "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.CopyN(io.Discard, resp.Body, 1000)
	return err
}

// abandon begins a request with a body that never comes, and disconnects.
func (c *soakClient) abandon(ctx context.Context) error {
	host := strings.TrimPrefix(c.base, "http://")
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /api/v1/automation/RunScript HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{", host, adminHeader)
	return err
}

// consumption is what a server uses at a moment.
type consumption struct {
	at         time.Duration
	resident   float64 // bytes
	fds        float64
	goroutines float64
	disk       float64 // bytes
}

func (u consumption) String() string {
	return fmt.Sprintf("%.0f MB resident, %.0f descriptors, %.0f goroutines, %.0f MB on disk", u.resident/1e6, u.fds, u.goroutines, u.disk/1e6)
}

// watch reads every so often what the server uses, until ctx ends.
func watch(ctx context.Context, p *process, data string, every time.Duration) (all []consumption) {
	start := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return all
		case <-tick.C:
		}
		u := consumption{at: time.Since(start), disk: diskUse(data)}
		resp, err := admin(ctx, http.MethodGet, p.base+"/metrics", "", nil)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			continue
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			f, _ := strconv.ParseFloat(value, 64)
			switch name {
			case "process_resident_memory_bytes":
				u.resident = f
			case "process_open_fds":
				u.fds = f
			case "go_goroutines":
				u.goroutines = f
			}
		}
		all = append(all, u)
	}
}

func diskUse(dir string) (n float64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += float64(info.Size())
			}
		}
		return nil
	})
	return n
}

// levels compares the medians of the third and the last quarter.
func levels(t *testing.T, samples []consumption) {
	t.Helper()
	quarter := len(samples) / 4
	for _, c := range []struct {
		name  string
		of    func(consumption) float64
		slack float64 // what the last quarter may have beyond a tenth more
	}{
		{"resident memory", func(u consumption) float64 { return u.resident }, 20e6},
		{"descriptors", func(u consumption) float64 { return u.fds }, 10},
		{"goroutines", func(u consumption) float64 { return u.goroutines }, 20},
		{"disk", func(u consumption) float64 { return u.disk }, 64e6},
	} {
		third, last := median(samples[2*quarter:3*quarter], c.of), median(samples[3*quarter:], c.of)
		if last > third*1.1+c.slack {
			t.Errorf("%s grows: %.0f, then %.0f", c.name, third, last)
		}
	}
}

func median(samples []consumption, of func(consumption) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// report writes the samples and a chart of them.
func report(dir string, samples []consumption) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a report for everybody
		return err
	}
	var table, chart bytes.Buffer
	w := csv.NewWriter(&table)
	series := []struct {
		name, color string
		of          func(consumption) float64
	}{
		{"resident bytes", "#1f77b4", func(u consumption) float64 { return u.resident }},
		{"descriptors", "#ff7f0e", func(u consumption) float64 { return u.fds }},
		{"goroutines", "#2ca02c", func(u consumption) float64 { return u.goroutines }},
		{"bytes on disk", "#d62728", func(u consumption) float64 { return u.disk }},
	}
	_ = w.Write([]string{"seconds", series[0].name, series[1].name, series[2].name, series[3].name})
	for _, s := range samples {
		row := []string{fmt.Sprintf("%.1f", s.at.Seconds())}
		for _, c := range series {
			row = append(row, fmt.Sprintf("%.0f", c.of(s)))
		}
		_ = w.Write(row)
	}
	w.Flush()
	const width, height = 900, 160
	fmt.Fprintf(&chart, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`, width+20, len(series)*(height+30))
	end := samples[len(samples)-1].at.Seconds()
	for i, c := range series {
		most := 1.0
		for _, s := range samples {
			most = max(most, c.of(s))
		}
		top := i * (height + 30)
		fmt.Fprintf(&chart, `<text x="10" y="%d">%s, at most %.3g, in %.0f s</text><polyline fill="none" stroke="%s" points="`, top+16, c.name, most, end, c.color)
		for _, s := range samples {
			fmt.Fprintf(&chart, "%.1f,%.1f ", 10+s.at.Seconds()/end*width, float64(top+20+height)-c.of(s)/most*height)
		}
		fmt.Fprint(&chart, `"/>`)
	}
	fmt.Fprint(&chart, "</svg>\n")
	if err := os.WriteFile(filepath.Join(dir, "soak.csv"), table.Bytes(), 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	return os.WriteFile(filepath.Join(dir, "soak.svg"), chart.Bytes(), 0o644) //nolint:gosec // as above
}
