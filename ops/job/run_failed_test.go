package job

import (
	"context"
	"errors"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage/outbox"
)

// TestRunFailed gives jobs up and has some of them tried again.
func TestRunFailed(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		return errors.Join(outbox.Enqueue(c.Tx, outbox.Job{Kind: "one"}), outbox.Enqueue(c.Tx, outbox.Job{Kind: "two"}), outbox.Enqueue(c.Tx, outbox.Job{Kind: "one"}))
	})
	run := func(fail bool, each func(kind string)) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		settled, end := outbox.Watch(w.Repo)
		defer end()
		do := func(_ context.Context, j outbox.Job) error {
			each(j.Kind)
			if fail {
				return &outbox.GaveUp{Err: errors.New("no use")}
			}
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			ended <- outbox.Run(ctx, w.Repo, outbox.Handlers{"one": {Do: do}, "two": {Do: do}})
		}()
		for left := 1; left > 0; {
			w.Do("Administrator", func(c *engine.Ctx) error {
				waiting, err := outbox.Jobs(c.Tx, outbox.Waits, "", 0)
				running, bad := outbox.Jobs(c.Tx, outbox.Runs, "", 0)
				left = len(waiting) + len(running)
				return errors.Join(err, bad)
			})
			if left > 0 {
				<-settled
			}
		}
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	run(true, func(string) {})
	again := func(p runFailedParams, want string) {
		t.Helper()
		w.Do("Administrator", func(c *engine.Ctx) error {
			b, err := p.run(c, engine.Void{})
			if err != nil {
				return err
			}
			if got, err := b.Bytes(0); string(got) != want || err != nil {
				t.Errorf("%+v: %s, %v", p, got, err)
			}
			return nil
		})
	}
	again(runFailedParams{DryRun: true}, `{"total":3,"success":3,"filtered":0}`)
	again(runFailedParams{Kinds: []string{"one"}}, `{"total":2,"success":2,"filtered":1}`)
	again(runFailedParams{Kinds: []string{"one"}}, `{"total":0,"success":0,"filtered":1}`)
	tried := make(chan string, 3)
	run(false, func(kind string) { tried <- kind })
	if first, second := <-tried, <-tried; first != "one" || second != "one" || len(tried) > 0 {
		t.Errorf("tried again: %s, %s and %d more", first, second, len(tried))
	}
	again(runFailedParams{DryRun: true}, `{"total":1,"success":1,"filtered":0}`)
	if err := w.Try("bob", func(c *engine.Ctx) error { _, err := runFailedParams{}.run(c, engine.Void{}); return err }); err == nil {
		t.Error("anybody has jobs tried again")
	}
}
