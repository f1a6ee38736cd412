package ops_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"catena/decks"
	"catena/engine"
	"catena/ops"
	"catena/storage"
)

// TestGoldenCallers holds for every operation who may call it from where, so that a change of that shows in review.
func TestGoldenCallers(t *testing.T) {
	set, err := engine.NewSet(append(ops.All(ops.Config{}), decks.Ops())...)
	if err != nil {
		t.Fatal(err)
	}
	callers := [...]struct {
		name string
		as   *storage.Principal
	}{
		{"anyone", &storage.Principal{Name: "ann"}},
		{"scripters", &storage.Principal{Name: "sam", Groups: []string{"scripters"}}},
		{"administrators", &storage.Principal{Name: "Administrator", Admin: true}},
	}
	var got bytes.Buffer
	for _, name := range set.Names() {
		fmt.Fprint(&got, name, ":")
		var earlier engine.EntryPoint
		for _, c := range callers {
			var entryPoints []string
			for entryPoint := engine.REST; entryPoint <= engine.Server; entryPoint <<= 1 {
				if earlier&entryPoint == 0 && set.Allowed(name, c.as, entryPoint) {
					entryPoints, earlier = append(entryPoints, entryPoint.String()), earlier|entryPoint
				}
			}
			if len(entryPoints) > 0 {
				fmt.Fprintf(&got, " %s(%s)", c.name, strings.Join(entryPoints, " "))
			}
		}
		fmt.Fprintln(&got)
	}
	golden := filepath.Join("testdata", "callers.golden.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			t.Errorf("%s:%d: %s: is no longer there; if it should not be, make golden", golden, i+1, b[i])
		case i >= len(b) || a[i] != b[i]:
			t.Fatalf("%s:%d: got %s; if that is intended, make golden", golden, i+1, a[i])
		}
	}
}
