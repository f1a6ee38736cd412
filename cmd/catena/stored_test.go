//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStoredTexts gives scripts and chains to the command line, and to the folders that are read at start, as editors
// and people leave them.
func TestStoredTexts(t *testing.T) {
	data, from := t.TempDir(), t.TempDir()
	g := &global{data: data, logLevel: "error", logFormat: "text"}
	if err := g.initialize(t.Context(), &bytes.Buffer{}, adminPassword, false); err != nil {
		t.Fatal(err)
	}
	script := func(name string) string {
		return "/**\n * @operation " + name + "\n * @description Does it.\n * @output string\n */\nfunction run() { return \"ü\"; }\n"
	}
	chain := func(name string) string {
		return "name: " + name + "\ndescription: Does it.\ninput: void\noutput: document\nsteps:\n  - op: Repository.GetDocument\n    params: {value: /}\n"
	}
	for _, x := range []struct {
		file, source string
		code         int
		said         string
	}{
		{"plain.js", script("Test.Plain"), 0, "ok"},
		{"mark.js", "\ufeff" + script("Test.Mark"), 0, "ok"},
		{"windows.js", strings.ReplaceAll(script("Test.Windows"), "\n", "\r\n"), 0, "ok"},
		{"latin.js", strings.ReplaceAll(script("Test.Latin"), "ü", "\xfc"), 1, "latin.js: line 6 is not UTF-8"},
		{"utf16.js", "\xff\xfe/\x00*\x00", 1, "line 1 is not UTF-8"},
		{"taken.js", script("Document.Create"), 1, "an operation is already named Document.Create"},
		{"none.js", "", 1, "must begin with a comment"},
		{"plain.yaml", chain("Test.PlainChain"), 0, "ok"},
		{"mark.yaml", "\ufeff" + chain("Test.MarkChain"), 0, "ok"},
		{"latin.yaml", chain("Test.LatinChain") + "# gr\xfcn\n", 1, "line 8 is not UTF-8"},
		{"large.yaml", chain("Test.LargeChain") + "# " + strings.Repeat("x", 1<<20), 1, "large.yaml: larger than 1048576 bytes"},
		{"packed.yaml", "PK\x03\x04", 1, "control characters are not allowed"},
	} {
		name, noun := filepath.Join(from, x.file), "script"
		if strings.HasSuffix(x.file, ".yaml") {
			noun = "chain"
		}
		if err := os.WriteFile(name, []byte(x.source), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if code := run(t.Context(), []string{noun, "check", name, "--data", data}, nil, &out, &out); code != x.code || !strings.Contains(out.String(), x.said) {
			t.Errorf("%s: %d %s", x.file, code, out.String())
		}
		if err := os.Rename(name, filepath.Join(data, noun+"s", x.file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(data, "scripts", "pipe.js"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := g.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	err = a.sync(t.Context())
	for _, want := range []string{"latin.js: line 6", "utf16.js: line 1", "pipe.js: not a file", "Document.Create", "latin.yaml: line 8", "large.yaml: larger", "packed.yaml:1:1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"Test.Plain", "Test.Mark", "Test.Windows", "Test.PlainChain", "Test.MarkChain"} {
		if _, ok := a.engine.Set().Op(name); !ok {
			t.Errorf("%s is not deployed", name)
		}
	}
}
