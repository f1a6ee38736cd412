package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	downloadLimit  = 0.95 // of nginx
	downloadRounds = 5
)

// BenchmarkDownload downloads one file from catena and from nginx in turn, whole and in ranges, over 1 and 16 connections,
// and reports the medians. Both read the same file. The client has the system throw away what arrives, so that it is not
// the limit. CATENA_BENCH_FILE sets the size in MiB (64).
//
//	again  the file is in the page cache, and catena verified it a moment ago
//	first  the file is in the page cache, and catena has to verify it
//	cold   the file is on disk only, and catena has to verify it
//
//	CATENA_BENCH_FILE=1024 go test -run '^$' -bench Download ./cmd/catena
func BenchmarkDownload(b *testing.B) {
	mib := 64
	if s := os.Getenv("CATENA_BENCH_FILE"); s != "" {
		mib, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	source, data := filepath.Join(dir, "source"), filepath.Join(dir, "data")
	digest := randomFile(b, source, mib)
	p := startServer(b, data)
	up := transfer{b: b, p: p, source: source, size: int64(mib) << 20}
	up.upload("f")
	up.download("f", digest)
	d := &download{b: b, size: up.size, content: filepath.Join(data, "blobs", digest[:2], digest[2:4], digest)}
	ours := target{
		address: strings.TrimPrefix(p.base, "http://"), path: "/api/v1/path/f/@blob/file:content",
		header: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("Administrator:"+adminPassword)) + "\r\n",
		pid:    p.cmd.Process.Pid,
	}
	arms := []target{ours}
	if floor, err := startNginx(b, dir, d.content); err != nil {
		b.Logf("nginx cannot be started, so that nothing is compared with it: %v", err)
	} else {
		arms = append(arms, floor)
	}
	for _, cache := range []string{"again", "first", "cold"} {
		for _, span := range []int64{d.size, 10 << 20, 1 << 20} {
			for _, connections := range []int{1, 16} {
				d.compare(arms, cache, span, connections)
			}
		}
	}
}

// download is what is downloaded.
type download struct {
	b       *testing.B
	size    int64
	content string // name of the file
}

// target is where it is downloaded from.
type target struct {
	address, path, header string
	pid                   int
}

// cpuOf is the processor time that a process and its children have used.
func cpuOf(pid int) (used time.Duration) {
	const hz = 100
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte(") "))
	for _, field := range strings.Fields(string(after))[11:13] {
		n, _ := strconv.Atoi(field)
		used += time.Duration(n) * time.Second / hz
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for _, child := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(child)
		used += cpuOf(n)
	}
	return used
}

// compare measures the arms in turn.
func (d *download) compare(arms []target, cache string, span int64, connections int) {
	name := "whole"
	if span < d.size {
		name = fmt.Sprintf("%dMiB", span>>20)
	}
	d.b.Run(fmt.Sprintf("%s/%s/%d", cache, name, connections), func(b *testing.B) {
		rates, costs := make([][]float64, len(arms)), make([][]float64, len(arms))
		for range downloadRounds {
			for i, arm := range arms {
				d.prepare(cache)
				start, before := time.Now(), cpuOf(arm.pid)
				n := float64(d.fetch(arm, span, connections))
				rates[i] = append(rates[i], n/1e6/time.Since(start).Seconds())
				costs[i] = append(costs[i], (cpuOf(arm.pid)-before).Seconds()*1000/(n/1e9))
			}
		}
		b.ReportMetric(0, "ns/op")
		for i, who := range []string{"", "nginx-"}[:len(arms)] {
			slices.Sort(rates[i])
			slices.Sort(costs[i])
			b.ReportMetric(rates[i][downloadRounds/2], who+"MB/s")
			b.ReportMetric(costs[i][downloadRounds/2], who+"cpu-ms/GB")
		}
		if len(arms) > 1 {
			b.ReportMetric(rates[0][downloadRounds/2]/rates[1][downloadRounds/2], "ratio")
			b.ReportMetric(downloadLimit, "limit")
		}
	})
}

