package chains_test

import (
	"strings"
	"testing"

	"catena/engine/library"
)

// TestEvents: a chain that waits for an event whose name is like one of the server's is refused, unless it fires the event itself or
// another deployed text does; one that waits for an event that nothing fires is saved with a warning.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	waits := func(name string) string {
		return "name: A.Waits\ninput: document\nsteps:\n  - op: Document.Lock\n  - wait: {event: \"" + name + "\", for: 1d}\n"
	}
	const fires = "name: A.Fires\ninput: document\nsteps:\n  - op: Event.Fire\n    params: {name: document.Created}\n"
	check := func(source string) []library.Problem {
		t.Helper()
		v, err := w.run("Chain.Check", nil, map[string]any{"source": source, "name": "c.yaml"})
		must(t, err)
		return v.([]library.Problem)
	}
	refused := func(source string) bool {
		t.Helper()
		_, err := w.run("Chain.Save", nil, map[string]any{"source": source, "name": "c.yaml"})
		if err != nil && !strings.Contains(err.Error(), `c.yaml:5:12: step 2: wait: unknown event "document.Created", perhaps documentCreated`) {
			t.Fatal(err)
		}
		return err != nil
	}
	if !refused(waits("document.Created")) {
		t.Error("a misspelt event is taken")
	}
	if refused(waits("document.Created") + "  - op: Event.Fire\n    params: {name: document.Created}\n") {
		t.Error("an event of the chain itself is refused")
	}
	if !refused(waits("document.Created")) {
		t.Error("a misspelt event is taken, because a chain that is deployed waits for it")
	}
	w.save(fires)
	if refused(waits("document.Created")) {
		t.Error("an event of another chain is refused")
	}
	_, err := w.run("Chain.Delete", nil, map[string]any{"name": "A.Fires"})
	must(t, err)
	if !refused(waits("document.Created") + "# changed\n") {
		t.Error("a misspelt event is taken, because a chain that was deleted fires it")
	}

	found := check(waits("invoicePaid"))
	if len(found) != 1 || found[0].Error() != `c.yaml:5:12: warning: step 2: wait: neither the server nor a deployed text fires the event "invoicePaid"; calls of Event.Fire may` || found[0].Step != 2 || found[0].Param != "wait/event" {
		t.Errorf("an event of nobody: %+v", found)
	}
	w.save(waits("invoicePaid"))
	if _, err := w.run("Chain.Run", nil, map[string]any{"source": "name: A.Short\nsteps:\n  - wait: {event: invoicePaid, for: 1d}\n"}); err == nil || !strings.Contains(err.Error(), "a chain that waits must be saved") {
		t.Errorf("a warning keeps a chain from running: %v", err)
	}
	for _, name := range []string{"documentModified", "@{CurrentDate.format('yyyy')}"} {
		if found := check(waits(name)); len(found) != 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	found = check("name: A.Waits\nsteps:\n  - op: Document.Lok\n  - wait: {event: documentModifed, for: 1d}\n")
	if len(found) != 2 {
		t.Errorf("with another mistake: %+v", found)
	}
}
