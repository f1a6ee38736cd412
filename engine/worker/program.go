package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Program is a program of others that is to work confined: it sees a folder of its own and what is installed on the
// machine, no other file and no network. Confinement is not optional: where the kernel cannot do it, the program does not
// start (Confinable).
type Program struct {
	Argv  []string
	Env   []string
	Dir   string        // the folder of its own: the only one it may write to, and its working directory
	Read  []string      // what it may read beside the files of the system
	Data  int64         // bytes of memory
	Write int64         // bytes of one file that it writes
	CPU   time.Duration // of a processor; 0: no limit
	Local bool          // it may use sockets of this machine, and makes one in /tmp
}

// notConfined begins what the helper says if it cannot confine the program, which tells that from an error of the program.
const notConfined = "worker: not confined: "

// maxSaid bounds what is kept of what a program says.
const maxSaid = 8 << 10

// words keeps the beginning and the end of what a program writes to its outputs: some say first what is wrong, most last.
type words struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps what is new, and as much of what was there as fits.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(w.b, p...)
	if more := len(w.b) - maxSaid; more > 0 {
		w.b = append(w.b[:maxSaid/4], w.b[maxSaid/4+more:]...)
	}
	return len(p), nil
}

// take returns what is kept and forgets it.
func (w *words) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := string(bytes.ToValidUTF8(w.b, nil))
	w.b = w.b[:0]
	return strings.TrimSpace(s)
}

// Installed returns where a program is in PATH.
func Installed(command string) (string, error) { return exec.LookPath(command) }

// Running is a confined program that works.
type Running struct {
	cmd   *exec.Cmd
	said  words
	ended chan struct{}
	state error
}

// Launch starts a program. The helper is the command line of a process of this program that ends in ProgramMain. The program
// is given in, nil for nothing, and what it writes to out, if that is not nil; it dies with the server.
func Launch(helper []string, p Program, in io.Reader, out io.Writer) (*Running, error) {
	if err := Confinable(); err != nil {
		return nil, err
	}
	spec, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	r := &Running{ended: make(chan struct{})}
	c := exec.CommandContext(context.Background(), helper[0], append(helper[1:len(helper):len(helper)], string(spec))...) // it may outlive the call that needs it
	c.Env, c.Dir, c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = p.Env, p.Dir, in, &r.said, &r.said, time.Second
	if out != nil {
		c.Stdout = out
	}
	detach(c)
	alone(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	r.cmd = c
	go func() {
		r.state = c.Wait()
		r.Kill() // what it started and left
		close(r.ended)
	}()
	return r, nil
}

// Kill ends the program at once, with all that it started.
func (r *Running) Kill() { killAll(r.cmd) }

// Ended is closed once the program is gone.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Said returns what the program has said since it was asked before.
func (r *Running) Said() string { return r.said.take() }

// ErrNotConfined is the error of a program that was not started because it could not be confined.
var ErrNotConfined = errors.New("programs cannot be confined on this system")

// Err says why a program that has ended did not do its work; nil if it did. It is a Failure, or ErrNotConfined.
func (r *Running) Err() error {
	<-r.ended
	if r.state == nil {
		return nil
	}
	said := r.Said()
	if text, ok := strings.CutPrefix(said, notConfined); ok {
		return fmt.Errorf("%w: %s", ErrNotConfined, text)
	}
	// Signals of limits end a program before it can say anything about them.
	switch state := r.state.Error(); {
	case strings.Contains(state, "CPU time limit exceeded"):
		return &Failure{CPU, state}
	case strings.Contains(state, "file size limit exceeded"):
		return &Failure{Size, state}
	case said == "":
		return &Failure{Crash, state}
	}
	// The last line is the one that says why: programs describe their work before.
	return &Failure{causeOf(said), said[strings.LastIndexByte(said, '\n')+1:]}
}

// ExitCode is that of a program that has ended; -1 if a signal ended it.
func (r *Running) ExitCode() int {
	<-r.ended
	return r.cmd.ProcessState.ExitCode()
}

// ProgramMain is the helper process that Launch starts: it confines itself and becomes the program. The arguments are those
// that Launch adds. It returns only if that is not possible.
func ProgramMain(args []string) int {
	var p Program
	err := errors.New("no program")
	if len(args) == 1 {
		err = json.Unmarshal([]byte(args[0]), &p)
	}
	if err == nil {
		err = become(p)
	}
	_, _ = io.WriteString(os.Stderr, notConfined+err.Error()+"\n")
	return 1
}
