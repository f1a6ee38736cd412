package worker

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// launchData bounds the memory of a program where that is not what is tested. Until the program begins, this one runs within the
// same bound, and with the race detector it came near to someData, now and then beyond it.
func launchData() int64 {
	if underRace {
		return 16 * someData
	}
	return someData
}

// launched runs a program in a folder and returns what it writes, and its error.
func launched(t *testing.T, p Program) (string, error) {
	t.Helper()
	if err := Confinable(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	if p.Data == 0 {
		p.Data = launchData()
	}
	if p.Write == 0 {
		p.Write = 1 << 20
	}
	p.Env = append(p.Env, "PATH=/usr/bin:/bin")
	var out bytes.Buffer
	r, err := Launch([]string{self, "program"}, p, nil, &out)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Ended():
	case <-time.After(time.Minute):
		r.Kill()
		t.Fatal("it does not end")
	}
	return out.String(), r.Err()
}

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

// TestProgramFiles checks that a program sees its own folder and the system, and nothing else.
func TestProgramFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, script string
		read         []string
		out          string
		fails        bool
	}{
		{name: "its folder", script: "cat in; mkdir sub; echo made > sub/out; mv sub/out out; cat out", out: "minemade\n"},
		{name: "another file", script: "cat " + secret, fails: true},
		{name: "a file it is given", script: "cat " + secret, read: []string{secret}, out: "secret"},
		{name: "writes to a file it may read", script: "echo x > " + secret, read: []string{secret}, fails: true},
		{name: "removes another file", script: "rm " + secret, fails: true},
		{name: "a link in its folder", script: "ln -s " + secret + " link; cat link", fails: true},
		{name: "secrets of the system", script: "cat /etc/shadow /etc/hostname", fails: true},
		{name: "the folders above", script: "ls " + filepath.Dir(dir), fails: true},
		{name: "another process", script: "cat /proc/1/environ /proc/1/cmdline", fails: true},
		{name: "writes into the system", script: "echo x > /usr/made", fails: true},
		{name: "writes beside its folder", script: "echo x > /tmp/made-by-a-test", fails: true},
		{name: "nothing", script: "echo x > /dev/null; echo done", out: "done\n"},
	} {
		out, err := launched(t, Program{Argv: shell(test.script), Dir: dir, Read: test.read})
		if failure := (*Failure)(nil); test.fails != errors.As(err, &failure) || !test.fails && err != nil || out != test.out {
			t.Errorf("%s: %q, %v", test.name, out, err)
		}
	}
	if b, err := os.ReadFile(secret); string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestProgramBounds checks the limits on time, memory and files.
func TestProgramBounds(t *testing.T) {
	if underRace {
		t.Skip("this program takes more memory under the race detector than a program may have")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		program Program
		cause   Cause
	}{
		"processor": {Program{Argv: shell("while :; do :; done"), CPU: time.Second}, CPU},
		"file":      {Program{Argv: []string{"/usr/bin/dd", "if=/dev/zero", "of=big", "bs=1000000", "count=3"}}, Size},
		"memory":    {Program{Argv: []string{self, "bound"}}, Memory},
	} {
		test.program.Read = []string{self}
		_, err := launched(t, test.program)
		if failure := (*Failure)(nil); !errors.As(err, &failure) || failure.Cause != test.cause {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// TestProgramEnvironment checks that a program is told nothing that the server knows.
func TestProgramEnvironment(t *testing.T) {
	t.Setenv("CATENA_SECRET", "x")
	out, err := launched(t, Program{Argv: []string{"/usr/bin/env"}, Env: []string{"A=b"}})
	if err != nil || out != "A=b\nPATH=/usr/bin:/bin\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestProgramPrivileges checks that a program of root has none of its privileges, and cannot get any.
func TestProgramPrivileges(t *testing.T) {
	out, err := launched(t, Program{Argv: []string{"/bin/grep", "-E", "^(CapEff|CapPrm|NoNewPrivs|Seccomp):", "/proc/self/status"}})
	want := "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	if err != nil || out != want {
		t.Errorf("%q, %v", out, err)
	}
}

// TestProgramNetwork checks which sockets a program gets. This program itself tries.
func TestProgramNetwork(t *testing.T) {
	if underRace {
		t.Skip("this program takes more memory under the race detector than a program may have")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for local, want := range map[bool]string{false: "inet false inet6 false unix false\n", true: "inet false inet6 false unix true\n"} {
		out, err := launched(t, Program{Argv: []string{self, "sockets"}, Read: []string{self}, Local: local})
		if err != nil || out != want {
			t.Errorf("local %v: %q, %v", local, out, err)
		}
	}
}

// TestProgramKilled ends a program with what it has started.
func TestProgramKilled(t *testing.T) {
	if err := Confinable(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r, err := Launch([]string{self, "program"}, Program{
		Argv: shell("sleep 1000 & echo $! > pid.new; mv pid.new pid; wait"), Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Data: launchData(), Write: 1 << 20,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var child []byte
	waitFor(t, func() bool {
		child, err = os.ReadFile(filepath.Join(dir, "pid"))
		return err == nil
	})
	r.Kill()
	if err := r.Err(); err == nil {
		t.Error("it ended well")
	}
	waitFor(t, func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(child)) + "/stat")
		return err != nil || bytes.Contains(state, []byte(") Z ")) // gone, or nobody has asked for its end yet
	})
}

func waitFor(t *testing.T, fact func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !fact(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited for a minute")
		}
	}
}

// TestProgramMissing tells a program that does not exist from one that fails.
func TestProgramMissing(t *testing.T) {
	_, err := launched(t, Program{Argv: []string{"/usr/bin/does-not-exist"}})
	if !errors.Is(err, ErrNotConfined) || !strings.Contains(err.Error(), "does-not-exist") {
		t.Error(err)
	}
	for _, args := range [][]string{nil, {"{"}, {"1", "2"}} {
		if code := ProgramMain(args); code != 1 {
			t.Errorf("%q: %d", args, code)
		}
	}
}
