package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"catena/cmd/catena/startup"
	"catena/storage/postgres/pgtest"
)

// adminPassword is Administrator's in every test.
const adminPassword = "correct horse battery"

// builtBinary builds catena once for all tests that drive it from outside.
var builtBinary = sync.OnceValues(func() (string, error) {
	built = true
	dir, err := os.MkdirTemp("", "catena-test-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "catena")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	out, err := build.CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return name, nil
})

// TestMain is a worker when started as one, and removes the built binary in the end.
func TestMain(m *testing.M) {
	startup.Collect()
	if len(os.Args) > 1 && os.Args[1] == workerVerb {
		os.Exit(workerMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == isolatedVerb {
		os.Exit(isolatedMain(os.Stdin, os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == plainVerb {
		os.Exit(plainMain(os.Args[2:]))
	}
	if underRace {
		ownProgram = builtBinary
	}
	code := pgtest.Main(m)
	if built {
		name, _ := builtBinary()
		_ = os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

// built is set once there is a binary to remove.
var built bool

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	base string
	log  *serverLog
	done chan error
}

// startServer starts the built binary on a free port and waits until it is ready.
func startServer(t testing.TB, data string, args ...string) *process {
	t.Helper()
	return startBy(t, nil, data, args...)
}

// startBy is startServer by a program that becomes the server, such as one that has it run in another network.
func startBy(t testing.TB, by []string, data string, args ...string) *process {
	t.Helper()
	p := startProcess(t, by, data, args...)
	p.ready(t)
	return p
}

// serverLog is what a server writes: what came first and what came last, which a test that failed shows.
type serverLog struct {
	mu          sync.Mutex
	first, last []byte
}

// maxServerLog is how many bytes are kept of the beginning, and at least of the end.
const maxServerLog = 16 << 10

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(p), maxServerLog-len(l.first))
	l.first, l.last = append(l.first, p[:n]...), append(l.last, p[n:]...)
	if len(l.last) > 2*maxServerLog {
		l.last = append([]byte("…"), l.last[len(l.last)-maxServerLog:]...)
	}
	return len(p), nil
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.first) + string(l.last)
}

// startProcess is startBy for a server that need not be ready.
func startProcess(t testing.TB, by []string, data string, args ...string) *process {
	t.Helper()
	name, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	command := slices.Concat(by, []string{name, "serve", "--addr", "127.0.0.1:0", "--data", data}, args)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "CATENA_ADMIN_PASSWORD="+adminPassword)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, log: &serverLog{}, done: make(chan error, 1)}
	lines := bufio.NewReader(stderr)
	for p.base == "" {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(p.log, line)
		if _, addr, ok := strings.Cut(line, " on "); ok && strings.HasPrefix(line, "catena ") {
			p.base = strings.TrimSpace(addr)
		}
		if err != nil {
			_ = cmd.Wait()
			t.Fatalf("the server did not start:\n%s", p.log)
		}
	}
	go func() {
		_, _ = io.Copy(p.log, lines)
		p.done <- cmd.Wait()
	}()
	t.Cleanup(func() {
		if p.stop(t); t.Failed() {
			t.Logf("what %s wrote:\n%s", p.base, p.log)
		}
	})
	return p
}

// ready waits for /readyz.
func (p *process) ready(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		resp, err := http.Get(p.base + "/readyz")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("%s/readyz never said ok:\n%s", p.base, p.log)
}

// stop ends the server in good order.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		t.Error("the server did not stop within a minute of SIGTERM")
	}
}

// kill ends the server as a power cut would end its process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	err := <-p.done
	p.done <- err
}

// TestClient drives the built binary, and in make nodes two of them in turn, with the npm package unchanged.
func TestClient(t *testing.T) {
	if _, err := os.Stat("testdata/client/node_modules/nuxeo"); err != nil {
		t.Fatal("the npm client is missing: run make client")
	}
	const portal, jwt = "shared with a portal", "shared with whoever signs tokens"
	p := startForClients(t, "--portal-secret", portal, "--jwt-secret", jwt, "--repository", "archive")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	scripts, err := filepath.Glob("testdata/client/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		cmd := exec.CommandContext(ctx, "node", filepath.Base(script), p.base+"/nuxeo/", "Administrator", adminPassword, portal, jwt)
		cmd.Dir = "testdata/client"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}
