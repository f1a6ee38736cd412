// Package host is what a process asks of the machine it runs on: limits, permissions of new files, memory, and a
// service manager to report to.
package host

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"time"
)

// Notifier tells the service manager that started the server how it is (sd_notify). Without one it tells nobody.
type Notifier struct {
	socket string
	pulse  time.Duration // at most so long may it hear nothing; 0: as long as it likes
}

// NewNotifier reads the environment that a service manager gives.
func NewNotifier(getenv func(string) string) Notifier {
	n := Notifier{socket: getenv("NOTIFY_SOCKET")}
	if pid := getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
			n.pulse = time.Duration(us) * time.Microsecond
		}
	}
	return n
}

// Tell sends a state to the service manager.
func (n Notifier) Tell(state string) error {
	if n.socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	return errors.Join(err, c.Close())
}

// Watch tells, twice as often as it has to, that the server works, as long as alive says so.
func (n Notifier) Watch(ctx context.Context, alive func(context.Context) error) error {
	if n.socket == "" || n.pulse == 0 {
		return nil
	}
	t := time.NewTicker(n.pulse / 2)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := alive(ctx); err != nil {
			continue
		}
		if err := n.Tell("WATCHDOG=1"); err != nil {
			return err
		}
	}
}
