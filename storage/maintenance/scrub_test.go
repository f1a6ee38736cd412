package maintenance

import (
	"context"
	"strings"
	"testing"
	"time"

	"catena/storage"
)

// TestToldDamage has a server come upon content that is missing, and the one that scrubs take that over, read it again, and forget it
// once the content is there again.
func TestToldDamage(t *testing.T) {
	r, digest := withFile(t, large)
	ctx, stop := context.WithCancel(t.Context())
	rows := func() (all []string) {
		t.Helper()
		if err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			all = nil
			return eachRow(tx.Secret(damageTable), func(digest string, _ damageRow) { all = append(all, digest) })
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	scrubs := NewScrubber(r, time.Hour)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(scrubs.load(ctx))
	told := make(chan error, 1)
	go func() { told <- NewScrubber(r, time.Hour).Tell(ctx) }()
	must(r.Blobs().Remove(ctx, digest))
	if err := r.Blobs().VerifyAs(ctx, digest, int64(len(large)), nil); err == nil {
		t.Fatal("content that was removed is whole")
	}
	for end := time.Now().Add(time.Minute); len(rows()) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if got := rows(); len(got) != 1 || got[0] != digest {
		t.Fatalf("told of %q, want %q", got, digest)
	}
	r.Blobs().Forget(digest) // as on a server that has not come upon it
	must(scrubs.note(ctx))
	if got := rows(); len(got) != 1 {
		t.Fatalf("what another server has written down is gone: %q", got)
	}
	must(scrubs.adopt(ctx))
	must(scrubs.note(ctx))
	if d := r.Blobs().Damaged()[digest]; d == nil || len(rows()) != 1 || !scrubs.found[digest] || scrubs.Stats().Damaged != 1 {
		t.Errorf("not taken over: %v, %q, %+v", d, rows(), scrubs.Stats())
	}
	// It comes back, by being stored again.
	must(r.Update(ctx, r.System(), func(tx *storage.Tx) error {
		_, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(large))
		return err
	}))
	must(r.Blobs().Verify(ctx, digest))
	must(scrubs.note(ctx))
	if got := rows(); len(got) != 0 || scrubs.Stats().Damaged != 0 {
		t.Errorf("whole again: %q, %+v", got, scrubs.Stats())
	}
	// A row about content that is whole goes as well.
	must(r.Update(ctx, r.System(), func(tx *storage.Tx) error {
		return tx.Secret(damageTable).Put(digest, damageRow{"was damaged", tx.Now()})
	}))
	must(scrubs.adopt(ctx))
	must(scrubs.note(ctx))
	if got := rows(); len(got) != 0 {
		t.Errorf("whole all the time: %q", got)
	}
	stop()
	must(<-told)
}