// prepare brings the page cache and what catena knows of the file into a state.
func (d *download) prepare(cache string) {
	f, err := os.Open(d.content)
	if err != nil {
		d.b.Fatal(err)
	}
	defer f.Close()
	if cache == "cold" {
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	} else {
		_, err = io.Copy(struct{ io.Writer }{io.Discard}, f)
	}
	if err == nil && cache != "again" {
		err = f.Chmod(0o600) // the file counts as changed
	}
	if err != nil {
		d.b.Fatal(err)
	}
}

// fetch downloads the file, whole over each connection or in ranges that the connections share, and returns the number of
// bytes.
func (d *download) fetch(from target, span int64, connections int) int64 {
	var next, total atomic.Int64
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			c, err := dialDiscard(from)
			if err != nil {
				d.b.Error(err)
				return
			}
			defer c.conn.Close()
			for {
				at := int64(0)
				if span < d.size {
					at = (next.Add(1) - 1) * span
				}
				n := min(span, d.size-at)
				if n <= 0 {
					return
				}
				if err := c.get(from, at, n, d.size); err != nil {
					d.b.Error(err)
					return
				}
				total.Add(n)
				if span == d.size {
					return
				}
			}
		})
	}
	all.Wait()
	return total.Load()
}

// discarding is a connection whose bodies are thrown away by the system.
type discarding struct {
	conn *net.TCPConn
	head *bufio.Reader
	room []byte
}

func dialDiscard(to target) (*discarding, error) {
	c, err := net.Dial("tcp", to.address)
	if err != nil {
		return nil, err
	}
	return &discarding{c.(*net.TCPConn), bufio.NewReader(c), make([]byte, 4<<20)}, nil
}

// get asks for n bytes from at on.
func (c *discarding) get(from target, at, n, size int64) error {
	span := ""
	if n < size {
		span = fmt.Sprintf("Range: bytes=%d-%d\r\n", at, at+n-1)
	}
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", from.path, from.address, from.header, span); err != nil {
		return err
	}
	line, err := c.head.ReadString('\n')
	if err != nil {
		return err
	}
	head, err := textproto.NewReader(c.head).ReadMIMEHeader()
	if err != nil {
		return err
	}
	if want := strconv.FormatInt(n, 10); !strings.Contains(line, " 20") || head.Get("Content-Length") != want {
		return fmt.Errorf("%s %v: want %s bytes", strings.TrimSpace(line), head, want)
	}
	early, _ := c.head.Discard(int(min(n, int64(c.head.Buffered()))))
	return c.discard(n - int64(early))
}

// discard throws n bytes away without copying them.
func (c *discarding) discard(n int64) error {
	raw, err := c.conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for n > 0 {
			m, _, err := unix.Recvfrom(int(fd), c.room[:min(n, int64(len(c.room)))], unix.MSG_TRUNC)
			switch {
			case errors.Is(err, unix.EAGAIN):
				return false
			case errors.Is(err, unix.EINTR):
				continue
			case err == nil && m == 0:
				err = io.ErrUnexpectedEOF
			}
			if failed = err; err != nil {
				return true
			}
			n -= int64(m)
		}
		return true
	})
	return errors.Join(err, failed)
}

const nginxConf = `daemon off; master_process on; worker_processes auto; pid %[1]s/nginx.pid; error_log %[1]s/nginx.log;
%[3]s
events { worker_connections 1024; }
http {
	access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/octet-stream;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server { listen %[2]s; location / { root %[1]s/root; } }
}
`

// startNginx serves a file until the benchmark ends.
func startNginx(b *testing.B, dir, content string) (target, error) {
	name, err := exec.LookPath("nginx")
	if err != nil {
		return target{}, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return target{}, err
	}
	to := target{address: l.Addr().String(), path: "/f"}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // who may read the file
	}
	conf := filepath.Join(dir, "nginx.conf")
	err = errors.Join(l.Close(), os.Mkdir(filepath.Join(dir, "root"), 0o700), os.Symlink(content, filepath.Join(dir, "root", "f")),
		os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, to.address, user), 0o600))
	if err != nil {
		return target{}, err
	}
	var log bytes.Buffer
	cmd := exec.Command(name, "-p", dir, "-c", conf)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return target{}, err
	}
	to.pid = cmd.Process.Pid
	b.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
	})
	for range 200 {
		if resp, err := http.Head("http://" + to.address + to.path); err == nil {
			_ = resp.Body.Close()
			return to, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return target{}, fmt.Errorf("no answer: %s", log.String())
}
