package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
