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

// tourAddr is the address README uses; the test puts a free one in its place.
const tourAddr = "127.0.0.1:8080"

// command is one command of the tour with the output README shows.
type command struct {
	line   int
	text   string
	output string
}

// TestTour runs README's commands in order, in one shell and an empty directory, and
// compares what they print. In the expected output … stands for any text of a line, and a
// line that is only … for any number of lines.
func TestTour(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := tourCommands(string(readme))
	if len(commands) < 10 {
		t.Fatalf("README's tour has only %d commands", len(commands))
	}
	outputs := playTour(t, commands)
	for i, c := range commands {
		if i >= len(outputs) {
			t.Fatalf("README.md:%d: never ran: %s", c.line, c.text)
		}
		if !sameOutput(c.output, outputs[i]) {
			t.Errorf("README.md:%d: $ %s\nwant:\n%s\ngot:\n%s", c.line, c.text, c.output, outputs[i])
		}
	}
}

// tourCommands reads the blocks marked console: lines with "$ " in front, lines that
// continue them with "> ", and their output.
func tourCommands(readme string) []command {
	var all []command
	inside := false
	for i, line := range strings.Split(readme, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			all = append(all, command{line: i + 1, text: line[2:]})
		case strings.HasPrefix(line, "> ") && all[len(all)-1].output == "":
			all[len(all)-1].text += "\n" + line[2:]
		default:
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}

// playTour returns what each command printed.
func playTour(t *testing.T, commands []command) []string {
	t.Helper()
	name, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	addr := freeAddr(t)
	const mark = "\x01tour\x01"
	var script bytes.Buffer
	for _, c := range commands {
		fmt.Fprintf(&script, "printf '%s'\n%s\n", mark, strings.ReplaceAll(c.text, tourAddr, addr))
		if strings.HasSuffix(c.text, "&") {
			fmt.Fprintf(&script, "for i in $(seq 100); do curl -sf -o /dev/null http://%s/readyz && break; sleep 0.1; done\n", addr)
		}
	}
	script.WriteString("kill $(jobs -p) 2>/dev/null; wait\n")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(name)+":"+os.Getenv("PATH"), "CATENA_ADMIN_PASSWORD="+adminPassword, "CATENA_PASSWORD="+adminPassword)
	cmd.Stdin = &script
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		t.Fatalf("the tour did not end: %s", out)
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
