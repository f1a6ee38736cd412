package disktest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"catena/storage/disk"
)

// create makes a file and leaves it open.
func create(t *testing.T, f disk.FS, name, content string) disk.File {
	t.Helper()
	w, err := f.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// crash returns what a loss of power leaves, by name.
func crash(t *testing.T, f *Faulty) map[string]string {
	t.Helper()
	to, out := t.TempDir(), map[string]string{}
	if err := f.Crash(to, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(to, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestCrash loses power after some writes: what syncs confirmed is there, and over many seeds both outcomes of
// everything else are seen.
func TestCrash(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(100) {
		root := t.TempDir()
		must(t, os.WriteFile(filepath.Join(root, "mapped"), []byte("of another"), 0o600),
			os.WriteFile(filepath.Join(root, "old"), []byte("old content"), 0o600))
		f := New(root, seed, Plan{})
		name := func(s string) string { return filepath.Join(root, s) }
		kept := create(t, f, name("kept"), "synced")
		must(t, kept.Sync(), f.SyncDir(root))
		if _, err := kept.WriteAt([]byte("!! and more"), 4); err != nil {
			t.Fatal(err)
		}
		must(t, create(t, f, name("unnamed"), "content").Sync())
		must(t, create(t, f, name("state.tmp"), "new content").Sync(), f.Rename(name("state.tmp"), name("old")), f.Remove(name("mapped")))
		got := crash(t, f)
		if s := got["kept"]; len(s) < 4 || s[:4] != "sync" {
			t.Fatalf("seed %d: a synced file holds %q", seed, s)
		}
		if s := got["old"]; s != "old content" && s != "new content" {
			t.Fatalf("seed %d: a file that was replaced holds %q", seed, s)
		}
		if s, ok := got["unnamed"]; ok && s != "content" {
			t.Fatalf("seed %d: a synced file holds %q", seed, s)
		}
		for k, v := range got {
			seen[k+" "+v] = true
		}
		if _, err := f.OpenFile(name("kept"), os.O_RDONLY, 0); !errors.Is(err, ErrCrashed) {
			t.Fatalf("opened after a crash: %v", err)
		}
	}
	for _, want := range []string{"kept synced", "kept sync!! and more", "unnamed content", "old old content", "old new content", "mapped of another", "state.tmp new content"} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
}

// TestTorn stops the machine in a write: any of its sectors may be there, and nothing else changes.
func TestTorn(t *testing.T) {
	torn := false
	for seed := range uint64(60) {
		root := t.TempDir()
		f := New(root, seed, Plan{})
		w := create(t, f, filepath.Join(root, "log"), string(make([]byte, 8*sector)))
		must(t, w.Sync(), f.SyncDir(root))
		f.Set(Plan{Faults: []Fault{{Op: Write, Crash: true}}})
		if _, err := w.WriteAt(bytes.Repeat([]byte{1}, 3*sector), sector); !errors.Is(err, ErrCrashed) {
			t.Fatal(err)
		}
		got := crash(t, f)["log"]
		if len(got) != 8*sector {
			t.Fatalf("%d bytes", len(got))
		}
		var written int
		for i := range 8 {
			switch s := got[i*sector : (i+1)*sector]; {
			case s == string(bytes.Repeat([]byte{1}, sector)) && i >= 1 && i < 4:
				written++
			case s != string(make([]byte, sector)):
				t.Fatalf("sector %d is neither old nor new", i)
			}
		}
		torn = torn || written > 0 && written < 3
	}
	if !torn {
		t.Error("no write was torn")
	}
}

// TestFailedSync fails a sync: a later one that succeeds does not bring back what the first gave up.
func TestFailedSync(t *testing.T) {
	lost := false
	for seed := range uint64(60) {
		root := t.TempDir()
		f := New(root, seed, Plan{Faults: []Fault{{Op: Sync}}})
		w := create(t, f, filepath.Join(root, "log"), "first ")
		must(t, f.SyncDir(root))
		if err := w.Sync(); !errors.Is(err, ErrIO) {
			t.Fatal(err)
		}
		_, err := w.Write([]byte("second"))
		must(t, err, w.Sync())
		switch got := crash(t, f)["log"]; got {
		case "first second":
		case string(make([]byte, 6)) + "second":
			lost = true
		default:
			t.Fatalf("seed %d: %q", seed, got)
		}
	}
	if !lost {
		t.Error("nothing was lost")
	}
}

// TestFaults fails operations by their numbers, their names, at random and for want of room.
func TestFaults(t *testing.T) {
	root := t.TempDir()
	f := New(root, 1, Plan{Faults: []Fault{{Op: Write, Name: "*.log", N: 2, Times: 2, Short: true}, {Op: Read, Times: -1, Err: ErrFull}}})
	w := create(t, f, filepath.Join(root, "a.log"), "one")
	for i, want := range []error{ErrIO, ErrIO, nil} {
		n, err := w.WriteAt([]byte("1234"), 0)
		if !errors.Is(err, want) || want != nil && n != 2 {
			t.Errorf("write %d: %d %v", i+2, n, err)
		}
	}
	create(t, f, filepath.Join(root, "b"), "not counted")
	if _, err := disk.ReadFile(f, w.Name()); !errors.Is(err, ErrFull) {
		t.Errorf("read: %v", err)
	}
	f.Set(Plan{Rate: 0.5, Kinds: Sync})
	failed := 0
	for range 100 {
		if w.Sync() != nil {
			failed++
		}
	}
	if failed < 25 || failed > 75 {
		t.Errorf("%d of 100 syncs failed", failed)
	}
	f.Set(Plan{})
	f.SetRoom(10)
	if _, err := w.WriteAt(make([]byte, 15), 0); !errors.Is(err, ErrFull) {
		t.Errorf("full: %v", err)
	}
	if _, err := w.WriteAt(make([]byte, 14), 0); err != nil {
		t.Errorf("not full yet: %v", err)
	}
	if s, err := f.Space(root); err != nil || s.Free != 0 {
		t.Errorf("%+v %v", s, err)
	}
	must(t, f.Remove(w.Name()))
	if s, err := f.Space(root); err != nil || s.Free != 14 { // it held four bytes before the room was limited
		t.Errorf("%+v %v", s, err)
	}
	if f.Ops() == 0 {
		t.Error("no operations were counted")
	}
}
