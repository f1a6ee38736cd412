package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// shown is a terminal that a test looks at while a command writes to it.
type shown struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// await waits until a text is shown.
func (s *shown) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(s.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in:\n%s", text, s)
		}
	}
}

// TestScriptWatch changes a script while it is watched: it runs each time, also after it has failed, until the command
// is interrupted.
func TestScriptWatch(t *testing.T) {
	_, c := localClient(t)
	file := filepath.Join(t.TempDir(), "watched.js")
	head := "/**\n * @operation Test.Watched\n * @description Is watched.\n * @param {string} [name=nobody]\n */\n"
	write := func(body string) {
		t.Helper()
		// As editors do: a new file in place of the old one.
		if err := os.WriteFile(file+"~", []byte(head+body), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+"~", file); err != nil {
			t.Fatal(err)
		}
	}
	write("function run(input, params) { console.log('first', params.name); return 'one' }\n")
	ctx, cancel := context.WithCancel(t.Context())
	out, errs := &shown{}, &shown{}
	r := runner{op: file, script: file, errs: errs, brief: true, trace: true, pairs: []string{"name=Ada"}}
	ended := make(chan error, 1)
	go func() { ended <- r.watch(ctx, c, out) }()
	out.await(t, `"one"`)
	errs.await(t, "log: first Ada\n")

	write("function inner() {\n  throw new Error('broken')\n}\nfunction run() {\n  console.log('second');\n  return inner()\n}\n")
	errs.await(t, "watched.js:7:9: Error: broken")
	errs.await(t, "log: second\nat inner (watched.js:7:9)\nat run (watched.js:11:15)\n")

	write("function run( {\n")
	errs.await(t, "watched.js:7:1: Unexpected end of input")

	write("function run() { return 'four' }\n")
	out.await(t, `"four"`)
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("does not end")
	}
}
