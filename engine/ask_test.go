package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"catena/storage"
)

// TestAsk has work begun by calls that only read: by anyone who may read, not by a dry run nor by
// a call that fails, and not within the call.
func TestAsk(t *testing.T) {
	e := testEngine(t)
	const table = "asked"
	op := Op{Name: "Test.Ask", Doc: "d", Effect: Reads, Callers: Anyone, Run: On(func(_ none, c *Ctx, in string) (string, error) {
		c.Ask(func(tx *storage.Tx) error {
			p := tx.Principal()
			return tx.Table(table).Put(in, fmt.Sprintf("%s for %s", p.Name, p.Actor))
		})
		if c.Tx.Writable() {
			return "", errors.New("may write")
		}
		if in == "fails" {
			return "", errors.New("as asked")
		}
		return in, nil
	})}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{op}) }); err != nil {
		t.Fatal(err)
	}
	for _, call := range []Call{{Input: "reads"}, {Input: "dry", DryRun: true}, {Input: "fails"}} {
		call.Op, call.As = "Test.Ask", &Principal{Name: "ann", ReadOnly: true}
		if res, err := e.Run(context.Background(), call); (err != nil) != (call.Input == "fails") {
			t.Errorf("%v: %v, %v", call.Input, res, err)
		}
	}
	var got []string
	if err := e.Repo().View(context.Background(), e.Repo().System(), func(tx *storage.Tx) error {
		for name, raw := range tx.Table(table).Scan("", "z", false, 0) {
			got = append(got, name+" "+string(raw))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`[reads "%s for ann"]`, e.Repo().System().Name); fmt.Sprint(got) != want {
		t.Errorf("asked: %s, want %s", got, want)
	}
}
