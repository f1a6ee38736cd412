package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestLogs has a server write its log of requests to a file, and changes the level of its own log while it runs.
func TestLogs(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "access.log")
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, filepath.Join(dir, "data"), "--access-log", name, "--log-format", "json")
	t.Setenv("CATENA_PASSWORD", adminPassword)
	for _, x := range []struct{ param, want string }{{"", `"info"`}, {"level=debug", `"debug"`}, {"", `"debug"`}} {
		args := []string{"run", "Services.LogLevel", "--server", p.base}
		if x.param != "" {
			args = append(args, "--param", x.param)
		}
		if code, out, errs := line(t, args...); code != 0 || !strings.Contains(out, x.want) {
			t.Errorf("%s: %d %s%s, want %s", x.param, code, out, errs, x.want)
		}
	}
	p.stop(t)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(all) < 4 || all[0] != "{}" {
		t.Fatalf("%s", text)
	}
	var last map[string]any
	if err := json.Unmarshal([]byte(all[len(all)-1]), &last); err != nil {
		t.Fatal(err)
	}
	want := []string{"agent", "bytes", "cut", "method", "path", "remote", "requestId", "seconds", "status", "time", "traceId", "user"}
	if got := slices.Sorted(maps.Keys(last)); !slices.Equal(got, want) || last["path"] != "/api/v1/automation/Services.LogLevel" || last["user"] != "Administrator" {
		t.Errorf("%v", last)
	}
	if code, _, errs := line(t, "serve", "--access-log", dir, "--data", filepath.Join(dir, "data"), "--addr", "127.0.0.1:0", "--log-level", "error"); code != 2 || !strings.Contains(errs, "access-log") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestLogRotation renames the log of requests again and again while requests run, and finds each of them once.
func TestLogRotation(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "access.log")
	p := startServer(t, filepath.Join(dir, "data"), "--access-log", name, "--log-format", "json")
	const askers, turns = 4, 5
	var asked [askers]int
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				req, err := http.NewRequest(http.MethodGet, p.base+"/healthz", nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("X-Request-Id", fmt.Sprintf("%d-%d", i, asked[i]))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				asked[i]++
			}
		})
	}
	for turn := range turns {
		waitFor(t, func() bool { i, err := os.Stat(name); return err == nil && i.Size() > 0 })
		if err := os.Rename(name, fmt.Sprintf("%s.%d", name, turn)); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { _, err := os.Stat(name); return err == nil })
	close(stop)
	all.Wait()
	p.stop(t)
	seen := map[string]int{}
	files, err := filepath.Glob(name + "*")
	if err != nil || len(files) != turns+1 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			var entry struct{ RequestID string }
			if err := json.Unmarshal([]byte(l), &entry); err != nil {
				t.Fatalf("%s: %q: %v", file, l, err)
			}
			seen[entry.RequestID]++
		}
	}
	for i := range askers {
		for n := range asked[i] {
			if id := fmt.Sprintf("%d-%d", i, n); seen[id] != 1 {
				t.Errorf("request %s is logged %d times", id, seen[id])
			}
		}
	}
}

// waitFor waits until something holds, for 10 seconds at most.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to hold")
		}
	}
}
