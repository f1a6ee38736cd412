package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Limits of the benchmarks of this file.
const (
	contentLimit = 0.6  // of copying the file
	memoryLimit  = 64.0 // MB more than before, whatever the size of the file
	enrichLimit  = 3.0  // times the page without enrichers
	chunkSize    = 10 << 20
)

// BenchmarkContent uploads a file in chunks of 10 MiB to a server of its own, downloads it in ranges of the
// same size, and compares both with copying the file to the same disk and syncing it. CATENA_BENCH_FILE
// sets the size in MiB (64).
//
//	CATENA_BENCH_FILE=1024 go test -run '^$' -bench Content ./cmd/catena
func BenchmarkContent(b *testing.B) {
	size := 64
	if s := os.Getenv("CATENA_BENCH_FILE"); s != "" {
		size, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	source := filepath.Join(dir, "source")
	want := randomFile(b, source, size)
	p := startServer(b, filepath.Join(dir, "data"))
	pid := strconv.Itoa(p.cmd.Process.Pid)
	idle, _ := memory(pid)
	c := transfer{b: b, p: p, source: source, size: int64(size) << 20}
	var copied, up, down []float64
	for i := range 3 {
		copied = append(copied, c.rate(func() { c.copyFile(filepath.Join(dir, "copy")) }))
		up = append(up, c.rate(func() { c.upload(fmt.Sprintf("f%d", i)) }))
		down = append(down, c.rate(func() { c.download(fmt.Sprintf("f%d", i), want) }))
		if i < 2 { // the next content is another, so that nothing is saved
			want = randomFile(b, source, size)
		}
	}
	_, peak := memory(pid)
	slices.Sort(copied)
	for name, rates := range map[string][]float64{"upload": up, "download": down} {
		slices.Sort(rates)
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(rates[1], "MB/s")
			b.ReportMetric(copied[1], "copy-MB/s")
			b.ReportMetric(rates[1]/copied[1], "ratio")
			b.ReportMetric(contentLimit, "limit")
			b.ReportMetric(peak-idle, "grown-MB")
			b.ReportMetric(memoryLimit, "limit-MB")
		})
	}
}

// randomFile writes a file nothing can compress and returns its digest.
func randomFile(b *testing.B, name string, size int) string {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	hash, block := sha256.New(), make([]byte, 1<<20)
	rnd := rand.NewChaCha8([32]byte(binary.BigEndian.AppendUint64(make([]byte, 24), rand.Uint64())))
	for range size {
		_, _ = rnd.Read(block)
		if _, err := io.MultiWriter(f, hash).Write(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// transfer moves one file in several ways.
type transfer struct {
	b      *testing.B
	p      *process
	source string
	size   int64
}

// rate is megabytes a second.
func (c *transfer) rate(fn func()) float64 {
	start := time.Now()
	fn()
	return float64(c.size) / 1e6 / time.Since(start).Seconds()
}

func (c *transfer) copyFile(to string) {
	in, err := os.Open(c.source)
	if err != nil {
		c.b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err == nil {
		_, err = io.Copy(struct{ io.Writer }{out}, in)
	}
	if err == nil {
		err = out.Sync()
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		c.b.Fatal(err)
	}
}

func (c *transfer) do(method, path string, body io.Reader, length int64, into io.Writer, headers ...string) {
	req, err := http.NewRequestWithContext(c.b.Context(), method, c.p.base+"/api/v1"+path, body)
	if err != nil {
		c.b.Fatal(err)
	}
	req.ContentLength = length
	req.SetBasicAuth("Administrator", adminPassword)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err = io.Copy(into, res.Body); err != nil || res.StatusCode >= 300 {
		c.b.Fatalf("%s %s: %s %v %v", method, path, res.Status, err, into)
	}
}

func (c *transfer) upload(name string) {
	var answer bytes.Buffer
	c.do("POST", "/upload", nil, 0, &answer)
	var opened struct{ BatchID string }
	if err := json.Unmarshal(answer.Bytes(), &opened); err != nil {
		c.b.Fatal(err)
	}
	in, err := os.Open(c.source)
	if err != nil {
		c.b.Fatal(err)
	}
	defer in.Close()
	count := (c.size + chunkSize - 1) / chunkSize
	for i := range count {
		n := min(chunkSize, c.size-i*chunkSize)
		c.do("POST", "/upload/"+opened.BatchID+"/0", io.LimitReader(in, n), n, &answer, "Content-Type", "application/octet-stream",
			"X-File-Name", "f.bin", "X-Upload-Type", "chunked",
			"X-Upload-Chunk-Index", strconv.FormatInt(i, 10), "X-Upload-Chunk-Count", strconv.FormatInt(count, 10))
	}
	body := fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q,"properties":{"file:content":{"upload-batch":%q,"upload-fileId":"0"}}}`, name, opened.BatchID)
	c.do("POST", "/path/", strings.NewReader(body), int64(len(body)), &answer, "Content-Type", "application/json")
}

func (c *transfer) download(name, want string) {
	hash := sha256.New()
	for from := int64(0); from < c.size; from += chunkSize {
		c.do("GET", "/path/"+name+"/@blob/file:content", nil, 0, hash, "Range", fmt.Sprintf("bytes=%d-%d", from, min(from+chunkSize, c.size)-1))
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		c.b.Fatalf("%s arrives as %s", want, got)
	}
}

// BenchmarkEnrichers asks for pages of fifty documents with all schemas, without enrichers and with five.
func BenchmarkEnrichers(b *testing.B) {
	x := newBench(b, 1000, false)
	get := func(enrichers string) func(int) []byte {
		return func(i int) []byte {
			return bytes.Replace(x.catenaPage("-1")(i), []byte("\r\n\r\n"), []byte("\r\nX-NXenrichers.document: "+enrichers+"\r\n\r\n"), 1)
		}
	}
	for _, enrichers := range []string{
		"acls, breadcrumb, permissions, subtypes, thumbnail",
		"audit, favorites, firstAccessibleAncestor, hasContent, tags",
		"collections, preview, publications, renditions, subscribedNotifications",
	} {
		m := [2][]time.Duration{}
		for range 10 { // by turns
			for i, request := range []func(int) []byte{get(""), get(enrichers)} {
				var next atomic.Int64
				times, err := visit(x.catenaAddr, &next, 20, request)
				if err != nil {
					b.Fatal(err)
				}
				m[i] = append(m[i], times...)
			}
		}
		p50 := func(t []time.Duration) float64 {
			slices.Sort(t)
			return float64(t[len(t)/2].Nanoseconds()) / 1000
		}
		bare, all := p50(m[0]), p50(m[1])
		b.Run(strings.ReplaceAll(enrichers, ", ", "+"), func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(bare, "bare-p50-µs")
			b.ReportMetric(all, "p50-µs")
			b.ReportMetric(all/bare, "ratio")
			b.ReportMetric(enrichLimit, "limit")
		})
	}
}
