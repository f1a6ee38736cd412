package waiting_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/outbox"
)

// outside is a service that keeps what it is told, as no transaction undoes it.
type outside struct {
	mu   sync.Mutex
	kept []string
	fail bool // the next removal fails
}

type nameParams struct {
	Name string `json:"name" doc:"Name."`
}

func (o *outside) add(w *world) {
	w.must(w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{
			{Name: "Test.Reserve", Doc: "Reserves.", Effect: engine.Pure, Run: engine.On(func(p nameParams, _ *engine.Ctx, _ engine.Void) (string, error) {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.kept = append(o.kept, p.Name)
				return "no. " + p.Name, nil
			})},
			{Name: "Test.Release", Doc: "Releases.", Effect: engine.Pure, Run: engine.On(func(p nameParams, _ *engine.Ctx, _ engine.Void) (engine.Void, error) {
				o.mu.Lock()
				defer o.mu.Unlock()
				if o.fail {
					o.fail = false
					return engine.Void{}, errors.New("the service is down")
				}
				n := len(o.kept) - 1 // the last that was reserved is released first
				if n < 0 || "no. "+o.kept[n] != p.Name {
					return engine.Void{}, errors.New("not the last: " + p.Name)
				}
				o.kept = o.kept[:n]
				return engine.Void{}, nil
			})},
		})
	}))
}

func reserve(name string) string {
	return "  - op: Test.Reserve\n    params: {name: " + name + "}\n    undo: {op: Test.Release, params: {name: \"@{This}\"}}\n"
}

func TestUndo(t *testing.T) {
	w := newWorld(t)
	o := &outside{}
	o.add(w)
	failing := "  - op: Repository.GetDocument\n    params: {value: /missing}\n"
	w.save("name: T.Good\nsteps:\n" + reserve("a") + reserve("b"))
	w.save("name: T.Bad\nsteps:\n" + reserve("c") + reserve("d") + failing)
	w.save("name: T.Inner\nsteps:\n" + reserve("f") + failing)
	w.save("name: T.Partly\nsteps:\n" + reserve("e") + "  - op: T.Inner\n    onError: {continue: true}\n")
	for _, c := range []struct {
		chain string
		fails bool
		want  []string
	}{{"T.Good", false, []string{"a", "b"}}, {"T.Bad", true, []string{"a", "b"}}, {"T.Partly", false, []string{"a", "b", "e"}}} {
		_, err := w.run("bob", c.chain, nil, nil)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.chain, err)
		}
		w.pass(0)
		if !slices.Equal(o.kept, c.want) {
			t.Errorf("%s: kept %v, want %v", c.chain, o.kept, c.want)
		}
	}
	o.fail = true
	if _, err := w.run("bob", "T.Bad", nil, nil); err == nil {
		t.Error("T.Bad went well")
	}
	w.pass(0)
	w.pass(time.Hour)
	if want := []string{"a", "b", "e"}; !slices.Equal(o.kept, want) {
		t.Errorf("a service that was down: kept %v, want %v", o.kept, want)
	}
	w.must(w.repo.View(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		for key := range tx.Table("undo").Scan("", "", false, 0) {
			t.Errorf("left: %s", key)
		}
		return nil
	}))
}

// TestUndoOnce: a service was down when a call failed, and is there again as the time of the call ends, so that two jobs are due. It is
// asked once to undo a step.
func TestUndoOnce(t *testing.T) {
	w := newWorld(t)
	r := &recipient{}
	r.add(w)
	w.save("name: T.Bad\nsteps:\n  - op: Log\n    params: {level: info, message: m}\n    undo: {op: Test.Send}\n  - op: Repository.GetDocument\n    params: {value: /missing}\n")
	if _, err := w.run("bob", "T.Bad", nil, nil); err == nil {
		t.Error("T.Bad went well")
	}
	for _, d := range []time.Duration{0, time.Hour} {
		w.pass(d)
	}
	if r.asked != 2 || r.got != 1 {
		t.Errorf("asked %d times, undone %d times", r.asked, r.got)
	}
}

