package engine

import (
	"context"
	"fmt"
	"testing"

	"catena/storage/fault"
)

// TestCarry carries out calls within one: variables, logins and parameters of each are its own, and a key that may
// only read carries out no call that writes.
func TestCarry(t *testing.T) {
	set, err := NewSet([]Op{
		{Name: "Test.Say", Doc: "Says.", Effect: Pure, Callers: Anyone, Run: On(carryParams.say)},
		{Name: "Test.Write", Doc: "Writes.", Callers: Anyone, Run: On(carryParams.say)},
		{Name: "Test.End", Doc: "Ends the call.", Effect: Pure, Callers: Anyone, Run: On(carryParams.end)},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Set: set})
	var said []string
	encode := func(_ *Ctx, v any) ([]byte, error) { return fmt.Append(nil, v), nil }
	all := func(c *Ctx) (any, error) {
		for _, call := range []Call{
			{Op: "Test.Say", Params: map[string]any{"text": "a"}, Vars: map[string]any{"who": "x"}, Encode: encode},
			{Op: "Test.Say", RawParams: []byte(`{"text":"b"}`), Encode: encode},
			{Op: "Test.End", Encode: encode},
			{Op: "Test.End", RawParams: []byte(`{"text":"undo"}`)},
			{Op: "Test.Say", DryRun: true},
			{Op: "Test.Nope"},
			{Op: "Test.Write"},
		} {
			res, err := c.Carry(&call)
			if err != nil {
				said = append(said, fault.Of(err).String())
				continue
			}
			said = append(said, string(res.Body))
		}
		return len(said), nil
	}
	res, err := e.RunFunc(context.Background(), Pure, all, Call{Op: "several", As: &Principal{Name: "bob", ReadOnly: true}, EntryPoint: REST})
	if err != nil || res.Value != 7 {
		t.Fatal(res, err)
	}
	if got, want := fmt.Sprint(said), "[a x bob b <nil> bob over conflict invalid notfound denied]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

type carryParams struct {
	Text string `json:"text,omitzero" doc:"What to say."`
}

func (p carryParams) say(c *Ctx, _ Void) (string, error) {
	out := fmt.Sprint(p.Text, " ", c.Vars["who"], " ", c.As.Name)
	c.SetVar("who", "left behind")
	c.Login(&Principal{Name: "carol"})
	return out, nil
}

func (p carryParams) end(c *Ctx, _ Void) (string, error) {
	return "", c.Exit("over", p.Text == "undo")
}
