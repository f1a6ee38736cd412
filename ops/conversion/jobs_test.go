package conversion

import (
	"encoding/json"
	"testing"

	"catena/engine"
	"catena/engine/convert"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// job is what a conversion leaves in the store.
func job(t *testing.T, w *opstest.World, id string) (r row, found bool) {
	t.Helper()
	w.Do("Administrator", func(c *engine.Ctx) (err error) {
		found, err = c.Tx.Table(table).Get(id, &r)
		return err
	})
	return r, found
}

// begun schedules the conversion of a text.
func begun(t *testing.T, w *opstest.World, converter, content string) (id string) {
	t.Helper()
	w.Do("alice", func(c *engine.Ctx) error {
		id = c.NewID()
		b := engine.NewBlob("a.txt", "text/plain", []byte(content))
		if err := hold.Keep(c.Tx, id, b); err != nil {
			return err
		}
		return c.Tx.Table(table).Put(id, row{Owner: c.As.Identity(), Status: scheduled, Converter: converter, Source: *b})
	})
	return id
}

func TestJobs(t *testing.T) {
	tests := []struct{ name, converter, failure string }{
		{"converted", "office2html", ""},
		{"unknown converter", "none", `converter: no converter "none"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := opstest.New(t)
			id := begun(t, w, test.converter, "Hello")
			if err := carryOut(t.Context(), builtIn(w), id); err != nil {
				t.Fatal(err)
			}
			r, _ := job(t, w, id)
			if r.Status != completed || (r.Failure != "") != (test.failure != "") || (r.Result != nil) != (test.failure == "") {
				t.Errorf("record %+v", r)
			}
			if err := end(t.Context(), builtIn(w), id); err != nil {
				t.Fatal(err)
			}
			if r, found := job(t, w, id); found {
				t.Errorf("after the end: %+v", r)
			}
			// What comes late has nothing left to do.
			for name, late := range map[string]error{"carry out": carryOut(t.Context(), builtIn(w), id), "end": end(t.Context(), builtIn(w), id)} {
				if late != nil {
					t.Errorf("%s late: %v", name, late)
				}
			}
		})
	}
}

// TestJobComesTwice: a conversion that has a result keeps it, as the record is what releases it in the end.
func TestJobComesTwice(t *testing.T) {
	w := opstest.New(t)
	id := begun(t, w, "office2html", "Hello")
	if err := carryOut(t.Context(), builtIn(w), id); err != nil {
		t.Fatal(err)
	}
	// Converters need not write the same bytes twice.
	other := engine.NewBlob("old.html", "text/html", []byte("an earlier result"))
	w.Do("Administrator", func(c *engine.Ctx) error {
		var r row
		if _, err := c.Tx.Table(table).Get(id, &r); err != nil {
			return err
		}
		if err := hold.Release(c.Tx, id, r.Result.Digest); err != nil {
			return err
		}
		r.Result = other
		if err := hold.Keep(c.Tx, id, other); err != nil {
			return err
		}
		return c.Tx.Table(table).Put(id, r)
	})
	if err := carryOut(t.Context(), builtIn(w), id); err != nil {
		t.Fatal(err)
	}
	if r, _ := job(t, w, id); r.Result == nil || r.Result.Digest != other.Digest {
		t.Errorf("another result: %+v", r.Result)
	}
}

func TestJobData(t *testing.T) {
	w := opstest.New(t)
	for kind, h := range Jobs(w.Repo, convert.Tools{}) {
		for _, data := range []string{``, `7`, `{}`, `["a"]`, `null x`} {
			if err := h.Do(t.Context(), jobOf(kind, data)); !fault.Is(err, fault.Internal) {
				t.Errorf("%s %s: %v", kind, data, err)
			}
		}
		if err := h.Do(t.Context(), jobOf(kind, `"gone"`)); err != nil {
			t.Errorf("%s of nothing: %v", kind, err)
		}
	}
}

// TestRecord: the record is a format on disk.
func TestRecord(t *testing.T) {
	const stored = `{"owner":"u:1","doc":"d","status":"completed","converter":"office2html","source":` // then a blob
	raw, err := json.Marshal(row{Owner: "u:1", Doc: "d", Status: completed, Converter: "office2html", Source: storage.Blob{}})
	if err != nil || string(raw[:len(stored)]) != stored {
		t.Errorf("got %s, %v", raw, err)
	}
}

func jobOf(kind, data string) outbox.Job { return outbox.Job{Kind: kind, Data: json.RawMessage(data)} }

// builtIn are the tools that every server has.
func builtIn(w *opstest.World) background {
	return background{w.Repo, convert.Tools{Blobs: w.Blobs()}}
}
