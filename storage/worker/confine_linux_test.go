package worker

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
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
	if len(os.Args) > 1 && os.Args[1] == "confined" {
		os.Exit(confined())
	}
	os.Exit(m.Run())
}

// underRace is set when the tests were built with the race detector.
var underRace bool

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
