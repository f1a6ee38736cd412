package waiting_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// shown is Run.Get.
func (w *world) shown(user string, id any) engine.ShownRun {
	w.t.Helper()
	v, err := w.run(user, "Run.Get", nil, map[string]any{"id": id})
	w.must(err)
	return v.(engine.ShownRun)
}

// TestParts: a chain that waits has the id of the run that began it, and the runs with which it goes on are found from there; they
// are of the user who began it.
func TestParts(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n" + add("1") + "  - wait: 1h\n" + add("2") + "  - wait: 1h\n" + add("3"))
	v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	id := v.(map[string]any)["run"]
	r := w.shown("bob", id)
	if r.State != engine.RunWaits || r.For != "time" || r.ShownDetails == nil || len(r.Trace) == 0 || len(r.Parts) != 0 {
		t.Errorf("while it waits: %+v", r)
	}
	for n, title := range []string{"a12", "a123"} {
		w.pass(time.Hour)
		if w.title() != title {
			t.Fatalf("title %q", w.title())
		}
		r = w.shown("bob", id)
		if len(r.Parts) != n+1 {
			t.Fatalf("parts: %+v", r.Parts)
		}
		part := w.shown("bob", r.Parts[n].ID)
		if part.User != "bob" || part.Op != "T.Wait" || part.Version != 1 || part.Began != id || part.State != engine.RunDone || len(part.Trace) == 0 {
			t.Errorf("part %d: %+v", n, part)
		}
	}
	if r.State != engine.RunDone {
		t.Errorf("at the end: %+v", r)
	}
	v, err = w.run("bob", "Run.List", nil, map[string]any{"operation": "T.Wait"})
	w.must(err)
	if got := w.listed(v); got != "done done done " {
		t.Errorf("listed: %s", got)
	}
}

// listed are the states of a list of runs.
func (w *world) listed(list any) (out string) {
	w.t.Helper()
	raw, err := json.Marshal(list)
	w.must(err)
	var page struct{ Entries []engine.ShownRun }
	w.must(json.Unmarshal(raw, &page))
	for _, e := range page.Entries {
		out += e.State + " "
	}
	return out
}

