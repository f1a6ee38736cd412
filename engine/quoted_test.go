package engine

import (
	"context"
	"fmt"
	"testing"

	"catena/engine/quoted"
)

// TestQuoted: a text is JSON in the result of the operation that was called, by a call that takes such texts; in
// everything else, which may read the result, it is the text.
func TestQuoted(t *testing.T) {
	read := 0
	long := func(c *Ctx, _ Void) (any, error) {
		text, ok, err := c.Quoted(quoted.Key{Kind: "test", Digest: "1"}, func() (string, error) {
			read++
			return "a \"text\"", nil
		})
		if ok || err != nil {
			return text, err
		}
		return "a \"text\"", nil
	}
	e := testEngine(t,
		Op{Name: "Test.Long", Doc: "Returns a text.", Callers: Anyone, Run: On(func(_ none, c *Ctx, in Void) (any, error) { return long(c, in) })},
		Op{Name: "Test.Outer", Doc: "Calls it.", Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (any, error) {
			return c.Call("Test.Long", nil, nil)
		})},
	)
	for _, test := range []struct {
		op     string
		quotes bool
		want   string
		read   int
	}{
		{"Test.Long", false, `string a "text"`, 0},
		{"Test.Long", true, `quoted.Text "a \"text\""`, 1},
		{"Test.Long", true, `quoted.Text "a \"text\""`, 1}, // kept
		{"Test.Outer", true, `string a "text"`, 1},
		{"Test.Outer", false, `string a "text"`, 1},
	} {
		res, err := e.Run(context.Background(), Call{Op: test.op, As: e.System(), Quotes: test.quotes})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%T %s", res.Value, res.Value); got != test.want || read != test.read {
			t.Errorf("%s, quotes %v: got %s after %d reads, want %s after %d", test.op, test.quotes, got, read, test.want, test.read)
		}
	}
	if _, ok, err := new(Ctx).Quoted(quoted.Key{}, nil); ok || err != nil {
		t.Errorf("outside of a call: %v, %v", ok, err)
	}
}
