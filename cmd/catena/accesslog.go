package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// accessLog is the log of requests: a file that is appended to, or standard output.
type accessLog struct {
	*slog.Logger
	file *appended // nil: standard output
	// One signal is kept while another one is dealt with: two of them mean the same as one.
	told chan os.Signal // to open the file again
}

// accessLog opens the log of requests: a file, or out for -. Its lines have the fields of rest.Config.Access
// and the time, and nothing else.
func (g *global) accessLog(name string, out io.Writer) (*accessLog, error) {
	l := &accessLog{told: make(chan os.Signal, 1)}
	if name != standard {
		l.file = &appended{name: name}
		if err := l.file.reopen(); err != nil {
			return nil, usage{fmt.Errorf("access-log: %w", err)}
		}
		signal.Notify(l.told, syscall.SIGHUP)
		out = l.file
	}
	var err error
	l.Logger, err = g.logTo(out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}})
	return l, err
}

// reopening opens the file again whenever the process is told to (SIGHUP), until ctx ends. Where there is no file,
// the signal does what it does otherwise.
func (l *accessLog) reopening(ctx context.Context, log *slog.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.told:
			if err := l.file.reopen(); err != nil {
				log.Error("the log of requests stays in the file it was in", "error", err)
			}
		}
	}
}

// close closes the file, if there is one.
func (l *accessLog) close() error {
	signal.Stop(l.told)
	if l.file == nil {
		return nil
	}
	return l.file.f.Close()
}

// appended is a file that is appended to. After it was renamed or removed, reopen makes one of its name again.
type appended struct {
	name string
	// mu guards f, and is held for the whole of a write, so that no line goes to a file already
	// closed.
	mu sync.Mutex
	f  *os.File
}

// Write appends a line.
func (a *appended) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.f.Write(line)
}

// reopen opens the file of the name, and closes the one open until then. If it cannot, that stays.
func (a *appended) reopen() error {
	f, err := os.OpenFile(a.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.f
	if a.f = f; before == nil {
		return nil
	}
	return before.Close()
}
