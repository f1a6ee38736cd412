package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// toolServer is a running server with people who have decks.
type toolServer struct{ *process }

// startTools starts the built binary without a browser, and with no bound on requests.
func startTools(t *testing.T) toolServer {
	t.Helper()
	if _, err := os.Stat("testdata/mcp/node_modules/@modelcontextprotocol"); err != nil {
		t.Fatal("the clients of the protocol are missing: run make client")
	}
	return toolServer{startForClients(t, "--chromium", "off", "--rate", "-1")}
}

// op runs an operation as Administrator and decodes what it returns.
func (s toolServer) op(t *testing.T, name string, params map[string]any, into any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"params": params})
	if err != nil {
		t.Fatal(err)
	}
	status, got := administer(t, http.MethodPost, s.base+"/api/v1/automation/"+name, "application/json", string(body))
	if status >= 300 {
		t.Fatalf("%s: %d %s", name, status, got)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(got), into); err != nil {
			t.Fatalf("%s: %v %s", name, err, got)
		}
	}
}

// key makes a key that may write.
func (s toolServer) key(t *testing.T, user string) string {
	t.Helper()
	var made struct{ Value struct{ Key string } }
	s.op(t, "Key.Create", map[string]any{"user": user, "scope": "read_write"}, &made)
	return made.Value.Key
}

// owner makes a user who owns a team, and returns a key.
func (s toolServer) owner(t *testing.T, user string) string {
	t.Helper()
	s.op(t, "User.CreateOrUpdate", map[string]any{"username": user, "password": "a long " + user}, nil)
	s.op(t, "Team.Create", map[string]any{"name": "Team of " + user, "owner": user}, nil)
	return s.key(t, user)
}

// node runs a script of testdata/mcp.
func node(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = filepath.Join("testdata", "mcp")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestToolClients drives every tool with the official clients: both eras of the protocol and
// the older line of the library, over HTTP and through the bridge on standard input and output.
func TestToolClients(t *testing.T) {
	s := startTools(t)
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	run := func(name, script, key string, target ...string) {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			era, _, _ := strings.Cut(name, "/")
			if out, err := node(ctx, append([]string{script, era, key}, target...)...); err != nil {
				t.Errorf("%s %s: %v\n%s", script, name, err, out)
			}
		})
	}
	run("auto/http", "decks.mjs", s.owner(t, "auto"), s.base+"/mcp")
	for i, era := range []string{"legacy", "modern", "first"} {
		web, piped, all := s.owner(t, fmt.Sprintf("web%d", i)), s.owner(t, fmt.Sprintf("piped%d", i)), s.key(t, "Administrator")
		run(era+"/http", "decks.mjs", web, s.base+"/mcp")
		run(era+"/http", "automation.mjs", all, s.base+"/mcp/automation")
		run(era+"/stdio", "decks.mjs", piped, binary, "mcp", "--server", s.base)
		run(era+"/stdio", "automation.mjs", all, binary, "mcp", "--automation", "--server", s.base)
	}
	wg.Wait()
}
