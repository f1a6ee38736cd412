package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"catena/decks/deck"
	"catena/decks/format"
	"catena/decks/render"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// Worker carries out exports.
type Worker struct {
	Repo *storage.Repo
	PDF  render.Renderer
	Log  *slog.Logger

	// Deadline bounds an export from the moment it is asked for, or from the start of the
	// server if that is later; 0 is 120 seconds.
	Deadline time.Duration

	began time.Time
}

const (
	// As many as a browser has tabs for: more would wait for one while their time runs.
	atOnce      = 2 // exports
	drawnAtOnce = 1 // slides

	deadline    = 120 * time.Second
	maxAttempts = 2 // the first, and one after a server went away in the middle of it
	// The largest HTML of a deck, in bytes, as decks/html bounds it.
	maxSource = 10 << 20
)

// Jobs are the kinds of jobs the worker carries out.
func (w *Worker) Jobs() outbox.Handlers {
	w.began = time.Now()
	if w.Deadline == 0 {
		w.Deadline = deadline
	}
	if w.Log == nil {
		w.Log = slog.Default()
	}
	return outbox.Handlers{
		Job:       {Do: w.export, AtOnce: atOnce},
		ExpireJob: {Do: w.expire},
		ThumbJob:  {Do: w.draw, AtOnce: drawnAtOnce},
	}
}

// export makes the file of an export. It returns an error only if that is to be done again,
// because the server is about to stop.
func (w *Worker) export(ctx context.Context, j outbox.Job) error {
	var data jobData
	if err := json.Unmarshal(j.Data, &data); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	e, d, err := w.begin(ctx, data)
	if err != nil || e == nil {
		return err
	}
	file, warnings, err := w.render(ctx, e, d)
	if err == nil {
		err = w.complete(ctx, e, file, warnings)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		if err := w.undo(ctx, e); err != nil {
			return err
		}
		return stopping()
	}
	return w.fail(ctx, e, err)
}

// stopping has the outbox keep a job for the next start.
func stopping() error { return &outbox.Later{Why: "the server is stopping"} }

// begin notes the attempt, and reads the deck as it was. Both are nil if there is nothing
// to be done any longer.
func (w *Worker) begin(ctx context.Context, data jobData) (e *Export, d *render.Deck, err error) {
	var stopped error
	err = w.Repo.Update(ctx, w.Repo.System(), func(tx *storage.Tx) error {
		e, d, stopped = nil, nil, nil
		found, err := Find(tx, data.Deck, data.Export)
		if fault.Is(err, fault.NotFound) || err == nil && found.Status != Pending {
			return nil
		}
		if err != nil {
			return err
		}
		e = found
		switch {
		case !e.deckThere(tx):
			stopped = fault.NotFound.Errorf("deck %d: was trashed before its export was made", e.Deck).WithCode(fault.CodeDeckTrashed)
			return nil
		case e.Attempts >= maxAttempts:
			stopped = fault.Unavailable.Errorf("export %d: was interrupted twice", e.ID).WithCode(fault.CodeRenderCrashed)
			return nil
		}
		e.Attempts++
		e.Stage, e.Started = Rendering, tx.Now()
		settings := e.Settings
		d = &settings
		if e.Source.Digest != "" {
			text, err := hold.Load(tx, e.Source).Bytes(maxSource)
			if err != nil {
				return err
			}
			d.HTML = string(text)
		}
		return e.save(tx)
	})
	if err == nil && stopped != nil {
		return nil, nil, w.fail(ctx, e, stopped)
	}
	if err == nil && d != nil { // kept before the rules changed, perhaps
		d.HTML, err = deck.Cleaned(ctx, d.HTML)
	}
	return e, d, err
}

// deckThere reports whether the deck still is, and not in the trash.
func (e *Export) deckThere(tx *storage.Tx) bool {
	d, err := tx.Doc(storage.Ref(e.Doc))
	return err == nil && !d.IsTrashed() && deck.MayStill(tx, d, e.Owned)
}

func (w *Worker) render(ctx context.Context, e *Export, d *render.Deck) (file []byte, warnings []string, err error) {
	// Time spent waiting in the queue counts, so that a pending export ends in time; a server that was down does not.
	end := e.Created
	if w.began.After(end) {
		end = w.began
	}
	ctx, cancel := context.WithDeadline(ctx, end.Add(w.Deadline))
	defer cancel()
	d.File = func(ctx context.Context, address string) ([]byte, string, error) { return w.find(ctx, e, address) }
	if made := Makers[e.Format]; made != nil {
		file, err = made(ctx, w, d, e.Options)
	} else {
		err = fault.Internal.Errorf("export: unsupported format %q", e.Format)
	}
	if err != nil && ctx.Err() == context.DeadlineExceeded { //nolint:errorlint // Err returns it bare
		err = fault.Unavailable.Errorf("export: took more than %s", w.Deadline).WithCode(fault.CodeRenderTimeout)
	}
	return file, d.Warnings(), err
}

