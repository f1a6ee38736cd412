package listener_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/engine"
	"catena/engine/library"
)

// TestEvents: a listener to an event that was misspelt is refused with the name that was meant, and one to an event that nothing fires
// is saved with a warning, which is gone once a deployed text fires it.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	const text = "name: T.Events\nevents:\n  - documentCreated\n  - %s\nrun: Document.Lock\n"
	check := func(event string) []library.Problem {
		t.Helper()
		as, err := w.engine.PrincipalOf(t.Context(), "Administrator")
		w.must(err)
		res, err := w.engine.Run(t.Context(), engine.Call{Op: "Listener.Check", Params: map[string]any{"source": fmt.Sprintf(text, event), "name": "l.yaml"}, As: as})
		w.must(err)
		return res.Value.([]library.Problem)
	}
	err := w.run("Administrator", "Listener.Save", nil, map[string]any{"source": fmt.Sprintf(text, "documentModifed"), "name": "l.yaml"})
	if err == nil || !strings.Contains(err.Error(), `l.yaml:4:5: events: unknown event "documentModifed", perhaps documentModified`) {
		t.Errorf("a misspelt event: %v", err)
	}
	if found := check("documentModifed"); len(found) != 1 || found[0].Warning {
		t.Errorf("a misspelt event: %+v", found)
	}
	if found := check("documentModified"); len(found) != 0 {
		t.Errorf("an event of the server: %+v", found)
	}
	found := check("invoicePaid")
	if len(found) != 1 || !found[0].Warning || found[0].Error() != `l.yaml:4:5: warning: events: neither the server nor a deployed text fires the event "invoicePaid"; calls of Event.Fire may` {
		t.Errorf("an event of nobody: %+v", found)
	}
	w.save(fmt.Sprintf(text, "invoicePaid"))
	if found := check("invoicePaid"); len(found) != 1 { // that it listens itself is no event
		t.Errorf("after it was saved: %+v", found)
	}
	w.save("name: T.Pays\nevents: [documentLocked]\nrun: Event.Fire\nparams: {name: invoicePaid}\n")
	if found := check("invoicePaid"); len(found) != 0 {
		t.Errorf("an event of another listener: %+v", found)
	}
	w.save("name: T.Imports\nevents: [documentLocked]\nrun: Event.Fire\nparams: {name: document.Created}\n")
	if found := check("document.Created"); len(found) != 0 {
		t.Errorf("an event of another listener that is called nearly as one of the server: %+v", found)
	}
	if found := check("invoicePai"); len(found) != 1 || !found[0].Warning {
		t.Errorf("a part of its name: %+v", found)
	}
}
