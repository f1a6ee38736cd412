// Package worker starts processes, mostly of this program itself, that work on untrusted input: scripts and PDF
// files. A process has limits on memory and stack that the operating system enforces, and can be killed at any time,
// which a goroutine cannot. The package starts and confines processes and finds out why one ended. What a worker
// does, and the protocol over its pipes, is left to the package that starts it.
//
// Confinement is specific to Linux (confine_linux.go): resource limits, no new privileges, and where the
// kernel has it, Landlock against opening files and connections. On other systems a worker is a plain
// process.
package worker

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
)

// Process is a worker process as the server sees it.
type Process struct {
	In    io.WriteCloser // what it reads
	Out   io.ReadCloser  // what it writes; closed once it has ended
	cmd   *exec.Cmd
	ended chan struct{}
	state error
	said  tail
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

// Start starts a worker with nothing but three pipes and some files: it has no environment, and dies with the server.
func Start(argv []string, files ...*os.File) (*Process, error) {
	p := &Process{ended: make(chan struct{})}
	p.cmd = command(context.Background(), argv, &p.said) // it outlives the call that needs it
	p.cmd.ExtraFiles = files
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdinRead.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout = stdinRead, stdoutWrite
	p.In, p.Out = stdin, stdout
	err = p.cmd.Start()
	_, _ = stdinRead.Close(), stdoutWrite.Close()
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, err
	}
	go func() {
		p.state = p.cmd.Wait()
		close(p.ended)
		_, _ = stdin.Close(), stdout.Close()
	}()
	return p, nil
}

// command is a process without an environment that dies with the server.
func command(ctx context.Context, argv []string, said *tail) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if argv[0] == runningFile {
		c.Args[0] = os.Args[0] // who lists processes sees which program it is
	}
	c.Env = []string{}
	c.Dir = string(os.PathSeparator)
	c.Stderr = said
	c.WaitDelay = time.Second
	detach(c)
	return c
}

// Failure is how a program ended that did not do its work.
type Failure struct {
	Cause Cause
	Said  string // the first line
}

func (f *Failure) Error() string { return f.Said }

// Run has another program work, which is sent a file and writes one, that take is given to read. It may use so many bytes
// of data, and write no files. An error that is a Failure is about its work; others are of take, or say that it does not start.
func Run(ctx context.Context, argv []string, data int64, file io.Reader, take func(io.Reader) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var said tail
	c := command(ctx, argv, &said)
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	if err := limit(c.Process.Pid, data); err != nil {
		stop()
		return errors.Join(err, c.Wait())
	}
	go func() {
		_, _ = io.Copy(in, file) // it may end before it has read all
		_ = in.Close()
	}()
	refused := take(out)
	if refused != nil {
		stop()
	} else {
		_, _ = io.Copy(io.Discard, out) // it does not end before what it writes is read
	}
	ended := c.Wait()
	switch {
	case refused != nil:
		return refused
	case ended != nil:
		text := said.String()
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return &Failure{causeOf(text), cmp.Or(first, ended.Error())}
	}
	return nil
}

// runningFile is the file of the program that runs, where the system has such a name.
const runningFile = "/proc/self/exe"

// Self is the path of this program as it runs, which stays what it is when its file is replaced or removed, where the
// system has such a path.
func Self() (string, error) {
	if _, err := os.Readlink(runningFile); err != nil {
		return os.Executable()
	}
	return runningFile, nil
}

// Kill ends the process at once.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Ended is closed once the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Cause is why a process ended, as far as it can be known.
type Cause int

// The causes.
const (
	Crash  Cause = iota
	CPU          // it used more time of a processor than LimitCPU says
	Memory       // it used more memory than Confine says
	Stack        // its calls were nested too deep
	Size         // it wrote a larger file than it may
)

// Death waits for the end of a process that no longer answers, and says why it ended, with the first line of
// what it said itself.
func (p *Process) Death() (Cause, string) {
	select {
	case <-p.ended:
	case <-time.After(250 * time.Millisecond):
		p.Kill()
		<-p.ended
	}
	text := p.said.String()
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return causeOf(text), cmp.Or(first, fmt.Sprint(p.state))
}

func causeOf(text string) Cause {
	switch {
	case strings.Contains(text, "stack exceeds") || strings.Contains(text, "stack overflow"):
		return Stack
	case strings.Contains(text, "out of memory") || strings.Contains(text, "cannot allocate"):
		return Memory
	case strings.HasPrefix(text, "SIGSEGV") && strings.Contains(text, "addr=0x0") && strings.Contains(text, "\ngoroutine 0 "):
		return Memory // the runtime itself, on its own stack, was refused memory and did not look
	case strings.Contains(text, "SIGXCPU"):
		return CPU
	}
	return Crash
}