// TestUndoOnPostgres: on PostgreSQL, the transaction of a call does not see what was kept after it began, and holds up all others once it
// has lost often. What undoes its steps is kept nevertheless, and forgotten when the call ends well.
func TestUndoOnPostgres(t *testing.T) {
	t.Setenv("TEST_STORE", "postgres")
	w := newWorld(t)
	o := &outside{}
	o.add(w)
	attempts := 0
	w.must(w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Test.Lose", Doc: "Has others change the document during the first attempts.", Run: engine.On(func(_ struct{}, c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
			if attempts++; attempts > 6 {
				return d, nil
			}
			return d, w.repo.Update(c, w.repo.System(), func(tx *storage.Tx) error {
				other, err := tx.Doc(storage.Ref(d.Path()))
				if err != nil {
					return err
				}
				if err := other.Set("dc:title", fmt.Sprint("attempt ", attempts)); err != nil {
					return err
				}
				_, err = tx.Save(other, storage.SaveOptions{})
				return err
			})
		})}})
	}))
	w.save("name: T.Loser\ninput: document\nsteps:\n  - op: Test.Lose\n" + add("!") + reserve("a"))
	if _, err := w.run("bob", "T.Loser", storage.Ref("/a"), nil); err != nil || attempts != 7 {
		t.Fatalf("after %d attempts: %v", attempts, err)
	}
	for _, d := range []time.Duration{0, time.Hour} {
		w.pass(d)
		if want := []string{"a"}; !slices.Equal(o.kept, want) {
			t.Errorf("after %v: kept %v, want %v", d, o.kept, want)
		}
	}
	w.must(w.repo.View(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		for _, table := range []string{"undo", "undo.stay"} {
			for key := range tx.Table(table).Scan("", "", false, 0) {
				t.Errorf("left in %s: %s", table, key)
			}
		}
		return nil
	}))
}

// TestUndoAfterKill: a call of which the server knows nothing any longer is undone when it must have ended.
func TestUndoAfterKill(t *testing.T) {
	w := newWorld(t)
	o := &outside{}
	o.add(w)
	dies, over, ended := make(chan struct{}, 9), make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { // the database would be told of the end of a process
		close(over)
		<-ended
	})
	w.must(w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Test.Die", Doc: "Does not return.", Effect: engine.Pure, Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
			dies <- struct{}{}
			<-over // as if the process had ended here
			return engine.Void{}, errors.New("the test is over")
		})}})
	}))
	w.save("name: T.Kill\nsteps:\n" + reserve("a") + "  - op: Test.Die\n")
	as, err := w.engine.PrincipalOf(t.Context(), "bob")
	w.must(err)
	_, err = w.engine.Start(t.Context(), engine.Call{Op: "T.Kill", As: as, EntryPoint: engine.REST}, func(string) error { return nil }, func(*engine.Result, error) { close(ended) })
	w.must(err)
	<-dies
	w.pass(time.Minute)
	if len(o.kept) != 1 {
		t.Errorf("before the end of its time: %v", o.kept)
	}
	w.pass(time.Hour)
	if len(o.kept) != 0 {
		t.Errorf("kept %v", o.kept)
	}
}

// TestUndoOlder: servers of the version before, which know one kind of jobs alone, would undo what has a note that it stays; they get no
// job that may meet one. Theirs are done here as well.
func TestUndoOlder(t *testing.T) {
	const formerly = "chain.undo"
	w := newWorld(t)
	o := &outside{fail: true}
	o.add(w)
	w.save("name: T.Bad\nsteps:\n" + reserve("a") + "  - op: Repository.GetDocument\n    params: {value: /missing}\n")
	if _, err := w.run("bob", "T.Bad", nil, nil); err == nil {
		t.Error("T.Bad went well")
	}
	w.pass(0)
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", "", 0)
		if len(jobs) != 2 { // of the attempt's end, which has failed, and of the end of its time
			t.Errorf("jobs: %v", jobs)
		}
		for _, j := range jobs {
			if j.Kind == formerly {
				t.Errorf("an older server would do %s", j.Data)
			}
			if err := errors.Join(outbox.Delete(tx, j.ID), outbox.Enqueue(tx, outbox.Job{Kind: formerly, Due: j.Due, Data: j.Data})); err != nil {
				return err
			}
		}
		return err
	}))
	w.pass(time.Hour)
	if len(o.kept) != 0 {
		t.Errorf("kept %v", o.kept)
	}
}

// TestUndoRejected lists what cannot be undone, or by what not.
func TestUndoRejected(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, undo, want string }{
		{"unknown operation", "{op: Test.Nothing}", "step 1: Log: Test.Nothing: unknown operation"},
		{"unknown parameter", "{op: Log, params: {levl: x}}", `unknown parameter "levl", perhaps level`},
		{"unknown variable", "{op: Log, params: {level: info, message: \"@{nobody}\"}}", `unknown variable "nobody"`},
		{"no operation", "{params: {}}", "undo must have an op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.run("Administrator", "Chain.Save", nil, map[string]any{"source": "name: T.Undo\nsteps:\n  - op: Log\n    params: {level: info, message: m}\n    undo: " + c.undo + "\n"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}
