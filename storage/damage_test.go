package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/memory"
)

// damagedWorld is a world with three files in a folder on the disk: /whole, /flipped, of which a bit is changed at a place,
// and /missing.
func damagedWorld(t *testing.T, at int) (w *world, digests map[string]string) {
	t.Helper()
	dir := t.TempDir()
	blobs, err := blob.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	w = newWorld(t, func(c *storage.Config) { c.Blobs = blobs })
	w.blobs, digests = blobs, map[string]string{}
	for i, name := range []string{"whole", "flipped", "missing"} {
		data := bytes.Repeat([]byte{byte(i), 2, 3, 4, 5}, 200_000)
		var b *storage.Blob
		w.update(w.System(), func(tx *storage.Tx) error {
			b, err = tx.NewBlob(name, "application/octet-stream", bytes.NewReader(data))
			if err == nil {
				_, err = tx.Create(must(tx.Doc("/"))(t), "File", name, storage.Props{"file:content": b})
			}
			return err
		})
		digests[name] = b.Digest
	}
	file := func(name string) string {
		d := digests[name]
		return filepath.Join(dir, d[:2], d[2:4], d)
	}
	data, err := os.ReadFile(file("flipped"))
	if err == nil {
		data[at] ^= 1
		err = errors.Join(os.WriteFile(file("flipped"), data, 0o600), os.Remove(file("missing")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return w, digests
}

// lines are the damages in short.
func damageLines(all []maintenance.Damage) (out []string) {
	for _, d := range all {
		out = append(out, d.Path+" "+d.XPath+" "+d.Digest)
	}
	slices.Sort(out)
	return out
}

func wantDamage(digests map[string]string) []string {
	return []string{"/flipped file:content " + digests["flipped"], "/missing file:content " + digests["missing"]}
}

// TestDamageIsReported verifies, copies and restores with content that is changed and content that is missing: all lists name
// the documents, and everything else is restored.
func TestDamageIsReported(t *testing.T) {
	w, digests := damagedWorld(t, 600_000)
	want := wantDamage(digests)
	report, err := maintenance.VerifyAll(t.Context(), w.Repo, nil)
	if got := damageLines(report.Damage); err != nil || !slices.Equal(got, want) || len(report.Problems) > 0 {
		t.Errorf("verify: %v %q, %v", err, got, report.Problems)
	}
	var copied, again bytes.Buffer
	var damaged *maintenance.DamagedContent
	if err := maintenance.Backup(t.Context(), w.Repo, w.System(), &copied); !errors.As(err, &damaged) || !slices.Equal(damageLines(damaged.Damage), want) || !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("backup: %v %v", err, damaged)
	}
	damaged = nil
	if err := maintenance.CopyBackup(&again, bytes.NewReader(copied.Bytes())); !errors.As(err, &damaged) || !slices.Equal(damageLines(damaged.Damage), want) || !bytes.Equal(again.Bytes(), copied.Bytes()) {
		t.Errorf("copy: %v, %d bytes of %d", err, again.Len(), copied.Len())
	}
	if err := maintenance.CopyBackup(io.Discard, bytes.NewReader(copied.Bytes()[:copied.Len()-2048])); err == nil || errors.Is(err, kv.ErrDamaged) {
		t.Errorf("copy of a cut one: %v", err)
	}
	blobs, err := blob.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	db := kv.New(memory.New(), kv.Options{})
	damaged = nil
	if err := maintenance.Restore(t.Context(), db, blobs, &copied); !errors.As(err, &damaged) || !slices.Equal(damageLines(damaged.Damage), want) {
		t.Errorf("restore: %v %v", err, damaged)
	}
	for name, digest := range digests {
		if there, err := blobs.Has(t.Context(), digest); err != nil || there != (name == "whole") {
			t.Errorf("restored %s: %t %v", name, there, err)
		}
	}
}

// TestDamageIsExplained names the document for those who may read it, and for nobody else.
func TestDamageIsExplained(t *testing.T) {
	w, digests := damagedWorld(t, 5)
	var err error
	w.view(w.System(), func(tx *storage.Tx) error {
		b := must(must(tx.Doc("/flipped"))(t).MainBlob())(t)
		_, err = b.Bytes(0)
		return nil
	})
	for _, c := range []struct {
		as   *storage.Principal
		want string
	}{
		{w.System(), "document /flipped, file:content: content " + digests["flipped"] + " is damaged between bytes 0 and 262144"},
		{storage.Guest(), "blob " + digests["flipped"] + ": content is damaged between bytes 0 and 262144"},
	} {
		got := maintenance.Explain(t.Context(), w.Repo, c.as, fault.Invalid.Errorf("picture: %w", err))
		if got.Error() != c.want || fault.CodeOf(got) != fault.CodeContentDamaged || !fault.Is(got, fault.Internal) {
			t.Errorf("%s: %v", c.as.Name, got)
		}
	}
	if other := errors.New("other"); maintenance.Explain(t.Context(), w.Repo, w.System(), other) != other { //nolint:errorlint // the same one
		t.Error("another error is changed")
	}
}

// TestScrub finds what is damaged and what is missing, knows it after a restart, and goes on where it was. Damage is forgotten
// once the content has come again.
func TestScrub(t *testing.T) {
	w, digests := damagedWorld(t, 999_999)
	s, stop := scrub(t, w, time.Millisecond)
	until(t, func() bool { f := s.Stats(); return f.Damaged == 2 && f.Contents >= 2 && !f.Last.IsZero() })
	if err := s.Status(t.Context()); err == nil || err.Error() != "2 contents are damaged or missing" {
		t.Error(err)
	}
	stop()
	for name := range digests {
		w.blobs.Forget(digests[name]) // as a restart does
	}
	s, stop = scrub(t, w, 1000*time.Hour)
	until(t, func() bool { return s.Stats().Damaged == 2 && !s.Stats().Last.IsZero() })
	for i, name := range []string{"whole", "flipped", "missing"} {
		if _, err := w.blobs.Spool(t.Context(), name, "", bytes.NewReader(bytes.Repeat([]byte{byte(i), 2, 3, 4, 5}, 200_000)), 0); err != nil {
			t.Error(err)
		}
	}
	if s.Stats().Damaged != 0 || s.Status(t.Context()) != nil {
		t.Errorf("healed: %+v", s.Stats())
	}
	stop()
	if report, err := maintenance.VerifyAll(t.Context(), w.Repo, nil); err != nil || len(report.Damage) > 0 {
		t.Errorf("healed: %v %v", report, err)
	}
}

func scrub(t *testing.T, w *world, every time.Duration) (*maintenance.Scrubber, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	s, done := maintenance.NewScrubber(w.Repo, every), make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func until(t *testing.T, fn func() bool) {
	t.Helper()
	for range 2000 {
		if fn() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("never")
}

// TestProgress counts documents and bytes.
func TestProgress(t *testing.T) {
	w, _ := damagedWorld(t, 0)
	var documents, size int64
	mu := make(chan struct{}, 1)
	add := func(d, b int64) {
		mu <- struct{}{}
		documents, size = documents+d, size+b
		<-mu
	}
	if _, err := maintenance.VerifyAll(t.Context(), w.Repo, add); err != nil || documents < 4 || size < 1_000_000 {
		t.Errorf("%d documents, %d bytes, %v", documents, size, err)
	}
}
