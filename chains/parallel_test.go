package chains_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
)

// TestParallel: branches go on while another one waits for something outside, and one that fails ends the others.
func TestParallel(t *testing.T) {
	w := newWorld(t)
	var meet sync.WaitGroup
	meet.Add(2)
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	type params struct {
		How string `json:"how" doc:"What happens."`
	}
	must(t, w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{
			Name: "Test.Call", Doc: "Waits outside.", Effect: engine.Pure,
			Run: engine.On(func(p params, c *engine.Ctx, _ engine.Void) (string, error) {
				return p.How, c.Outside(func() error {
					switch p.How {
					case "fail":
						<-began // else the other one might not begin at all
						return errors.New("the service says no")
					case "wait":
						began <- struct{}{}
						select {
						case <-c.Done():
							ended <- struct{}{}
							return c.Err()
						case <-time.After(time.Minute):
							return nil
						}
					case "panic":
						<-began
						panic("bug")
					}
					meet.Done()
					met := make(chan struct{})
					go func() { meet.Wait(); close(met) }()
					select {
					case <-met:
						return nil
					case <-time.After(10 * time.Second):
						return errors.New("the other branch does not go on")
					}
				})
			}),
		}})
	}))
	branches := func(name, one, two string) {
		w.save("name: " + name + "\ninput: document\nsteps:\n  - parallel:\n      one:\n        - op: Test.Call\n          params: {how: " + one + "}\n      two:\n        - op: Test.Call\n          params: {how: " + two + "}\n        - op: Repository.GetDocument\n          params: {value: /}\n")
	}
	branches("T.Meet", "meet", "meet")
	v, err := w.run("T.Meet", storage.Ref("/"), nil)
	must(t, err)
	m := v.(map[string]any)
	if d, ok := m["two"].(*storage.Doc); m["one"] != "meet" || !ok || d.Path() != "/" {
		t.Errorf("result %v", m)
	}
	branches("T.Fail", "wait", "fail")
	if _, err = w.run("T.Fail", storage.Ref("/"), nil); err == nil || !strings.Contains(err.Error(), "two: ") || !strings.Contains(err.Error(), "the service says no") {
		t.Errorf("got %v", err)
	}
	<-ended
	branches("T.Panic", "wait", "panic")
	if _, err = w.run("T.Panic", storage.Ref("/"), nil); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v", err)
	}
}
