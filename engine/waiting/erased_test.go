package waiting_test

import (
	"testing"

	"catena/engine"
	"catena/storage"
)

// TestErased: with a document, all chains end that wait for its events, even if the row of one is gone already. They have failed, and
// say why.
func TestErased(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: {event: documentLocked, for: 2h}\n")
	var ids []string
	for range 3 {
		v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
		w.must(err)
		ids = append(ids, v.(map[string]any)["run"].(string))
	}
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		return tx.Table("waiting").Delete("bob/" + min(ids[0], ids[1], ids[2])) // the first that is found
	}))
	_, err := w.run("Administrator", "Document.Delete", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(0)
	if list := w.waiting("Administrator"); len(list) != 0 {
		t.Errorf("the document is gone: %v", list)
	}
	for _, id := range ids {
		if id == min(ids[0], ids[1], ids[2]) {
			continue
		}
		v, err := w.run("bob", "Run.Get", nil, map[string]any{"id": id})
		w.must(err)
		got := v.(engine.ShownRun)
		if want := "wait at line 4: the document whose event documentLocked the chain waited for was deleted by Administrator"; got.State != engine.RunFailed || got.Error != want || got.Code != "notfound" || got.StoppedBy != "" {
			t.Errorf("%s: %s %s %q, stopped by %q", id, got.State, got.Code, got.Error, got.StoppedBy)
		}
	}
}
