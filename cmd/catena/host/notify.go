package main

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"time"
)

// notifier tells the service manager that started the server how it is (sd_notify). Without one it tells nobody.
type notifier struct {
	socket string
	pulse  time.Duration // at most so long may it hear nothing; 0: as long as it likes
}

func newNotifier(getenv func(string) string) notifier {
	n := notifier{socket: getenv("NOTIFY_SOCKET")}
	if pid := getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
			n.pulse = time.Duration(us) * time.Microsecond
		}
	}
	return n
}

func (n notifier) tell(state string) error {
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

// watch tells, twice as often as it has to, that the server works, as long as alive says so.
func (n notifier) watch(ctx context.Context, alive func(context.Context) error) error {
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
		if err := n.tell("WATCHDOG=1"); err != nil {
			return err
		}
	}
}
