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
	"catena/storage/fault"
	"catena/storage/limit"
	"catena/storage/maintenance"
)

// backups are the copies that a server makes of itself while it runs: files in a folder or a bucket, named by their moment.
type backups struct {
	folder string
	every  time.Duration
	keep   int

	// check reads a copy to its end and says what is wrong with it; nil: none is checked.
	check func(context.Context, io.Reader) error
	asked chan wish // what administrators want now

	one      sync.Mutex // one copy is made or verified at a time
	mu       sync.Mutex
	failed   error                     // of the last try, which may have left out damaged content
	last     time.Time                 // the moment of the newest, as of the last look
	now      *service.BackupRun        // being made or verified
	ended    *service.BackupRun        // the last that ended
	verified map[string]service.Backup // by name, what verifications have found
}

// wish is what an administrator wants: a copy, or the verification of one.
type wish struct{ by, name string }

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

// ask has a copy made, or with a name verified, as soon as possible.
func (b *backups) ask(by, name string) error {
	select {
	case b.asked <- wish{by, name}:
		return nil
	default:
		return fault.Conflict.Errorf("a backup was asked for already")
	}
}

// serve does what is asked for, until ctx ends. tell is told how it ended.
func (b *backups) serve(ctx context.Context, write func(context.Context, io.Writer) error, tell func(context.Context, *service.BackupRun)) error {
	for {
		var w wish
		select {
		case <-ctx.Done():
			return nil
		case w = <-b.asked:
		}
		if w.name == "" {
			_, _ = b.make(ctx, write, time.Now(), w.by)
		} else {
			b.verify(ctx, w)
		}
		b.mu.Lock()
		ended := b.ended
		b.mu.Unlock()
		if ctx.Err() == nil {
			tell(ctx, ended)
		}
	}
}

// verify reads a copy that there is.
func (b *backups) verify(ctx context.Context, w wish) {
	b.one.Lock()
	defer b.one.Unlock()
	d, err := openDepot(b.folder)
	b.begin(ctx, d, &service.BackupRun{Name: w.name, By: w.by, Only: true})
	if err == nil {
		err = b.checked(ctx, d, w.name)
	}
	b.end(err)
}

// begin notes what is being made or verified, for those who look meanwhile.
func (b *backups) begin(ctx context.Context, d depot, now *service.BackupRun) {
	now.Began = time.Now().UTC()
	if d != nil { // how large it will be is seen from the newest, without which nothing is expected
		like := now.Name
		if names, err := b.names(ctx, d, time.Now()); err == nil && len(names) > 0 && !now.Only {
			like = names[len(names)-1]
		}
		now.Expected, _, _ = d.Stat(ctx, like)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
}

func (b *backups) set(change func(*service.BackupRun)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		change(b.now)
	}
}

func (b *backups) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now.Ended = time.Now().UTC()
	if err != nil {
		b.now.Failure = err.Error()
	}
	b.ended, b.now = b.now, nil
}

// passing counts the bytes of a copy that pass.
type passing struct {
	io.Reader
	io.Writer
	b *backups
}

func (p passing) count(n int) { p.b.set(func(now *service.BackupRun) { now.Bytes += int64(n) }) }

// Read counts what is read.
func (p passing) Read(buf []byte) (int, error) {
	n, err := p.Reader.Read(buf)
	p.count(n)
	return n, err
}

// Write counts what is written.
func (p passing) Write(buf []byte) (int, error) {
	n, err := p.Writer.Write(buf)
	p.count(n)
	return n, err
}

// checked reads a copy from where it is kept. Content that was damaged before it was copied is no fault of the copy, and is known.
func (b *backups) checked(ctx context.Context, d depot, name string) error {
	if b.check == nil {
		return nil
	}
	b.set(func(now *service.BackupRun) { now.Verifying, now.Bytes = true, 0 })
	f, err := d.Open(ctx, name)
	if err == nil {
		err = b.check(ctx, passing{Reader: f, b: b})
		_ = f.Close()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found := service.Backup{Name: name}
	if err != nil {
		found.Problem = err.Error()
	} else {
		found.Verified = time.Now().UTC()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.verified == nil {
		b.verified = map[string]service.Backup{}
	}
	b.verified[name] = found
	return err
}

// run makes copies until ctx ends. A restart does not change when the next is due.
func (b *backups) run(ctx context.Context, write func(context.Context, io.Writer) error, log *slog.Logger) error {
	for wait := time.Until(b.due(ctx, time.Now())); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		name, err := b.make(ctx, write, time.Now(), "")
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

// make writes one copy, reads it again, and removes the oldest of those that are too many. A copy without content that is damaged
// counts as one; the error says so. One that cannot be read again is removed.
func (b *backups) make(ctx context.Context, write func(context.Context, io.Writer) error, now time.Time, by string) (name string, err error) {
	b.one.Lock()
	defer b.one.Unlock()
	name = now.UTC().Format(backupName)
	b.begin(ctx, nil, &service.BackupRun{Name: name, By: by})
	defer func() {
		b.end(err)
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
	b.begin(ctx, d, &service.BackupRun{Name: name, By: by})
	var damaged *maintenance.DamagedContent
	err = writeCopy(ctx, d, name, func(w io.Writer) error { return write(ctx, passing{Writer: w, b: b}) })
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	if wrong := b.checked(ctx, d, name); wrong != nil && !errors.As(wrong, &damaged) {
		return "", errors.Join(fault.Wrap(wrong, "backup %s: cannot be read again", name), d.Remove(context.WithoutCancel(ctx), name))
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
	out := &service.Backups{Folder: b.folder, Every: b.every.String(), Keep: b.keep, Made: []service.Backup{}}
	err := b.status(time.Now())
	d, failed := openDepot(b.folder)
	var names []string
	if failed == nil {
		names, failed = b.names(ctx, d, time.Now())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Backward(names) {
		one := b.verified[name]
		one.Name = name
		if one.Time, _ = time.Parse(backupName, name); failed == nil {
			one.Size, _, failed = d.Stat(ctx, name)
		}
		out.Made = append(out.Made, one)
	}
	if err = cmp.Or(err, failed); err != nil {
		out.Failure = err.Error()
	}
	if b.now != nil {
		now := *b.now
		out.Now = &now
	}
	out.Ended = b.ended // it no longer changes
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
