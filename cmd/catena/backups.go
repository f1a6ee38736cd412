package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// backups are the copies that a server makes of itself while it runs: files in a folder, named by their moment.
type backups struct {
	folder string
	every  time.Duration
	keep   int

	mu     sync.Mutex
	failed error // of the last try
}

func (b *backups) flags(f *pflag.FlagSet) {
	b.every, b.keep = 24*time.Hour, 7
	f.StringVar(&b.folder, "backup-folder", "", "folder for copies of everything, best on another disk; empty: none are made")
	f.Var(span(&b.every), "backup-every", "time between two of them")
	f.Var(count(&b.keep), "backup-keep", "how many are kept")
}

const (
	backupName  = "catena-20060102T150405Z.tar"
	backupAgain = 10 * time.Minute // pause after one that failed
)

// names lists the copies in the folder, the oldest first. Those that a clock made which was ahead are left alone.
func (b *backups) names(now time.Time) ([]string, error) {
	entries, err := os.ReadDir(b.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if at, err := time.Parse(backupName, e.Name()); err == nil && !at.After(now) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, err
}

// newest returns the moment of the newest copy, the zero time if there is none.
func (b *backups) newest(now time.Time) (time.Time, error) {
	names, err := b.names(now)
	if err != nil || len(names) == 0 {
		return time.Time{}, err
	}
	return time.Parse(backupName, names[len(names)-1])
}

// due returns when the next copy is to be made.
func (b *backups) due(now time.Time) time.Time {
	last, err := b.newest(now)
	if err != nil || last.IsZero() {
		return now
	}
	return last.Add(b.every)
}

// run makes copies until ctx ends. A restart does not change when the next is due.
func (b *backups) run(ctx context.Context, write func(context.Context, io.Writer) error, log *slog.Logger) error {
	for wait := time.Until(b.due(time.Now())); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		name, err := b.make(ctx, write, time.Now())
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a copy that the end cuts short is no failure
		}
		if err != nil {
			log.Error("backup", "error", err)
			wait = min(b.every, backupAgain)
			continue
		}
		log.Info("backup", "file", name)
		wait = time.Until(b.due(time.Now()))
	}
}

// make writes one copy, and removes the oldest of those that are too many.
func (b *backups) make(ctx context.Context, write func(context.Context, io.Writer) error, now time.Time) (name string, err error) {
	defer func() {
		b.mu.Lock()
		b.failed = err
		b.mu.Unlock()
	}()
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return "", err
	}
	if err := b.sweep(now); err != nil {
		return "", err
	}
	name = filepath.Join(b.folder, now.UTC().Format(backupName))
	if err := writeWhole(name, func(w io.Writer) error { return write(ctx, w) }); err != nil {
		return "", err
	}
	names, err := b.names(now)
	for _, old := range names[:max(0, len(names)-b.keep)] {
		err = errors.Join(err, os.Remove(filepath.Join(b.folder, old)))
	}
	return name, err
}

// sweep removes what copies that were broken off have left.
func (b *backups) sweep(now time.Time) error {
	entries, err := os.ReadDir(b.folder)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > b.every {
			_ = os.Remove(filepath.Join(b.folder, e.Name()))
		}
	}
	return err
}

// status returns why there is no copy as young as there should be, or nil.
func (b *backups) status(now time.Time) error {
	b.mu.Lock()
	failed := b.failed
	b.mu.Unlock()
	if failed != nil {
		return failed
	}
	if due := b.due(now); now.Sub(due) > b.every {
		return fmt.Errorf("%s: the newest copy is of %s", b.folder, due.Add(-b.every).Format(time.RFC3339))
	}
	return nil
}

// figure is what /metrics shows of them.
func (b *backups) figure() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "catena_backup_timestamp_seconds", Help: "When the newest copy in backup-folder was made, in Unix time; 0: there is none.",
	}, func() float64 {
		last, err := b.newest(time.Now())
		if err != nil || last.IsZero() {
			return 0
		}
		return float64(last.Unix())
	})
}
