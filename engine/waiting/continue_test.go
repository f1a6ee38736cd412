package waiting_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/waiting"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/outbox"
)

// recipient is a service that a chain calls once it goes on. It is out of order at first.
type recipient struct {
	mu       sync.Mutex
	asked    int
	got      int
	entered  chan struct{} // receives when it is asked while it works
	released chan struct{}
}

// add adds the operation that calls the service, as one with an effect outside has to: once for a transaction, which on PostgreSQL
// begins again because of others that only write nearby, such as those of other jobs.
func (r *recipient) add(w *world) {
	w.must(w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Test.Send", Doc: "Sends.", Effect: engine.Pure, Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
			_, err := c.Once("send", func() (any, int, error) { return nil, 0, r.take() })
			return engine.Void{}, err
		})}})
	}))
}

func (r *recipient) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked++; r.asked == 1 {
		return fault.Unavailable.Errorf("the service is down")
	}
	if r.entered != nil {
		r.entered <- struct{}{}
		<-r.released
	}
	r.got++
	time.Sleep(20 * time.Millisecond) // long enough that another job would meet it
	return nil
}

// waitsToSend starts a chain that goes on after an hour and has failed once to send.
func waitsToSend(t *testing.T, r *recipient) (*world, map[string]any) {
	t.Helper()
	w := newWorld(t)
	r.add(w)
	w.save("name: T.Send\ninput: document\nsteps:\n  - wait: 1h\n  - op: Test.Send\n" + add("sent"))
	v, err := w.run("bob", "T.Send", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(time.Hour)
	run := v.(map[string]any)
	if list := w.waiting("bob"); len(list) != 1 || list[0]["state"] != "failed" {
		t.Fatalf("waiting: %v", list)
	}
	return w, map[string]any{"id": run["run"]}
}

// TestContinueOnce has a run that failed go on while it is about to be tried again by itself, and twice because somebody is
// impatient: what it does outside of the server is done once.
func TestContinueOnce(t *testing.T) {
	r := &recipient{}
	w, run := waitsToSend(t, r)
	for range 2 {
		_, err := w.run("bob", "Run.Continue", nil, run)
		w.must(err)
	}
	w.pass(time.Hour)
	if left := w.waiting("bob"); r.got != 1 || w.title() != "asent" || len(left) != 0 {
		t.Errorf("sent %d times, title %q, waiting %v", r.got, w.title(), left)
	}
}

// TestContinueRunning does not have a run go on that goes on already.
func TestContinueRunning(t *testing.T) {
	r := &recipient{entered: make(chan struct{}, 9), released: make(chan struct{})}
	w, run := waitsToSend(t, r)
	w.clock.Add(time.Hour.Milliseconds())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, w.repo, w.runs.Jobs(w.repo)) }()
	select {
	case <-r.entered:
	case <-ctx.Done():
		t.Fatal("it is not tried again")
	}
	_, err := w.run("bob", "Run.Continue", nil, run)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a run that goes on: %v", err)
	}
	close(r.released)
	for ctx.Err() == nil && w.due() {
		time.Sleep(2 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if r.got != 1 || w.title() != "asent" {
		t.Errorf("sent %d times, title %q", r.got, w.title())
	}
	if _, err := w.run("bob", "Run.Continue", nil, run); !fault.Is(err, fault.NotFound) {
		t.Errorf("a run that has ended: %v", err)
	}
}

// TestListOfEvents: the list of what is waited for is a row of the store before anything waits, for all who write read it.
func TestListOfEvents(t *testing.T) {
	w := newWorld(t)
	w.must(w.runs.Refresh(t.Context(), w.engine))
	w.must(w.engine.Repo().View(t.Context(), w.engine.System(), func(tx *storage.Tx) error {
		known, err := storage.Awaited(tx, engine.TaskEnded)
		if !known {
			t.Error("there is no list")
		}
		return err
	}))
}

// TestEventElsewhere: the first wait for an event begins on one server, and the event happens on another one that has not heard of
// it.
func TestEventElsewhere(t *testing.T) {
	w := newWorld(t)
	other := &world{t: t, repo: w.second(), runs: waiting.New()}
	other.clock.Store(w.clock.Load())
	other.start()
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: {event: documentLocked}\n" + add("@{Waited}"))
	_, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	_, err = other.run("Administrator", "Document.Lock", storage.Ref("/a"), nil)
	w.must(err)
	_, err = other.run("Administrator", "Document.Unlock", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "aevent" {
		t.Errorf("after the event: %q", got)
	}
}

// TestEventOfBefore: chains that wait in a store of a version that kept no list of events are woken as well.
func TestEventOfBefore(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: {event: documentLocked}\n" + add("@{Waited}"))
	_, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error { return tx.Delete([]byte("mawaited")) }))
	w.must(w.runs.Refresh(t.Context(), w.engine))
	_, err = w.run("Administrator", "Document.Lock", storage.Ref("/a"), nil)
	w.must(err)
	_, err = w.run("Administrator", "Document.Unlock", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "aevent" {
		t.Errorf("after the event: %q", got)
	}
}
