//go:build unix

package host

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestNotify listens as a service manager does: it hears what it is told, and the pulse only while the server works.
func TestNotify(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hear := func() string {
		buf := make([]byte, 64)
		n, err := l.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	env := map[string]string{"NOTIFY_SOCKET": at, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	n := NewNotifier(func(name string) string { return env[name] })
	if n.pulse != 2*time.Millisecond {
		t.Errorf("pulse %s", n.pulse)
	}
	if err := n.Tell("READY=1"); err != nil || hear() != "READY=1" {
		t.Errorf("ready: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	asked := 0
	done := make(chan error)
	go func() {
		done <- n.Watch(ctx, func(context.Context) error {
			if asked++; asked < 3 {
				return errors.New("stuck")
			}
			return nil
		})
	}()
	if got := hear(); got != "WATCHDOG=1" {
		t.Errorf("pulse: %q", got)
	}
	stop()
	if err := <-done; err != nil || asked < 3 {
		t.Errorf("watched %d times, %v", asked, err)
	}
	env["WATCHDOG_PID"] = "1"
	if n := NewNotifier(func(name string) string { return env[name] }); n.pulse != 0 {
		t.Error("another's watchdog is fed")
	}
	if err := (Notifier{}).Tell("READY=1"); err != nil {
		t.Error(err)
	}
}
