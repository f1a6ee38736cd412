package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/storagetest"
)

// TestCompare: a node is behind in what works on another one that is up and has said what does not work on it.
func TestCompare(t *testing.T) {
	w := storagetest.NewWorld(t)
	a, b := join(t, w, "a"), join(t, w, "b")
	join(t, w, "older") // says nothing
	says := func(m *cluster.Member, lacks, want string) {
		t.Helper()
		behind, err := m.Compare(t.Context(), strings.Fields(lacks))
		if got := strings.Join(behind, " "); err != nil || got != want {
			t.Errorf("lacks %s: behind %q, want %q, %v", lacks, got, want, err)
		}
	}
	says(a, "x y", "") // nobody is known to have them
	says(b, "y z", "z")
	says(a, "x y", "x")
	says(b, "", "")
	says(a, "x y", "x y")
	says(a, "", "")
	says(b, "x", "x")
	says(a, "x", "")
	says(b, "x", "")
	says(a, "", "")
	w.Now = w.Now.Add(2 * cluster.Lost)
	says(b, "x", "") // a is lost
}

// TestCompareMany: what a node does not tell, because it is too much, is not held against others.
func TestCompareMany(t *testing.T) {
	w := storagetest.NewWorld(t)
	a, b := join(t, w, "a"), join(t, w, "b")
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("text %03d", i))
	}
	for _, c := range []struct{ of, other, want int }{{300, 300, 0}, {300, 0, 200}, {200, 300, 0}, {3, 2, 1}} {
		_, err := a.Compare(t.Context(), many[:c.other])
		if err != nil {
			t.Fatal(err)
		}
		behind, err := b.Compare(t.Context(), many[:c.of])
		if err != nil || len(behind) != c.want {
			t.Errorf("%d, the other %d: behind in %d, want %d, %v", c.of, c.other, len(behind), c.want, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := b.Compare(ended, many[:1]); err == nil {
		t.Error("compared without the store")
	}
	w.Read(w.System(), func(tx *storage.Tx) error { // what was not told then is told next time
		all, err := cluster.List(tx)
		if err == nil && len(*all[1].Lacks) != 3 {
			t.Errorf("%+v", all)
		}
		return err
	})
	if behind, err := b.Compare(t.Context(), many[:1]); err != nil || len(behind) != 0 {
		t.Errorf("%v, %v", behind, err)
	}
}
