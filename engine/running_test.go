package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// TestWork has what the server does by itself seen under its name, and ended.
func TestWork(t *testing.T) {
	repo := storagetest.Open(t, nil)
	set, err := NewSet(nil)
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Repo: repo, Set: set})
	bob, admin := &Principal{Name: "bob", ID: 7}, &Principal{Name: "root", ID: 1, Admin: true}
	began, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- e.Work(t.Context(), Call{Op: "listener x", As: bob, EntryPoint: Listener}, Writes, func(tx *storage.Tx) error {
			close(began)
			<-tx.Context().Done()
			return nil
		})
	}()
	<-began
	if list := e.Running(&Principal{Name: "bob", ID: 8}); len(list) != 0 {
		t.Errorf("another bob sees %v", list)
	}
	list := e.Running(bob)
	if len(list) != 1 || fmt.Sprint(list[0].Op, list[0].User, list[0].EntryPoint) != "listener xboblistener" {
		t.Fatalf("runs %v", list)
	}
	for _, id := range []string{"", "x", list[0].ID + "0", strings.ToUpper(list[0].ID) + "A", list[0].ID[:len(list[0].ID)-1]} {
		if err := e.EndRun(admin, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := e.EndRun(admin, list[0].ID); err != nil {
		t.Error(err)
	}
	if err := <-ended; fault.CodeOf(err) != fault.CodeRunEnded || !strings.Contains(err.Error(), "by root") {
		t.Errorf("ended by %v", err)
	}
}

// TestManyRuns has calls begin and end beside each other, while others are listed and ended.
func TestManyRuns(t *testing.T) {
	set, err := NewSet([]Op{
		{Name: "Test.Wait", Doc: "Waits.", Effect: Pure, Callers: Anyone, Run: On(func(_ struct{}, c *Ctx, _ Void) (Void, error) {
			<-c.Done()
			return Void{}, c.Err()
		})},
		{Name: "Test.Pass", Doc: "Passes.", Effect: Pure, Callers: Anyone, Run: On(func(_ struct{}, _ *Ctx, _ Void) (Void, error) { return Void{}, nil })},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Set: set})
	bob := &Principal{Name: "bob", ID: 7}
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			for range 50 {
				if _, err := e.Run(context.Background(), Call{Op: "Test.Pass", As: bob}); err != nil {
					t.Error(err)
				}
			}
			if _, err := e.Run(context.Background(), Call{Op: "Test.Wait", As: bob, RequestID: fmt.Sprint(i)}); fault.CodeOf(err) != fault.CodeRunEnded {
				t.Error(err)
			}
		})
	}
	for n := 0; n < 8; {
		last := ""
		for _, l := range e.Running(bob) {
			if l.ID <= last {
				t.Errorf("%s after %s", l.ID, last)
			}
			last = l.ID
			if l.Op == "Test.Wait" && e.EndRun(bob, l.ID) == nil {
				n++
				for _, err := e.RunningCall(bob, l.ID); err == nil; _, err = e.RunningCall(bob, l.ID) { //nolint:revive // until it is gone
				}
			}
		}
	}
	calls.Wait()
	if list := e.Running(bob); len(list) != 0 {
		t.Errorf("still running: %v", list)
	}
}

// TestFailuresDoNotQueue: while the store keeps one failed run, callers of others wait for a while, all for the same one, and those whose
// call failed because the store could not be reached wait for nothing. The recorder keeps their runs later.
func TestFailuresDoNotQueue(t *testing.T) {
	t.Setenv("TEST_STORE", "memory") // connections to a database are not of the bubble, and the call does not get that far
	synctest.Test(t, func(t *testing.T) {
		e := testEngine(t, Op{Name: "Test.Refuse", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(func(_ struct{}, _ *Ctx, in string) (string, error) {
			if in == "down" {
				return "", fault.Unavailable.Errorf("the store cannot be reached")
			}
			return "", fault.Limit.Errorf("too much")
		})})
		e.failures.turn <- struct{}{} // somebody writes, and gets no answer
		var all sync.WaitGroup
		for in, most := range map[string]time.Duration{"down": 0, "a": keepTime, "b": keepTime, "c": keepTime} {
			all.Go(func() {
				began := time.Now()
				_, err := e.Run(t.Context(), Call{Op: "Test.Refuse", Input: in, As: &Principal{Name: "bob", ID: 7}, Asked: &Asked{}})
				if took := time.Since(began); err == nil || took != most {
					t.Errorf("%s: %v after %s, want %s", in, err, took, most)
				}
			})
		}
		all.Wait()
		<-e.failures.turn
		e.recorder.mu.Lock()
		waiting := len(e.recorder.queue)
		e.recorder.mu.Unlock()
		if waiting != 4 {
			t.Errorf("%d failed runs wait for the recorder", waiting)
		}
	})
}
