package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"catena/decks/theme"
)

// TestBill compares the list of a program with what the compiler and the lock file say of it.
func TestBill(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "catena", Version: "v1.2.3"}, Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
		{Path: "example.org/b", Version: "v2.0.0", Replace: &debug.Module{Path: "example.org/fork/b", Version: "v2.0.1+incompatible"}},
	}}
	text, err := json.Marshal(billOf(info, []theme.Package{{Name: "@fonts/a", Version: "5.0.0", License: "MIT", SHA512: "0011"}}))
	const want = `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,"metadata":{"component":` +
		`{"bom-ref":"pkg:golang/catena@v1.2.3","type":"application","name":"catena","version":"v1.2.3","purl":"pkg:golang/catena@v1.2.3"}},"components":[` +
		`{"bom-ref":"pkg:golang/std@1.26.8","type":"library","name":"std","version":"1.26.8","purl":"pkg:golang/std@1.26.8"},` +
		`{"bom-ref":"pkg:golang/example.org/a@v1.0.0","type":"library","name":"example.org/a","version":"v1.0.0",` +
		`"hashes":[{"alg":"SHA-256","content":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}],"purl":"pkg:golang/example.org/a@v1.0.0"},` +
		`{"bom-ref":"pkg:golang/example.org/fork/b@v2.0.1%2Bincompatible","type":"library","name":"example.org/fork/b","version":"v2.0.1+incompatible","purl":"pkg:golang/example.org/fork/b@v2.0.1%2Bincompatible"},` +
		`{"bom-ref":"pkg:npm/%40fonts/a@5.0.0","type":"library","name":"@fonts/a","version":"5.0.0","hashes":[{"alg":"SHA-512","content":"0011"}],"licenses":[{"expression":"MIT"}],"purl":"pkg:npm/%40fonts/a@5.0.0"}]}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

// TestOwnBill has the command print that of the program under test: every module that go.mod requires and code
// imports is in it once, with its hash.
func TestOwnBill(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"version", "--sbom"}, nil, &out, &errs); code != 0 {
		t.Fatalf("%d %s", code, &errs)
	}
	var b bom
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	sum := regexp.MustCompile(`^([0-9a-f]{64}|[0-9a-f]{128})$`)
	seen := map[string]bool{}
	for _, c := range b.Components {
		if seen[c.Ref] || c.Version == "" || c.Name != "std" && (len(c.Hashes) != 1 || !sum.MatchString(c.Hashes[0].Content)) {
			t.Errorf("%+v", c)
		}
		seen[c.Ref], seen[c.Name] = true, true
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"github.com/dgraph-io/badger/v4", "github.com/dop251/goja", "github.com/spf13/cobra", "golang.org/x/crypto"} {
		version := regexp.MustCompile(regexp.QuoteMeta(name) + ` (\S+)`).FindStringSubmatch(string(mod))
		if version == nil || !seen["pkg:golang/"+name+"@"+version[1]] {
			t.Errorf("%s %v: not in the list", name, version)
		}
	}
	if _, err := theme.Files(); (err == nil) != seen["reveal.js"] || seen["commander"] {
		t.Errorf("packages of npm: %v, reveal.js %t, commander %t", err, seen["reveal.js"], seen["commander"])
	}
}

// TestOldBrowser: a server tells at its start of a browser that was made more than 30 days ago.
func TestOldBrowser(t *testing.T) {
	const day = 24 * time.Hour
	for _, x := range []struct {
		made time.Time
		told bool
	}{
		{time.Now().Add(-29 * day), false},
		{time.Now().Add(-31 * day), true},
		{time.Unix(1, 0), false}, // builds that are the same everywhere say so
	} {
		path := filepath.Join(t.TempDir(), "chromium")
		if err := os.WriteFile(path, []byte("#!/bin/false\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, x.made, x.made); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		a := &app{log: slog.New(slog.NewTextHandler(&log, nil))}
		if err := a.printer(path); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "made="+x.made.Format(time.DateOnly)); told != x.told || a.renderer.Browser == nil {
			t.Errorf("made %s: %q", x.made, &log)
		}
	}
}
