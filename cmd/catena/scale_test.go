package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/cmd/catena/host"
)

// BenchmarkScale makes repositories of 1,000, 10,000 and 100,000 documents, and of
// CATENA_BENCH_SCALE more if that is set, and measures for each the import beside raw
// Badger batches of the same documents, memory, the start, and the median of requests on
// one connection. The last line tells how the medians grow: the exponent of the number
// of documents.
//
//	go test -run '^$' -bench 'Scale$' -timeout 30m ./cmd/catena
func BenchmarkScale(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	if s := os.Getenv("CATENA_BENCH_SCALE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	report := func(name string, m results) {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			for unit, v := range m {
				b.ReportMetric(v, unit)
			}
		})
	}
	report("docs=0", startEmpty(b))
	medians := make([]results, len(sizes))
	for i, n := range sizes {
		m := scaleFigures(b, n)
		medians[i] = m
		report(fmt.Sprintf("docs=%d", n), m)
	}
	growth := results{}
	for _, w := range scaleWorks {
		growth[w+"-exponent"] = exponent(sizes, medians, w+"-p50-µs")
	}
	report("growth", growth)
}

// results are figures by unit.
type results map[string]float64

var scaleWorks = []string{"get", "create", "page", "total"}

// startEmpty measures a server on an empty directory that has been set up.
func startEmpty(b *testing.B) results {
	data := b.TempDir()
	startServer(b, data).stop(b)
	m, p := started(b, data)
	p.stop(b)
	return m
}

// started starts a server and measures how long that takes and what memory it then has.
func started(b *testing.B, data string) (results, *process) {
	begin := time.Now()
	p := startServer(b, data)
	m := results{"start-ms": float64(time.Since(begin).Microseconds()) / 1000}
	time.Sleep(2 * time.Second)
	m["idle-MB"], _ = memory(strconv.Itoa(p.cmd.Process.Pid))
	return m, p
}

// scaleFigures imports n documents and measures a server on them.
func scaleFigures(b *testing.B, n int) results {
	data := b.TempDir()
	raw := inChild(b, "ScaleRaw", n, b.TempDir())
	imported := inChild(b, "ScaleImport", n, data)
	m, p := started(b, data)
	defer p.stop(b)
	m["raw-docs/s"], m["import-docs/s"] = raw["docs/s"], imported["docs/s"]
	m["import-ratio"] = imported["docs/s"] / raw["docs/s"]
	m["raw-cpu-µs/doc"], m["import-cpu-µs/doc"] = raw["cpu-µs/doc"], imported["cpu-µs/doc"]
	m["import-peak-MB"] = imported["peak-MB"]

	ids, err := os.ReadFile(filepath.Join(data, scaleIDs))
	if err != nil {
		b.Fatal(err)
	}
	x := &bench{catenaIDs: strings.Fields(string(ids))}
	addr := strings.TrimPrefix(p.base, "http://")
	for i, request := range []func(int) []byte{
		x.catenaGet, numbered("/api/v1/path/default-domain/workspaces/bench", catenaBody), x.catenaPage("-1"), x.catenaPage("1000"),
	} {
		m[scaleWorks[i]+"-p50-µs"] = p50(b, addr, request)
	}
	m["used-MB"], _ = memory(strconv.Itoa(p.cmd.Process.Pid))
	return m
}

// p50 is the median of 1,000 requests, after some to warm up.
func p50(b *testing.B, addr string, request func(int) []byte) float64 {
	var next atomic.Int64
	times, err := visit(addr, &next, 1200, request)
	if err != nil {
		b.Fatal(err)
	}
	times = times[200:]
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1000
}

// exponent is the slope of the logarithms, by least squares.
func exponent(sizes []int, all []results, unit string) float64 {
	var x, y, xx, xy float64
	for i, n := range sizes {
		lx, ly := math.Log(float64(n)), math.Log(all[i][unit])
		x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
	}
	n := float64(len(sizes))
	return (n*xy - x*y) / (n*xx - x*x)
}

// The benchmarks below run in processes of their own, so that their memory is theirs.
const (
	scaleDir  = "CATENA_BENCH_DIR"
	scaleIDs  = "bench-ids"
	scaleDocs = 100_000
)

// inChild runs a benchmark once in a new process and returns its figures.
func inChild(b *testing.B, name string, docs int, dir string) results {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", "^Benchmark"+name+"$", "-test.benchtime", "1x")
	cmd.Env = append(os.Environ(), scaleDir+"="+dir, fmt.Sprintf("CATENA_BENCH_DOCS=%d", docs))
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
	m := results{}
	for _, f := range regexp.MustCompile(`([0-9.e+]+) (\S+)`).FindAllSubmatch(out[bytes.Index(out, []byte("Benchmark"+name)):], -1) {
		m[string(f[2])], _ = strconv.ParseFloat(string(f[1]), 64)
	}
	if m["docs/s"] == 0 {
		b.Fatalf("%s:\n%s", name, out)
	}
	return m
}

func scaleSetting(b *testing.B) (dir string, docs int) {
	docs = scaleDocs
	if s := os.Getenv("CATENA_BENCH_DOCS"); s != "" {
		docs, _ = strconv.Atoi(s)
	}
	if dir = os.Getenv(scaleDir); dir == "" {
		dir = b.TempDir()
	}
	return dir, docs
}

// BenchmarkScaleImport imports CATENA_BENCH_DOCS (100,000) documents of 1 KB through the
// engine, 500 in a transaction and four at a time, each acknowledged when it is on disk.
func BenchmarkScaleImport(b *testing.B) {
	dir, docs := scaleSetting(b)
	for range b.N {
		host.TuneMemory(false)()
		a, err := (&global{data: dir, logLevel: "error", logFormat: "text"}).openWith(b.Context(), openOptions{adminPassword: adminPassword})
		if err != nil {
			b.Fatal(err)
		}
		x := &bench{}
		x.folder(b, a)
		start, cpu := time.Now(), cpuTime()
		x.fillCatena(b, a, docs)
		b.ReportMetric(float64(docs)/time.Since(start).Seconds(), "docs/s")
		b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(docs), "cpu-µs/doc")
		if err := a.close(); err != nil {
			b.Fatal(err)
		}
		reportPeak(b)
		if err := os.WriteFile(filepath.Join(dir, scaleIDs), []byte(strings.Join(x.catenaIDs, "\n")), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScaleRaw writes the same documents with batches of Badger alone.
func BenchmarkScaleRaw(b *testing.B) {
	_, docs := scaleSetting(b)
	for range b.N {
		f, x := newFloor(b, true), &bench{}
		start, cpu := time.Now(), cpuTime()
		x.fillFloor(b, f, docs)
		b.ReportMetric(float64(docs)/time.Since(start).Seconds(), "docs/s")
		b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(docs), "cpu-µs/doc")
		reportPeak(b)
	}
}

func reportPeak(b *testing.B) {
	_, peak := memory("self")
	b.ReportMetric(peak, "peak-MB")
}

// memory is what a process has resident, now and at most, in megabytes.
func memory(pid string) (now, peak float64) {
	f, err := os.Open(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		p := strings.Fields(s.Text())
		if len(p) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(p[1], 64)
		switch p[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			peak = kib / 1024
		}
	}
	return now, peak
}
