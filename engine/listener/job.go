package listener

import (
	"context"
	"encoding/json"
	"errors"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// JobKind is the kind of the jobs of listeners that run after the commit.
const JobKind = "listener"

// maxGenerations bounds listeners whose work causes the events of listeners, across transactions.
const maxGenerations = 8

// delivery is the data of a job.
type delivery struct {
	Listener   string         `json:"listener"`
	Event      map[string]any `json:"event"`
	Doc        string         `json:"doc,omitempty"`
	Generation int            `json:"generation,omitempty"`
	UserID     int64          `json:"userId,omitempty"` // number of the user the job acts for; 0: none, or anyone who has the name
}

// generationKey finds in a context how many jobs of listeners led to it.
type generationKey struct{}

// enqueue has the listener run once the transaction is committed.
func (l *Listener) enqueue(tx *storage.Tx, e *storage.Event) error {
	d := delivery{Listener: l.Name, Event: eventVar(tx, e)}
	if e.Doc != nil && e.Doc.Saved() {
		d.Doc = e.Doc.ID()
	}
	generation, _ := tx.Context().Value(generationKey{}).(int)
	if d.Generation = generation + 1; d.Generation > maxGenerations {
		return fault.Limit.Errorf("listener %s: more than %d listeners triggered each other", l.Name, maxGenerations).WithCode(fault.CodeEventLoop)
	}
	as := tx.Principal()
	name := as.Name
	if as.System && as.Actor != "" {
		name = as.Actor
	}
	var err error
	if d.UserID, err = storage.NumberOf(tx, name); err != nil {
		return fault.Wrap(err, "listener %s", l.Name)
	}
	data, err := json.Marshal(d)
	if err != nil {
		return fault.Wrap(err, "listener %s", l.Name)
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: JobKind, As: name, Data: data})
}

// asked is what a failed run of the job keeps.
func (d *delivery) asked() (*engine.Asked, error) {
	vars, err := json.Marshal(map[string]any{"Event": d.Event})
	if err != nil || d.Doc == "" {
		return &engine.Asked{Context: vars}, err
	}
	doc, err := json.Marshal("doc:" + d.Doc)
	return &engine.Asked{Input: doc, Context: vars}, err
}

// Job returns what carries out listeners of a repository after the commit.
func (ls *Listeners) Job(repo *storage.Repo) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error { return ls.job(ctx, repo, j) }
}

// job runs a listener after the transaction that it listened to. The world may have changed meanwhile: a listener that no
// longer exists does nothing, nor does one whose filters no longer match.
func (ls *Listeners) job(ctx context.Context, repo *storage.Repo, j outbox.Job) error {
	var d delivery
	if err := json.Unmarshal(j.Data, &d); err != nil {
		return &outbox.GaveUp{Err: fault.Invalid.Errorf("listener: %w", err)}
	}
	name, _ := d.Event["name"].(string)
	l := ls.find(name, d.Listener)
	if l == nil || !l.After {
		return nil
	}
	acted, err := ls.actor(ctx, j.As, d.UserID)
	if fault.Is(err, fault.NotFound) {
		return &outbox.GaveUp{Err: err}
	}
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, generationKey{}, d.Generation)
	asked, err := d.asked()
	if err != nil {
		return err
	}
	call := engine.Call{Op: "listener " + l.Name, As: acted, EntryPoint: engine.Listener, Asked: asked}
	err = ls.engine.On(repo).Work(ctx, call, engine.Writes, func(tx *storage.Tx) error {
		doc, err := d.document(tx)
		if err != nil || l.wantsDoc() && doc != nil && !l.fits(doc) {
			return err
		}
		return ls.run(tx, l, doc, acted, d.Event)
	})
	var f *fault.Error
	if errors.As(err, &f) && (f.Kind == fault.Limit || f.Code == fault.CodeRunEnded) {
		return &outbox.GaveUp{Err: err}
	}
	return err
}

// document is the one that the event is about; nil if it is about none, or that one no longer exists.
func (d *delivery) document(tx *storage.Tx) (*storage.Doc, error) {
	if d.Doc == "" {
		return nil, nil
	}
	doc, err := tx.Doc(storage.Ref(d.Doc))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return doc, err
}

// actor is who caused the event. It is an error of kind NotFound if the user is gone, even if there is another
// one of the name.
func (ls *Listeners) actor(ctx context.Context, name string, number int64) (*storage.Principal, error) {
	system := ls.engine.System()
	if name == system.Name {
		return system, nil
	}
	p, err := ls.engine.PrincipalOf(ctx, name)
	if err == nil && number != 0 && p.ID != number {
		return nil, storage.ErrNoUser(name)
	}
	return p, err
}
