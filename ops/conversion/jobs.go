package conversion

import (
	"context"
	"encoding/json"

	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// Jobs are the handlers of conversions in the background. The work is done as the system, because the
// request has ended and the rights of its caller were checked when the file was read. Who may see the
// result is checked again when it is fetched (resultParams.run).
func Jobs(repo *storage.Repo, t convert.Tools) outbox.Handlers {
	t.Blobs = repo.Blobs()
	of := func(do func(ctx context.Context, in background, id string) error) outbox.Handler {
		return outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error {
			var id string
			if err := json.Unmarshal(j.Data, &id); err != nil {
				return fault.Internal.Errorf("job %s: %w", j.Kind, err)
			}
			return do(ctx, background{repo, t}, id)
		}}
	}
	// One film after the other, so that other jobs have their turns.
	films := of(transcode)
	films.AtOnce = 1
	return outbox.Handlers{
		convertJob: of(carryOut), endJob: of(end), thumbnailJob: of(draw), viewsJob: of(drawViews), mediaJob: of(describe), transcodeJob: films,
	}
}

// background is what a conversion in the background works with.
type background struct {
	repo  *storage.Repo
	tools convert.Tools
}

// change rewrites the record of a conversion, unless it is gone. A record that is gone is no error: it
// was forgotten after a day, and a job that comes late has nothing left to do.
func (in background) change(ctx context.Context, id string, fn func(tx *storage.Tx, r *row) error) error {
	return in.repo.Update(ctx, in.repo.System(), func(tx *storage.Tx) error {
		r := &row{}
		found, err := tx.Table(table).Get(id, r)
		if err != nil || !found {
			return err
		}
		if err := fn(tx, r); err != nil {
			return err
		}
		return tx.Table(table).Put(id, r)
	})
}

// carryOut converts what a record says. What cannot be converted is not tried again.
func carryOut(ctx context.Context, in background, id string) error {
	var todo *row
	err := in.change(ctx, id, func(_ *storage.Tx, r *row) error {
		// The job can come again, for example after a crash that followed the conversion. A second result would be
		// held forever, as end knows only the one in the record.
		if r.Status != completed {
			r.Status, todo = running, r
		}
		return nil
	})
	if err != nil || todo == nil {
		return err
	}
	// The conversion runs between two transactions, not in one. It can take minutes, and a
	// transaction held open for so long would conflict with every other that touches the same rows
	// and be run again, conversion included.
	made, failed := in.converted(ctx, todo)
	// Returning the error has the outbox try again: the program for it may be missing for now, or
	// the server may be stopping. Every other failure would be the same the next time, so it
	// becomes the result.
	if failed != nil && (fault.Is(failed, fault.Unavailable) || ctx.Err() != nil) {
		return failed
	}
	return in.change(ctx, id, func(tx *storage.Tx, r *row) error {
		if r.Status == completed { // meanwhile, by another server
			return nil
		}
		r.Status = completed
		if failed != nil {
			r.Failure = failed.Error()
			return nil //nolint:nilerr // the failure is the result
		}
		// No document refers to the result, so without a hold the sweep of unused content would
		// remove it before the client fetches it.
		r.Result = made
		return hold.Keep(tx, id, made)
	})
}

func (in background) converted(ctx context.Context, r *row) (*storage.Blob, error) {
	by, err := convert.Named(r.Converter)
	if err != nil {
		return nil, err
	}
	return by.Convert(ctx, in.tools, in.repo.Blobs().Load(r.Source), nil)
}

// end forgets a conversion. Source and result are released by digest. Content that a document or another
// holder refers to stays; the rest goes with the next sweep.
func end(ctx context.Context, in background, id string) error {
	return in.repo.Update(ctx, in.repo.System(), func(tx *storage.Tx) error {
		r := &row{}
		found, err := tx.Table(table).Get(id, r)
		if err != nil || !found {
			return err
		}
		if err := hold.Release(tx, id, r.Source.Digest); err != nil {
			return err
		}
		if r.Result != nil {
			if err := hold.Release(tx, id, r.Result.Digest); err != nil {
				return err
			}
		}
		return tx.Table(table).Delete(id)
	})
}
