package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/engine/mail/mailtest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// examined runs the doctor and returns what it finds, by name.
func examined(t *testing.T, want int, args ...string) map[string]finding {
	t.Helper()
	code, out, errs := line(t, append(args, "doctor", "--json")...)
	var all struct{ Checks []finding }
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != want || (code == 0) != (errs == "") {
		t.Fatalf("%s: %d, want %d: %s%s %v", args, code, want, out, errs, err)
	}
	found := map[string]finding{}
	for _, f := range all.Checks {
		if f.State != fine && f.Advice == "" {
			t.Errorf("%s: %s: nothing is said of what to do", f.Name, f.Text)
		}
		found[f.Name] = f
	}
	return found
}

// TestDoctor has the doctor look at what is well, and at one thing after the other that is not.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	data, folder := filepath.Join(dir, "data"), filepath.Join(dir, "copies")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	basic := []string{"--data", data, "--chromium", "off", "--addr", "127.0.0.1:0"}
	expect := func(want int, name, state, text string, args ...string) {
		t.Helper()
		found := examined(t, want, append(basic[:len(basic):len(basic)], args...)...)
		if f := found[name]; f.State != state || !strings.Contains(f.Text+" "+f.Advice, text) {
			t.Errorf("%s: %+v, want %s: %s", args, f, state, text)
		}
		for other, f := range found {
			if f.State == failed && other != name {
				t.Errorf("%s: %+v", args, f)
			}
		}
	}
	expect(0, "data directory", fine, "does not exist yet")
	if names := filesIn(t, dir); len(names) > 0 {
		t.Errorf("left %q", names)
	}
	if code, _, errs := line(t, "init", "--data", data); code != 0 {
		t.Fatal(errs)
	}
	before := filesIn(t, data)
	expect(0, "data directory", fine, "is not in use")
	expect(0, "synced write", fine, "median of")
	expect(0, "open files", warning, "lower limit-connections", "--limit-connections", "2000000000")
	expect(0, "browser", warning, "/bin/false", "--chromium", "/bin/false")
	expect(1, "address", failed, "in use", "--addr", at)
	expect(1, "metrics-addr", failed, "in use", "--metrics-addr", at)
	expect(1, "settings", failed, "smtp-from", "--smtp-host", "127.0.0.1")
	expect(1, "settings", failed, "security-contact", "--security-contact", "nobody")
	host, port := mailtest.Start(t).Address()
	post := []string{"--smtp-host", host, "--smtp-from", "a@example.org", "--smtp-security", "none", "--smtp-port"}
	expect(0, "mail", fine, "answers", append(post, strconv.Itoa(port))...)
	expect(0, "mail", warning, "wait in the outbox", append(post, "1")...)
	expect(0, "backup", warning, "contains no backup", "--backup-folder", folder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		age         time.Duration
		state, text string
	}{{72 * time.Hour, warning, "3 days ago"}, {time.Hour, fine, "1 hour ago"}} {
		if err := os.WriteFile(filepath.Join(folder, time.Now().UTC().Add(-c.age).Format(backupName)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		expect(0, "backup", c.state, c.text, "--backup-folder", folder)
	}
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	expect(0, "data directory", warning, "chmod 700")
	if err := os.Chtimes(filepath.Join(data, "store", "STATE"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	expect(0, "clock", warning, "the store was last written")
	t.Setenv("CATENA_ADR", "x")
	expect(1, "settings", failed, "perhaps CATENA_ADDR")
	if err := os.Unsetenv("CATENA_ADR"); err != nil {
		t.Fatal(err)
	}
	a, err := (&global{data: data, logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expect(0, "data directory", warning, "in use by a process")
	expect(0, "address", warning, "in use", "--addr", at)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	if names := filesIn(t, data); strings.Join(names, " ") != strings.Join(before, " ") {
		t.Errorf("the doctor left something: %q, before %q", names, before)
	}
	if code, out, _ := line(t, append(basic, "doctor")...); code != 0 || !strings.Contains(out, "\n                         → ") || strings.Count(out, "\n") < 11 {
		t.Errorf("%d %s", code, out)
	}
	basic[1] = filepath.Join(data, "store", "STATE")
	if f := examined(t, 1, basic...)["data directory"]; f.State != failed || !strings.Contains(f.Text, "not a readable folder") {
		t.Errorf("%+v", f)
	}
}

// TestDoctorNamesSlowQueries has a server refuse a query, and the doctor say which index it needs.
func TestDoctorNamesSlowQueries(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	g := &global{data: data, logLevel: "error", logFormat: "text"}
	o := openOptions{adminPassword: adminPassword}
	o.limits.storage.QueryRows = 1
	a, err := g.openWith(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	err = a.repo.View(t.Context(), a.repo.System(), func(tx *storage.Tx) error {
		_, err := search.Query(tx, "SELECT * FROM Document WHERE dc:rights = 'x' ORDER BY dc:format", search.Options{})
		return err
	})
	if !fault.Is(err, fault.Limit) {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := errors.Join(a.noteSlow(ctx), a.close()); err != nil {
		t.Fatal(err)
	}
	f := examined(t, 0, "--data", data, "--chromium", "off", "--addr", "127.0.0.1:0")["queries"]
	if f.State != warning || !strings.Contains(f.Text, "slow or refused: 1 kinds of query\n1 times, up to ") || !strings.HasSuffix(f.Text, "FROM Document WHERE dc:rights = ORDER BY dc:format") || f.Advice != "declare on type Document: indexes: [[dc:rights, dc:format]]" {
		t.Errorf("%+v", f)
	}
}
