package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"catena/ops/service"
	"catena/storage/limit"
	"catena/storage/maintenance"
)

// backups are the copies that a server makes of itself while it runs: files in a folder or a bucket, named by their moment.
type backups struct {
	folder string
	every  time.Duration
	keep   int

	mu     sync.Mutex
	failed error     // of the last try, which may have left out damaged content
	last   time.Time // the moment of the newest, as of the last look
}

func (b *backups) flags(f *pflag.FlagSet) {
	b.every, b.keep = 24*time.Hour, 7
	f.StringVar(&b.folder, "backup-folder", "", "folder for backups, preferably on another disk, or s3://BUCKET/PREFIX?endpoint=URL&region=REGION; without it, no backups are made")
	f.Var(limit.Positive(&b.every), "backup-every", "interval between backups")
	f.Var(limit.Positive(&b.keep), "backup-keep", "number of backups that are kept")
}

const (
	backupName  = "catena-20060102T150405Z.tar"
	backupAgain = 10 * time.Minute // pause after one that failed
)

// names lists the copies, oldest first. Those that a clock made which was ahead are left alone.
func (b *backups) names(ctx context.Context, d depot, now time.Time) ([]string, error) {
	all, err := d.List(ctx)
	// Files with other names are not ours, and must not be removed. A copy of the future comes from a clock
	// that was wrong; counting it would postpone the next one.
	names := slices.DeleteFunc(all, func(name string) bool {
		at, err := time.Parse(backupName, name)
		return err != nil || at.After(now)
	})
	slices.Sort(names)
	return names, err
}

// newest looks for the newest copy and returns its moment, the zero time if there is none.
func (b *backups) newest(ctx context.Context, now time.Time) (last time.Time, err error) {
	d, err := openDepot(b.folder)
	if err != nil {
		return last, err
	}
	names, err := b.names(ctx, d, now)
	if err != nil {
		return last, err
	}
	if len(names) > 0 {
		last, err = time.Parse(backupName, names[len(names)-1])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = last
	return last, err
}

// due looks when the next copy is to be made.
func (b *backups) due(ctx context.Context, now time.Time) time.Time {
	last, err := b.newest(ctx, now)
	if err != nil || last.IsZero() {
		return now
	}
	return last.Add(b.every)
}

// run makes copies until ctx ends. A restart does not change when the next is due.
func (b *backups) run(ctx context.Context, write func(context.Context, io.Writer) error, log *slog.Logger) error {
	for wait := time.Until(b.due(ctx, time.Now())); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		name, err := b.make(ctx, write, time.Now())
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a copy that the end cuts short is no failure
		}
		var damaged *maintenance.DamagedContent
		switch {
		case errors.As(err, &damaged):
			for _, d := range damaged.Damage {
				log.Error("backup without damaged content", "file", name, "content", d.String())
			}
		case err != nil:
			log.Error("backup", "error", err)
			wait = min(b.every, backupAgain)
			continue
		}
		log.Info("backup", "file", name)
		// Computed from the newest copy instead of from now, so that the interval does not grow by the time
		// that a backup takes.
		wait = time.Until(b.due(ctx, time.Now()))
	}
}

// make writes one copy, and removes the oldest of those that are too many. A copy without content that is damaged counts
// as one; the error says so.
func (b *backups) make(ctx context.Context, write func(context.Context, io.Writer) error, now time.Time) (name string, err error) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var damaged *maintenance.DamagedContent
		if b.failed = err; err == nil || errors.As(err, &damaged) {
			b.last = now
		}
	}()
	d, err := openDepot(b.folder)
	if err != nil {
		return "", err
	}
	if err := d.Ready(ctx, now.Add(-b.every)); err != nil {
		return "", err
	}
	name = now.UTC().Format(backupName)
	var damaged *maintenance.DamagedContent
	err = writeCopy(ctx, d, name, func(w io.Writer) error { return write(ctx, w) })
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	// Old copies are removed only after the new one is complete.
	names, failed := b.names(ctx, d, now)
	for _, old := range names[:max(0, len(names)-b.keep)] {
		failed = errors.Join(failed, d.Remove(ctx, old))
	}
	return d.At(name), cmp.Or(failed, err)
}

// status returns why there is no copy as young as there should be, or nil.
func (b *backups) status(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failed != nil:
		return b.failed
	// Twice the interval: one that is late is no reason to alarm anybody.
	case !b.last.IsZero() && now.Sub(b.last) > 2*b.every:
		return fmt.Errorf("%s: the newest copy is of %s", b.folder, b.last.Format(time.RFC3339))
	}
	return nil
}

// shown is what administrators see of the copies.
func (b *backups) shown(ctx context.Context) *service.Backups {
	out := &service.Backups{Folder: b.folder, Every: b.every.String(), Keep: b.keep, Made: []time.Time{}}
	names, err := []string{}, b.status(time.Now())
	if d, failed := openDepot(b.folder); failed != nil {
		err = cmp.Or(err, failed)
	} else if names, failed = b.names(ctx, d, time.Now()); failed != nil {
		err = cmp.Or(err, failed)
	}
	for _, name := range slices.Backward(names) {
		if at, failed := time.Parse(backupName, name); failed == nil {
			out.Made = append(out.Made, at)
		}
	}
	if err != nil {
		out.Failure = err.Error()
	}
	return out
}

// figure is what /metrics shows of them.
func (b *backups) figure() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "catena_backup_timestamp_seconds", Help: "When the newest copy in backup-folder was made, in Unix time; 0: there is none.",
	}, func() float64 {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.last.IsZero() {
			return 0
		}
		return float64(b.last.Unix())
	})
}