// Makers make the file of each format.
var Makers = map[string]func(context.Context, *Worker, *render.Deck, render.Options) ([]byte, error){
	"pdf": func(ctx context.Context, w *Worker, d *render.Deck, o render.Options) ([]byte, error) {
		return w.PDF.PDF(ctx, d, o)
	},
	"zip": func(ctx context.Context, _ *Worker, d *render.Deck, _ render.Options) ([]byte, error) {
		return render.ZIP(ctx, d)
	},
}

// undo gives an attempt back that ended because the server stops.
func (w *Worker) undo(ctx context.Context, e *Export) error {
	// The context has ended already: that is why the attempt is given back.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return w.change(ctx, e, func(_ *storage.Tx, e *Export) error {
		e.Attempts--
		e.Stage = Queued
		return nil
	})
}

// change changes a pending export; one that is no longer pending stays as it is.
func (w *Worker) change(ctx context.Context, e *Export, fn func(*storage.Tx, *Export) error) error {
	system := w.Repo.System()
	system.Actor = e.Owner
	return w.Repo.Update(ctx, system, func(tx *storage.Tx) error {
		now, err := Find(tx, e.Deck, e.ID)
		if fault.Is(err, fault.NotFound) || err == nil && now.Status != Pending {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(tx, now); err != nil {
			return err
		}
		return now.save(tx)
	})
}

// complete keeps the file and tells anyone who listens.
func (w *Worker) complete(ctx context.Context, e *Export, file []byte, warnings []string) error {
	f := format.Find(e.Format)
	if f == nil {
		return fault.Internal.Errorf("export: unknown format %q", e.Format)
	}
	blob, err := w.Repo.Blobs().Spool(ctx, e.Settings.Name(f.Name), f.Type, bytes.NewReader(file), 0)
	if err != nil {
		return err
	}
	return w.change(ctx, e, func(tx *storage.Tx, e *Export) error {
		if err := hold.Keep(tx, e.Holder, blob); err != nil {
			return err
		}
		e.Status, e.Stage, e.Completed, e.File, e.Warnings = Completed, "", tx.Now(), meta(blob), warnings
		return e.end(tx, "export.completed")
	})
}

// fail ends an export without a file. What was not the caller's fault does not count.
func (w *Worker) fail(ctx context.Context, e *Export, cause error) error {
	f, code := &Failure{Code: fault.Internal.String(), Message: "the export could not be created"}, fault.CodeOf(cause)
	var known *fault.Error
	if code != 0 && errors.As(cause, &known) {
		f.Code, f.Message = code.String(), known.Message
	}
	w.Log.Warn("export failed", "deck", e.Deck, "export", e.ID, "code", f.Code, "error", cause)
	return w.change(ctx, e, func(tx *storage.Tx, e *Export) error {
		e.Status, e.Stage, e.Failure = Failed, "", f
		// The caller trashed the deck or made it too large. All other failures are ours and give the slot back.
		if code != fault.CodeDeckTrashed && code != fault.CodeTooLarge {
			if err := tx.Table(quotaTable).Delete(quotaKey(e.Identity(), e.ID)); err != nil {
				return err
			}
		}
		return e.end(tx, "export.failed")
	})
}

// end releases the source, has the export forgotten in time, and fires an event.
func (e *Export) end(tx *storage.Tx, event string) error {
	if e.Source.Digest != "" && e.Source.Digest != e.File.Digest {
		if err := hold.Release(tx, e.Holder, e.Source.Digest); err != nil {
			return err
		}
	}
	data, err := json.Marshal(jobData{e.Deck, e.ID})
	if err != nil {
		return err
	}
	// A failed export is forgotten after the same time as a file would be.
	err = outbox.Enqueue(tx, outbox.Job{Kind: ExpireJob, As: e.Owner, Due: tx.Now().Add(Kept), Data: data})
	if err != nil {
		return err
	}
	extra := map[string]any{"export": e.ID, "deck": e.Deck, "format": e.Format, "status": e.Status}
	if e.Failure != nil {
		extra["code"] = e.Failure.Code
	}
	d, err := tx.Doc(storage.Ref(e.Doc))
	if err != nil {
		d = nil // the deck is gone; what happened is told without it
	}
	return tx.Fire(storage.Event{Name: event, Doc: d, Extra: extra})
}

// expire forgets an export and releases its file.
func (w *Worker) expire(ctx context.Context, j outbox.Job) error {
	var data jobData
	if err := json.Unmarshal(j.Data, &data); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	return w.Repo.Update(ctx, w.Repo.System(), func(tx *storage.Tx) error {
		var e Export
		ok, err := tx.Table(table).Get(key(data.Deck, data.Export), &e)
		if err != nil || !ok {
			return err
		}
		if e.File.Digest != "" {
			if err := hold.Release(tx, e.Holder, e.File.Digest); err != nil {
				return err
			}
		}
		return tx.Table(table).Delete(key(data.Deck, data.Export))
	})
}
