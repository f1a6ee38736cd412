// Package grant removes permissions granted to users who no longer exist. Nobody has it from the moment on at which
// the user is gone; jobs take it off the lists.
//
// A user may be named in the access lists of any number of documents, too many for the transaction that
// deletes the user. The entries are without effect from then on, since they carry the user's number; jobs
// remove them, some documents at a time, so that lists do not show names of nobody.
package grant

import (
	"context"
	"encoding/json"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/outbox"
)

// JobKind is the kind of the jobs that remove what access lists grant somebody who is gone.
const JobKind = "user gone"

// Owner has jobs remove what was granted to a user who is deleted.
var Owner = storage.Owner{Name: "grant", Leave: func(t *storage.Tx, user string) error {
	return enqueue(t.As(t.Repo().System()), leaving{User: user})
}}

// leaveBatch is how many documents one of these jobs looks at.
const leaveBatch = 200

// leaving is the data of a job.
type leaving struct {
	User  string
	After string `json:",omitempty"` // id of the document that the job before ended with
}

// enqueue adds a job for the documents that follow, if there are any.
func enqueue(t *storage.Tx, l leaving) error {
	more, err := inside(t).HasGrants(l.User, l.After)
	if err != nil || !more {
		return err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return outbox.Enqueue(t, outbox.Job{Kind: JobKind, Data: data})
}

// Do carries out a job of the kind JobKind: it removes what is no longer for anybody from the access lists of
// some documents, and leaves the rest to another job.
func Do(ctx context.Context, r *storage.Repo, j outbox.Job) error {
	var l leaving
	if err := json.Unmarshal(j.Data, &l); err != nil {
		return &outbox.GaveUp{Err: fault.Internal.Errorf("job %s: %w", j.ID, err)}
	}
	return r.Update(ctx, r.System(), func(t *storage.Tx) error {
		last, err := inside(t).RemoveGrants(l.User, l.After, leaveBatch)
		if err != nil || last == "" {
			return err
		}
		return enqueue(t, leaving{l.User, last})
	})
}

// Jobs returns what carries out the jobs of the kind JobKind in a repository.
func Jobs(r *storage.Repo) outbox.Handler {
	return outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error { return Do(ctx, r, j) }}
}

func inside(t *storage.Tx) storage.Internal { return t.Internal(row.Ordered{}) }
