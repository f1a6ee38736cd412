package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"catena/ops/service"
	"catena/storage"
	"catena/storage/maintenance"
)

// TestBackups has a server make copies of itself: as many are kept as are asked for, one that fails leaves the others
// as they were and is told, and the newest is a data directory again.
func TestBackups(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	g := &global{data: data, logLevel: "error", logFormat: "text"}
	a, err := g.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			_ = a.close()
		}
	}()
	b := &backups{folder: filepath.Join(t.TempDir(), "copies"), every: time.Hour, keep: 2}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if due := b.due(t.Context(), start); !due.Equal(start) || b.status(start) != nil {
		t.Errorf("first: due %s, %v", due, b.status(start))
	}
	at := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	for h := range 3 {
		if _, err := b.make(t.Context(), a.backup, at(h), ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, age := range map[string]time.Duration{"mine.tar": 0, partPrefix + "old": 9 * time.Hour, partPrefix + "new": 0} {
		path := filepath.Join(b.folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at(3), at(3).Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	_, err = b.make(t.Context(), func(_ context.Context, w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return broken
	}, at(3), "")
	if !errors.Is(err, broken) || !errors.Is(b.status(at(3)), broken) {
		t.Errorf("broken: %v, status %v", err, b.status(at(3)))
	}
	want := []string{partPrefix + "new", "catena-20260301T130000Z.tar", "catena-20260301T140000Z.tar", "mine.tar"}
	if got := filesIn(t, b.folder); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	b = &backups{folder: b.folder, every: b.every, keep: b.keep} // as after a restart
	if due := b.due(t.Context(), at(3)); !due.Equal(at(3)) || b.status(at(4)) != nil || b.status(at(5)) == nil || b.due(t.Context(), start) != start {
		t.Errorf("due %s; late: %v, %v", due, b.status(at(4)), b.status(at(5)))
	}
	if err := os.WriteFile(filepath.Join(b.folder, "catena-29990301T130000Z.tar"), []byte("of a clock that was ahead"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.keep = 1
	if due := b.due(t.Context(), at(3)); !due.Equal(at(3)) {
		t.Errorf("beside one of the future: due %s", due)
	}
	name, err := b.make(t.Context(), a.backup, at(5), "")
	if err != nil || b.status(at(5)) != nil {
		t.Fatal(err, b.status(at(5)))
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	closed = true
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copied")
	for _, args := range [][]string{{"restore", name, "--data", copied}, {"verify", "--data", copied}} {
		if code, out, errs := line(t, args...); code != 0 {
			t.Errorf("%s: %d %s%s", args, code, out, errs)
		}
	}
}

// TestBackupTask runs the task as the server does: the copy that is due is made, and the task ends with its context.
func TestBackupTask(t *testing.T) {
	b := &backups{folder: t.TempDir(), every: time.Hour, keep: 2}
	a := &app{}
	var err error
	if a.log, err = (&global{logLevel: "error", logFormat: "text"}).logger(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	made := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- b.run(ctx, func(_ context.Context, w io.Writer) error {
			defer close(made) // a second time would panic
			_, err := w.Write([]byte("all"))
			return err
		}, a.log)
	}()
	<-made
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestBackupOnRequest makes a backup that somebody asked for and verifies it, finds one that was changed since, and has the audit log
// tell of all three.
func TestBackupOnRequest(t *testing.T) {
	g := &global{data: filepath.Join(t.TempDir(), "data"), logLevel: "error", logFormat: "text"}
	a, err := g.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.close() }()
	b := &backups{folder: filepath.Join(t.TempDir(), "copies"), every: time.Hour, keep: 2, asked: make(chan wish, 1)}
	b.check = func(ctx context.Context, r io.Reader) error { return maintenance.CheckBackup(ctx, a.repo, r) }
	ctx, stop := context.WithCancel(t.Context())
	ended, done := make(chan *service.BackupRun), make(chan error, 1)
	go func() {
		done <- b.serve(ctx, a.backup, func(ctx context.Context, run *service.BackupRun) {
			a.backedUp(ctx, run)
			ended <- run
		})
	}()
	ask := func(name string) *service.BackupRun {
		t.Helper()
		if err := b.ask("ada", name); err != nil {
			t.Fatal(err)
		}
		return <-ended
	}
	made := ask("")
	kept := b.shown(ctx).Made
	if made.Failure != "" || made.By != "ada" || made.Bytes == 0 || len(kept) != 1 || kept[0].Size != made.Bytes || kept[0].Verified.IsZero() {
		t.Fatalf("made %+v, kept %+v", made, kept)
	}
	if again := ask(made.Name); again.Failure != "" || !again.Only || again.Bytes != made.Bytes || again.Expected != made.Bytes {
		t.Errorf("verified: %+v", again)
	}
	path := filepath.Join(b.folder, made.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[2000] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if bad := ask(made.Name); bad.Failure == "" || b.shown(ctx).Made[0].Problem != bad.Failure || !b.shown(ctx).Made[0].Verified.IsZero() {
		t.Errorf("a changed backup: %+v, %+v", bad, b.shown(ctx))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	var said []string
	err = a.repo.View(t.Context(), a.repo.System(), func(tx *storage.Tx) error {
		page, err := tx.Entries(storage.EntryFilter{Users: []string{"ada"}, Ascending: true})
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			said = append(said, e.Event)
		}
		return nil
	})
	if want := []string{"backupMade", "backupVerified", "backupVerificationFailed"}; err != nil || !slices.Equal(said, want) {
		t.Errorf("the audit log: %q %v", said, err)
	}
}
