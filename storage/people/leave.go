package people

import (
	"context"
	"encoding/json"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// LeaveJob is the kind of the jobs that remove what access lists grant somebody who is gone.
const LeaveJob = "user gone"

// leaveBatch is how many documents one of these jobs looks at.
const leaveBatch = 200

// leaving is the data of a job.
type leaving struct {
	User  string
	After string `json:",omitempty"` // id of the document that the job before ended with
}

// endGrants has nothing that was granted to a user who goes be for others of the name.
func endGrants(t *storage.Tx, u *User) error {
	if err := inside(t).Depart(u.Username, u.ID); err != nil {
		return err
	}
	return enqueueLeaving(t.As(t.Repo().System()), leaving{User: u.Username})
}

// enqueueLeaving adds a job for the documents that follow, if there are any.
func enqueueLeaving(t *storage.Tx, l leaving) error {
	more, err := inside(t).HasGrants(l.User, l.After)
	if err != nil || !more {
		return err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return outbox.Enqueue(t, outbox.Job{Kind: LeaveJob, Data: data})
}

// Leave carries out a job of the kind LeaveJob: it removes what is no longer for anybody from the access lists of
// some documents, and leaves the rest to another job.
func Leave(ctx context.Context, r *storage.Repo, j outbox.Job) error {
	var l leaving
	if err := json.Unmarshal(j.Data, &l); err != nil {
		return &outbox.GaveUp{Err: fault.Internal.Errorf("job %s: %w", j.ID, err)}
	}
	return r.Update(ctx, r.System(), func(t *storage.Tx) error {
		last, err := inside(t).RemoveGrants(l.User, l.After, leaveBatch)
		if err != nil || last == "" {
			return err
		}
		return enqueueLeaving(t, leaving{l.User, last})
	})
}

// Leaving returns what carries out the jobs of the kind LeaveJob in a repository.
func Leaving(r *storage.Repo) outbox.Handler {
	return outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error { return Leave(ctx, r, j) }}
}