// TestContinueLatest has a run that failed go on in a version in which that is mended.
func TestContinueLatest(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n  - op: Document.GetChild\n    params: {name: missing}\n" + add("1"))
	v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	id := v.(map[string]any)["run"]
	w.pass(time.Hour)
	if r := w.shown("bob", id); r.State != engine.RunWaits || r.Error == "" || len(r.Parts) != 1 || r.Parts[0].State != engine.RunFailed || r.Parts[0].User != "bob" {
		t.Fatalf("after it failed: %+v", r)
	}
	goOn := func(version string) {
		t.Helper()
		_, err := w.run("bob", "Run.Continue", nil, map[string]any{"id": id, "version": version})
		w.must(err)
		w.pass(0)
	}
	w.save("name: T.Wait\ninput: document\nsteps:\n" + add("no") + "  - wait: 1h\n" + add("2"))
	goOn("latest")
	if list := w.waiting("bob"); len(list) != 1 || list[0]["failure"] != "chain T.Wait: has changed, its step 1 does not wait as it did when the run began; continue the run in its own version, or stop it" {
		t.Fatalf("in a version that waits elsewhere: %v", list)
	}
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n" + add("3"))
	goOn("same")
	if list := w.waiting("bob"); len(list) != 1 || w.title() != "a" {
		t.Fatalf("in its own version: %v", list)
	}
	goOn("latest")
	if list := w.waiting("bob"); len(list) != 0 || w.title() != "a3" {
		t.Errorf("in the latest version: title %q, %v", w.title(), list)
	}
	r := w.shown("bob", id)
	if last := r.Parts[len(r.Parts)-1]; last.State != engine.RunDone || last.Version != 3 {
		t.Errorf("the last part: %+v", last)
	}
	if _, err := w.run("bob", "Run.Continue", nil, map[string]any{"id": id, "version": "newest"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown version: %v", err)
	}
}

// TestSeveralWait: a call that begins several chains that wait gives each an id of its own, by which its run is found.
func TestSeveralWait(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n" + add("1"))
	w.save("name: T.Both\ninput: document\nsteps:\n  - op: RunOperation\n    params: {id: T.Wait}\n  - op: Repository.GetDocument\n    params: {value: /a}\n  - op: RunOperation\n    params: {id: T.Wait}\n")
	_, err := w.run("bob", "T.Both", storage.Ref("/a"), nil)
	w.must(err)
	list := w.waiting("bob")
	if len(list) != 2 || list[0]["run"] == list[1]["run"] {
		t.Fatalf("waiting: %v", list)
	}
	if r := w.shown("bob", list[0]["run"]); r.Op != "T.Wait" || r.State != engine.RunWaits {
		t.Errorf("while it waits: %+v", r)
	}
	w.pass(time.Hour)
	if r := w.shown("bob", list[0]["run"]); r.Op != "T.Both" || len(r.Parts) != 2 || w.title() != "a11" {
		t.Errorf("at the end: title %q, %+v", w.title(), r)
	}
}

// TestStopped: a chain that somebody stopped while it waited is listed as stopped, not as done, whether or not the run that began it was
// written before, with what was asked and what went before.
func TestStopped(t *testing.T) {
	for _, written := range []bool{false, true} {
		w := newWorld(t)
		w.save("name: T.Wait\ninput: document\nsteps:\n" + add("1") + "  - wait: 1h\n" + add("2") + "  - wait: 1h\n")
		v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
		w.must(err)
		id := v.(map[string]any)["run"]
		w.pass(time.Hour)
		if written {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			w.must(w.engine.RecordRuns(ctx, nil))
		}
		_, err = w.run("Administrator", "Run.Stop", nil, map[string]any{"id": id})
		w.must(err)
		r := w.shown("bob", id)
		if r.State != engine.RunStopped || r.StoppedBy != "Administrator" || r.StoppedAt.IsZero() || r.User != "bob" || r.Version != 1 || string(r.Input) == "" || len(r.Trace) == 0 || len(r.Parts) != 1 {
			t.Errorf("written %v: %+v", written, r)
		}
		for state, want := range map[string]string{"": "stopped done ", "done": "done ", "stopped": "stopped ", "failed": "", "waiting": ""} {
			params := map[string]any{"operation": "T.Wait"}
			if state != "" {
				params["state"] = state
			}
			v, err := w.run("bob", "Run.List", nil, params)
			w.must(err)
			got := w.listed(v)
			if state == "" {
				got = strings.Join(slices.Sorted(slices.Values(strings.SplitAfter(got, " "))), "")
				want = "done stopped "
			}
			if got != want {
				t.Errorf("written %v, state %q: %q, want %q", written, state, got, want)
			}
		}
	}
}

// TestStoppedOfSeveral stops one of two chains that a call has begun, which has no run of its own.
func TestStoppedOfSeveral(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n")
	w.save("name: T.Both\ninput: document\nsteps:\n  - op: RunOperation\n    params: {id: T.Wait}\n  - op: Repository.GetDocument\n    params: {value: /a}\n  - op: RunOperation\n    params: {id: T.Wait}\n")
	_, err := w.run("bob", "T.Both", storage.Ref("/a"), nil)
	w.must(err)
	id := w.waiting("bob")[1]["run"]
	_, err = w.run("bob", "Run.Stop", nil, map[string]any{"id": id})
	w.must(err)
	if r := w.shown("bob", id); r.Op != "T.Wait" || r.State != engine.RunStopped || r.StoppedBy != "bob" {
		t.Errorf("%+v", r)
	}
	v, err := w.run("bob", "Run.List", nil, map[string]any{"state": "stopped"})
	w.must(err)
	if got := w.listed(v); got != "stopped " {
		t.Error(got)
	}
}
