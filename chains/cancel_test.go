package chains_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// TestCancelSteps cancels a call while it is within a step of each kind: it ends within a second, and nothing of it is kept.
func TestCancelSteps(t *testing.T) {
	w := newWorld(t, engine.Limits{Ops: 100_000_000})
	type params struct {
		How string `json:"how" doc:"What happens."`
	}
	must(t, w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{
			Name: "Test.Stay", Doc: "Waits, or fails for a reason that may pass.", Effect: engine.Pure, Callers: engine.Anyone,
			Run: engine.On(func(p params, c *engine.Ctx, _ any) (any, error) {
				if p.How == "busy" {
					return nil, fault.Unavailable.Errorf("busy")
				}
				return nil, c.Outside(func() error {
					select {
					case <-c.Done():
						return c.Err()
					case <-time.After(time.Minute):
						return errors.New("nobody has ended it")
					}
				})
			}),
		}})
	}))
	const stay = "{op: Test.Stay, params: {how: stay}}"
	many := "{each: \"1..100000\", most: 100000, steps: [{each: \"1..1000\", steps: [{op: Data.Value, params: {value: \"@{item}\"}}]}]}"
	w.save("name: C.Inner\nsteps:\n  - " + stay + "\n")
	for name, step := range map[string]string{
		"each":                "{each: \"1..100\", steps: [" + stay + "]}",
		"each of many":        many,
		"each of empty steps": "{each: \"1..100000\", most: 100000, steps: [{each: \"1..1000\", steps: []}]}",
		"if":                  "{if: \"true\", then: [" + stay + "]}",
		"if of many":          "{if: \"true\", then: [" + many + "]}",
		"switch":              "{switch: \"1\", cases: {\"1\": [" + stay + "]}}",
		"parallel":            "{parallel: {a: [" + stay + "], b: [" + stay + "]}}",
		"parallel of many":    "{parallel: {a: [" + many + "], b: [" + stay + "]}}",
		"retry":               "{op: Test.Stay, params: {how: busy}, retry: {times: 10, pause: 10s}}",
		"a chain":             "{op: C.Inner}",
		"onError":             "{op: Test.Stay, params: {how: stay}, onError: {continue: true}}",
		"an expression":       "{return: \"expr:count(1..100000, all(1..1000, # >= 0))\"}",
		"a condition":         "{op: Log, params: {level: info, message: a}, when: \"count(1..100000, all(1..1000, # >= 0)) == 1\"}",
	} {
		t.Run(name, func(t *testing.T) {
			w.save("name: C.Chain\nsteps:\n  - op: Document.Create\n    params: {type: Folder, name: kept}\n  - " + step + "\n")
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			began := time.Now()
			_, err := w.engine.Run(ctx, engine.Call{Op: "C.Chain", Input: storage.Ref("/"), As: w.repo.System()})
			if took := time.Since(began); err == nil || took > 2*time.Second {
				t.Errorf("%v after %s", err, took)
			}
			if err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "cancel") {
				t.Errorf("failed otherwise: %v", err)
			}
			if _, err := w.run("Repository.GetDocument", nil, map[string]any{"value": "/kept"}); !fault.Is(err, fault.NotFound) {
				t.Errorf("kept: %v", err)
			}
		})
	}
}
