package cluster_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// TestBoard has nodes post, replace and remove what others read, until it is too old.
func TestBoard(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := t.Context()
	a, b := cluster.NewBoard(w.Repo, "colors", time.Minute), cluster.NewBoard(w.Repo, "colors", time.Minute)
	elsewhere := cluster.NewBoard(w.Repo, "sizes", time.Minute)
	reads := func(who *cluster.Board, want string) {
		t.Helper()
		got, err := cluster.Posted[[]string](ctx, who)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for v := range maps.Values(got) {
			all = append(all, v...)
		}
		if text := strings.Join(all, " "); text != want {
			t.Errorf("reads %q, want %q", text, want)
		}
	}
	post := func(who *cluster.Board, v any) {
		t.Helper()
		if err := who.Post(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(want int) {
		t.Helper()
		w.Read(w.System(), func(tx *storage.Tx) error {
			n := 0
			for range tx.Table("board.colors").Scan("", "", false, 0) {
				n++
			}
			if n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
			return tx.Err()
		})
	}
	reads(b, "")
	post(a, []string{"red"})
	reads(a, "") // its own
	reads(b, "red")
	reads(elsewhere, "")
	post(a, []string{"green", "blue"})
	reads(b, "green blue")
	rows(1)
	post(a, nil)
	reads(b, "")
	rows(0)
	post(a, nil) // once more

	post(a, []string{"red"})
	w.Now = w.Now.Add(time.Minute)
	reads(b, "red")
	w.Now = w.Now.Add(time.Second)
	rows(1)
	reads(b, "")
	rows(0)

	post(a, "no list")
	_, err := cluster.Posted[[]string](ctx, b)
	storagetest.WantKind(t, err, fault.Internal, "post")
	if err := a.Post(ctx, func() {}); err == nil {
		t.Error("a function was posted")
	}
}
