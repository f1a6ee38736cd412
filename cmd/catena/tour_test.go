package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tourAddr is the address that the examples use; the test puts a free one in its place.
const tourAddr = "127.0.0.1:8080"

// example is a block of commands with the output that the page shows.
type example struct {
	line   int
	text   string
	output string
}

// TestTour plays the tour of the README while its own `make run` serves. The text sets everything that the commands
// need; the build is the only thing that the test does in advance.
func TestTour(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	dir := t.TempDir()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(dir, "bin", "catena")); err != nil {
		t.Fatal(err)
	}
	playPage(t, filepath.Join(root, "README.md"), dir, os.Environ())
}

// TestManualExamples plays the examples of each page of the manual, in an empty directory and with the program in PATH.
func TestManualExamples(t *testing.T) {
	t.Parallel()
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(manualDir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			playPage(t, page, t.TempDir(), append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH")))
		})
	}
}

// playPage runs the examples of a page in order, in one shell, and compares what they print. In the expected output …
// stands for any text of a line, and a line that is only … for any number of lines.
func playPage(t *testing.T, page, dir string, env []string) {
	t.Helper()
	source, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	examples := examplesOf(string(source))
	if len(examples) == 0 {
		return
	}
	outputs := play(t, examples, dir, env)
	for i, e := range examples {
		if i >= len(outputs) {
			t.Fatalf("%s:%d: never ran: %s", page, e.line, e.text)
		}
		if !sameOutput(e.output, outputs[i]) {
			t.Errorf("%s:%d: %s\nwant:\n%s\ngot:\n%s", page, e.line, e.text, e.output, outputs[i])
		}
	}
}

// examplesOf returns the blocks marked sh; a block marked text that follows one directly is its output.
func examplesOf(page string) []example {
	var all []example
	inside, last := "", -2 // the mark of the block, and the line where a block of commands ended
	for i, line := range strings.Split(page, "\n") {
		switch {
		case inside == "" && line == "```sh":
			inside = "sh"
			all = append(all, example{line: i + 1})
		case inside == "" && line == "```text" && last == i-1:
			inside = "text"
		case inside == "" && strings.HasPrefix(line, "```"):
			inside = "other"
		case strings.HasPrefix(line, "```"):
			if inside == "sh" {
				last = i
			}
			inside = ""
		case inside == "sh":
			all[len(all)-1].text += line + "\n"
		case inside == "text":
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}

// play returns what each example printed. An example that starts a server has ended when the server is ready.
func play(t *testing.T, examples []example, dir string, env []string) []string {
	t.Helper()
	addr := freeAddr(t)
	const mark = "\x01example\x01"
	var script bytes.Buffer
	for _, e := range examples {
		text := strings.ReplaceAll(e.text, tourAddr, addr)
		text = regexp.MustCompile(`(?m)^make run$`).ReplaceAllString(text, "make -s -o build run ADDR="+addr+" >make.log 2>&1 &")
		fmt.Fprintf(&script, "printf '%s'\n%s", mark, text)
		if strings.Contains(text, "&\n") {
			fmt.Fprintf(&script, "for i in $(seq 300); do curl -sf -o /dev/null http://%s/readyz && break; sleep 0.1; done\n", addr)
		}
	}
	script.WriteString("set +m; kill $(jobs -p) 2>/dev/null; wait\n")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, &script
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		t.Fatalf("the examples did not end: %s", out)
	}
	return strings.Split(strings.ReplaceAll(string(out), addr, tourAddr), mark)[1:]
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sameOutput compares with … as a wildcard.
func sameOutput(want, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimRight(want, "\n"))
	pattern = regexp.MustCompile(`(?m)^\s*…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]*`)
	return regexp.MustCompile(`\A` + pattern + `\s*\z`).MatchString(strings.TrimRight(got, "\n"))
}
