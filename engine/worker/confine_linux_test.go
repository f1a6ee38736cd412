package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const someData = 256 << 20

// confinement is what a confined process finds out about itself.
type confinement struct {
	Data, Files, FileSize, Core uint64
	NoNewPrivileges             bool
	Landlock                    bool // the kernel knows it
	Read, Write, Dial           bool // succeeded
	Environment                 int
	Directory                   string
}

// TestMain is a confined process when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "confined":
			os.Exit(confined())
		case "parent":
			os.Exit(parent())
		case "program":
			os.Exit(ProgramMain(os.Args[2:]))
		case "bound":
			exceed()
		case "sockets":
			sockets()
			os.Exit(0)
		case "child":
			_, _ = os.Stdout.WriteString("child")
			_, _ = os.Stdin.Read(make([]byte, 1))
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// exceed uses more memory until that ends it.
func exceed() {
	for all := []byte{1}; ; all = append(all, all...) {
		all[len(all)-1] = 1
	}
}

// sockets tries which sockets it gets.
func sockets() {
	can := func(domain int) bool {
		fd, err := unix.Socket(domain, unix.SOCK_STREAM, 0)
		_ = unix.Close(fd)
		return err == nil
	}
	fmt.Println("inet", can(unix.AF_INET), "inet6", can(unix.AF_INET6), "unix", can(unix.AF_UNIX))
}

// parent starts a worker when it is told to, and passes on what that says.
func parent() int {
	_, _ = os.Stdout.WriteString("parent ")
	_, _ = os.Stdin.Read(make([]byte, 1))
	self, err := Self()
	if err == nil {
		var p *Process
		if p, err = Start([]string{self, "child"}); err == nil {
			_, err = io.CopyN(os.Stdout, p.Out, int64(len("child")))
			p.Kill()
		}
	}
	if err != nil {
		_, _ = os.Stdout.WriteString(err.Error())
		return 1
	}
	return 0
}

// TestReplaced replaces and removes the file of a program that runs, which still starts workers.
func TestReplaced(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(file string) error{
		"replaced": func(file string) error {
			other := file + ".new"
			return errors.Join(os.WriteFile(other, []byte("#!/bin/sh\necho other\n"), 0o700), os.Rename(other, file))
		},
		"removed": os.Remove,
	} {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.Link(exe, file); err != nil {
			program, failed := os.ReadFile(exe)
			if err := errors.Join(failed, os.WriteFile(file, program, 0o700)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(file, "parent")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, len("parent "))
		if _, err := io.ReadFull(out, said); err != nil {
			t.Fatal(err)
		}
		changed := change(file)
		_, told := in.Write([]byte("x"))
		if err := errors.Join(changed, told); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out)
		if err = errors.Join(err, cmd.Wait()); err != nil || string(rest) != "child" {
			t.Errorf("%s: %q, %v", name, rest, err)
		}
	}
}

// confined reports what a worker can still do.
func confined() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	c := confinement{Landlock: errno == 0 && version >= 4, Environment: len(os.Environ())}
	c.Directory, _ = os.Getwd()
	if err := Confine(someData); err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		return 1
	}
	for what, into := range map[int]*uint64{
		unix.RLIMIT_DATA: &c.Data, unix.RLIMIT_NOFILE: &c.Files, unix.RLIMIT_FSIZE: &c.FileSize, unix.RLIMIT_CORE: &c.Core,
	} {
		var l unix.Rlimit
		if unix.Getrlimit(what, &l) == nil {
			*into = l.Max
		}
	}
	n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	c.NoNewPrivileges = err == nil && n == 1
	if f, err := os.Open("/etc/hostname"); err == nil {
		c.Read = true
		_ = f.Close()
	}
	c.Write = os.WriteFile("/tmp/catena-worker-was-here", []byte("x"), 0o600) == nil
	if l, err := net.Dial("tcp", "127.0.0.1:9"); err == nil {
		c.Dial = true
		_ = l.Close()
	} else {
		c.Dial = !errors.Is(err, fs.ErrPermission)
	}
	_ = json.NewEncoder(os.Stdout).Encode(c)
	return 0
}

// TestConfinement asks a confined process what it can still do.
func TestConfinement(t *testing.T) {
	if underRace {
		t.Skip("the race detector needs more memory than a worker may have")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "confined")
	cmd.Env, cmd.Dir = []string{}, "/"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got confinement
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := confinement{Data: someData, Files: 16, NoNewPrivileges: true, Directory: "/", Landlock: got.Landlock}
	if !got.Landlock { // an older kernel leaves reading and the network to the process boundary
		want.Read, want.Dial = got.Read, got.Dial
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
