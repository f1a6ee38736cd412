package run

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// owned is a run of a user, as it is counted.
type owned struct {
	id string
	mark
}

// of returns the runs of a user that have not expired, and the ids of those that have.
func of(tx *storage.Tx, o storage.Owned) (live []owned, expired []string, err error) {
	from := o.Identity() + "/"
	for key, raw := range tx.Secret(owners).Scan(from, o.Identity()+"0", false, 0) {
		w := owned{id: key[len(from):]}
		if err := json.Unmarshal(raw, &w.mark); err != nil {
			return nil, nil, fault.Internal.Errorf("asynchronous runs: %w", err)
		}
		if !w.Expires.IsZero() && tx.Now().After(w.Expires) {
			expired = append(expired, w.id)
		} else {
			live = append(live, w)
		}
	}
	return live, expired, tx.Err()
}

// makeRoom has runs of a user that were read give way to one that begins, those first that ended first. How many runs
// there are of all users is looked at without a promise: beginnings at the same moment may exceed that by a few, and do
// not disturb each other.
func makeRoom(tx *storage.Tx, o storage.Owned, l Limits) error {
	live, expired, err := of(tx, o)
	if err != nil {
		return err
	}
	for _, id := range expired {
		if err := dropID(tx, id, o); err != nil {
			return err
		}
	}
	all := 0
	err = inside(tx).KV().Unvalidated(func() (err error) {
		all, _, err = inside(tx).KV().Count(kv.Prefix(layout.TableKey(layout.SecretSpace, owners.Name, "")), l.All+l.User)
		return err
	})
	if err != nil {
		return err
	}
	for len(live) >= l.User || all >= l.All {
		at := oldestRead(live, "")
		if at < 0 {
			return fault.Unavailable.Errorf("asynchronous runs: %d are waiting to be read; read or delete them first", len(live)).WithCode(fault.CodeRunsFull)
		}
		if err := dropID(tx, live[at].id, o); err != nil {
			return err
		}
		live, all = append(live[:at], live[at+1:]...), all-1
	}
	return nil
}

// oldestRead is the run that ended first of those whose result was read, besides one; -1: there is none.
func oldestRead(live []owned, but string) int {
	at := -1
	for i, w := range live {
		if w.Read && w.id != but && (at < 0 || w.Ended.Before(live[at].Ended)) {
			at = i
		}
	}
	return at
}

// dropID forgets a run with all that is kept of it.
func dropID(tx *storage.Tx, id string, o storage.Owned) error {
	r := new(Run)
	found, err := tx.Secret(runs).Get(id, r)
	if err != nil {
		return err
	}
	if !found {
		r.ID, r.Owned = id, o
	}
	return r.drop(tx)
}

// fits has results that were read give way to that of a run, and returns an error if there is no room for it even so. A
// result of at most its share is kept in any case, so that the ends of most runs need not look at others. What is looked
// at is not validated: the end of a run must not make a long call begin again because another one begins.
func (r *Run) fits(tx *storage.Tx, l Limits) error {
	if r.Size <= l.Results/int64(l.User) {
		return nil
	}
	var live []owned
	err := inside(tx).KV().Unvalidated(func() (err error) {
		live, _, err = of(tx, r.Owned)
		return err
	})
	if err != nil {
		return err
	}
	waits := int64(0)
	for _, w := range live {
		waits += w.Size
	}
	for waits+r.Size > l.Results {
		at := oldestRead(live, r.ID)
		if at < 0 {
			return &ErrFull{waits, l.Results}
		}
		if err := dropID(tx, live[at].id, r.Owned); err != nil {
			return err
		}
		waits -= live[at].Size
		live = append(live[:at], live[at+1:]...)
	}
	return nil
}

// Count returns how many runs are kept that have ended.
func Count(tx *storage.Tx) (ended int, err error) {
	if err := onlyServer(tx, "of all"); err != nil {
		return 0, err
	}
	for m, err := range storage.Records[mark](tx.Secret(owners), "", "", 0) {
		if err != nil {
			return 0, err
		}
		if !m.Ended.IsZero() && !tx.Now().After(m.Expires) {
			ended++
		}
	}
	return ended, nil
}

// sweepBatch is how many runs one transaction removes.
const sweepBatch = 100

// Owner ends what the runs of an earlier process rest on, forgets runs that have expired, and those of a user who is gone.
var Owner = storage.Owner{Name: "asynchronous runs", Open: open, Sweep: sweep, Leave: leave}

// open lets go of the leases of processes that cannot live any longer: one at a time has a store open that is not shared.
func open(ctx context.Context, r *storage.Repo) error {
	if r.Shared() || r.IsPart() {
		return nil
	}
	return cluster.EndLeases(ctx, r)
}

// forgotten is after how long a run goes whose server was lost, if nobody has asked for it.
const forgotten = 24 * time.Hour

// gone reports whether a run is to be forgotten.
func (r *Run) gone(tx *storage.Tx) (bool, error) {
	if r.Over() || tx.Now().Sub(r.Began) < forgotten {
		return r.Over() && tx.Now().After(r.Expires), nil
	}
	return r.Lost(tx)
}

func sweep(ctx context.Context, r *storage.Repo) error {
	if r.IsPart() {
		return nil
	}
	var gone []string
	err := r.View(ctx, r.System(), func(tx *storage.Tx) error {
		gone = nil
		for v, err := range storage.Records[Run](tx.Secret(runs), "", "", 0) {
			if err != nil {
				return err
			}
			over, err := v.gone(tx)
			if err != nil {
				return err
			}
			if over {
				gone = append(gone, v.ID)
			}
		}
		return nil
	})
	for len(gone) > 0 && err == nil {
		batch := gone[:min(len(gone), sweepBatch)]
		gone = gone[len(batch):]
		err = r.Update(ctx, r.System(), func(tx *storage.Tx) error {
			for _, id := range batch {
				v := new(Run)
				found, err := tx.Secret(runs).Get(id, v)
				if err == nil && found {
					err = v.drop(tx)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(err, cluster.ForgetLeases(ctx, r))
}

// leave forgets the runs of a user; those that have not ended notice.
func leave(tx *storage.Tx, user string) error {
	all := tx.As(tx.Repo().System())
	var gone []Run
	for v, err := range storage.Records[Run](all.Secret(runs), "", "", 0) {
		if err != nil {
			return err
		}
		if v.Owner == user {
			gone = append(gone, v)
		}
	}
	for i := range gone {
		if err := gone[i].drop(all); err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		inside(all).KV().Wake(topic)
	}
	return nil
}
