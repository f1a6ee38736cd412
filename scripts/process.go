package scripts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
)

// process is a worker process as the server sees it. One run has it at a time.
type process struct {
	cmd    *exec.Cmd
	in     *frames
	out    io.WriteCloser
	w      writer
	ended  chan struct{} // closed once the process is gone
	state  error
	errors tail
	owner  string   // principal whose scripts it has run; "" none yet
	names  [32]byte // hash of the names it knows
	used   time.Time
}

// tail keeps the beginning of what a process writes to its standard error: the runtime
// says there first what went wrong.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps what fits.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 2048 - len(t.b); room > 0 {
		t.b = append(t.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// startProcess starts a worker with nothing but three pipes.
func startProcess(argv []string) (*process, error) {
	if len(argv) == 0 {
		return nil, fault.Unavailable.Errorf("script: no worker is configured").WithCode(fault.CodeScriptBusy)
	}
	p := &process{ended: make(chan struct{}), used: time.Now()}
	p.cmd = exec.CommandContext(context.Background(), argv[0], argv[1:]...) // it outlives the call that needs it
	p.cmd.Env = []string{}
	p.cmd.Dir = string(os.PathSeparator)
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = time.Second
	detach(p.cmd)
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdinRead.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout = stdinRead, stdoutWrite
	p.out, p.in = stdin, &frames{in: stdout, max: maxFrame}
	mem, share, shareErr := newShare()
	if shareErr == nil {
		p.cmd.ExtraFiles = []*os.File{share}
		l := newLink(mem, true, stdout, stdin)
		releaseWith(l)
		p.out, p.in.in = l, l
	}
	err = p.cmd.Start()
	_, _ = stdinRead.Close(), stdoutWrite.Close()
	if share != nil {
		_ = share.Close()
	}
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, fault.Unavailable.Errorf("script worker: %w", err).WithCode(fault.CodeScriptBusy)
	}
	go func() {
		p.state = p.cmd.Wait()
		close(p.ended)
		_, _ = stdin.Close(), stdout.Close()
	}()
	return p, nil
}

// kill ends the process at once.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// alive reports whether the process still runs.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// death says why the process is gone, as far as it can be known.
func (p *process) death(l *Limits) error {
	select {
	case <-p.ended:
	case <-time.After(250 * time.Millisecond):
		p.kill()
		<-p.ended
	}
	text := p.errors.String()
	switch {
	case strings.Contains(text, "stack exceeds") || strings.Contains(text, "stack overflow"):
		return breach(fault.CodeScriptStack, "script: nested too deep")
	case strings.Contains(text, "out of memory") || strings.Contains(text, "cannot allocate"):
		return outOfMemory(l.Memory)
	case strings.HasPrefix(text, "SIGSEGV") && strings.Contains(text, "addr=0x0") && strings.Contains(text, "\ngoroutine 0 "):
		return outOfMemory(l.Memory) // the runtime itself, on its own stack, was refused memory and did not look
	case strings.Contains(text, "SIGXCPU"):
		return breach(fault.CodeScriptTimeout, "script: more than %s of processor time", l.CPU)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return breach(fault.CodeScriptCrash, "script: the worker process ended: %s", cmp.Or(clip(first, 200), fmt.Sprint(p.state)))
}
