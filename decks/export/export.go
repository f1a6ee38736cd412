// Package export keeps exports of decks and pictures of their slides: a record of each, a snapshot of the deck, the
// finished file, and how many a user may request. Its worker carries them out behind the requests. What an export
// looks like to callers is for package decks, how a file is made for package render.
//
// An export is pending until it is completed or failed, and never changes then. The deck's HTML is held from
// the moment of the request, so that later edits do not reach an export in progress. The work is a job of the
// outbox: a server that stops takes it up at its next start, once, since a deck that brought the renderer
// down might do so again.
//
// Thumbnails are a second kind of record. They are named by the version of the appearance that they show
// (deck.AppearanceVersion), drawn once, shared by all who may see the deck, and dropped when the deck looks
// different.
package export

import (
	"encoding/json"
	"fmt"
	"time"

	"catena/decks/render"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// Export is one export of a deck.
type Export struct {
	ID   int64
	Deck int64
	Doc  string // id of the deck's document
	storage.Owned
	Base      string `json:",omitempty"` // the server's address, as the user who asked for the export knows it
	Format    string // name in format.Formats
	Options   render.Options
	Status    string // Pending until it is Completed or Failed, and never changes then
	Stage     string `json:",omitempty"` // of a pending export
	Created   time.Time
	Started   time.Time `json:",omitzero"` // of the latest attempt
	Completed time.Time `json:",omitzero"`
	Attempts  int       `json:",omitempty"`
	Failure   *Failure  `json:",omitempty"`
	Warnings  []string  `json:",omitempty"`

	Holder   string       // the id the files are held by
	Settings render.Deck  // the deck as it was, without its HTML
	Source   storage.Blob // its HTML then
	File     storage.Blob // what was made

	Left  int           `json:"-"` // exports that the owner has left, set by Start
	Reset time.Duration `json:"-"` // until there is one more
}

// Failure says why there is no file.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The states of an export.
const (
	Pending   = "pending"
	Completed = "completed"
	Failed    = "failed"
)

// The stages of a pending one.
const (
	Queued    = "queued"
	Rendering = "rendering"
	Storing   = "storing"
)

const (
	table      = "deck-exports"       // deck "/" export
	quotaTable = "deck-export-quotas" // Identity of the owner 0 export

	// Kept is how long a file is kept once it is made.
	Kept = 7 * 24 * time.Hour
	// Quota is how many exports a user may ask for in QuotaTime.
	Quota = 10
	// QuotaTime is the time that Quota is for.
	QuotaTime = time.Hour

	maxListed = 1000
)

// The kinds of jobs.
const (
	Job       = "deck.export"
	ExpireJob = "deck.export.expire"
)

// jobData names the export a job is about.
type jobData struct{ Deck, Export int64 }

func key(deck, id int64) string { return fmt.Sprintf("%019d/%019d", deck, id) }

// Find returns an export of a deck, if it is the principal's; the server finds everybody's.
func Find(tx *storage.Tx, deck, id int64) (*Export, error) {
	var e Export
	ok, err := tx.Table(table).Get(key(deck, id), &e)
	if err == nil && (!ok || !e.shown(tx)) {
		err = fault.NotFound.Errorf("export %d of deck %d: does not exist", id, deck)
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// shown reports whether an export is the principal's and still kept.
func (e *Export) shown(tx *storage.Tx) bool {
	as := tx.Principal()
	// A failed export has no completion time. It is shown until its ExpireJob removes the row.
	return (as.System || e.Is(as)) && (e.Completed.IsZero() || tx.Now().Before(e.Completed.Add(Kept)))
}

// List returns the principal's exports of a deck, newest first.
func List(tx *storage.Tx, deck int64) ([]Export, error) {
	var out []Export
	var failed error
	// Those of others are passed over and do not count: there are as many as users asked for while they are kept.
	for _, raw := range tx.Table(table).Scan(key(deck, 0), key(deck+1, 0), true, 0) {
		var e Export
		if err := json.Unmarshal(raw, &e); err != nil {
			failed = fault.Internal.Errorf("export: %w", err)
			break
		}
		if !e.shown(tx) {
			continue
		}
		if out = append(out, e); len(out) == maxListed {
			break
		}
	}
	return out, failed
}

func (e *Export) save(tx *storage.Tx) error { return tx.Table(table).Put(key(e.Deck, e.ID), e) }

// Start takes an export on: counts it, pins the deck's HTML, which may be nil, and leaves
// the rest to the worker.
func Start(tx *storage.Tx, e *Export, source *storage.Blob) error {
	if err := count(tx, e); err != nil {
		return err
	}
	e.Status, e.Stage, e.Created, e.Holder = Pending, Queued, tx.Now(), tx.NewID()
	if source != nil {
		e.Source = meta(source)
		if err := hold.Keep(tx, e.Holder, source); err != nil {
			return err
		}
	}
	data, err := json.Marshal(jobData{e.Deck, e.ID})
	if err != nil {
		return err
	}
	if err := outbox.Enqueue(tx, outbox.Job{Kind: Job, As: e.Owner, Data: data}); err != nil {
		return err
	}
	return e.save(tx)
}

// meta is what a row keeps of a file: enough to find the content, which is held under the export's holder.
func meta(b *storage.Blob) storage.Blob {
	return storage.Blob{Name: b.Name, Type: b.Type, Encoding: b.Encoding, Digest: b.Digest, Size: b.Size}
}

// quotaRow is one export that counts.
type quotaRow struct{ At time.Time }

// The identity has the number of the user's record, so a new user of an old name starts with a full quota.
func quotaKey(owner string, id int64) string { return owner + "\x00" + fmt.Sprintf("%019d", id) }

// count adds an export to those of the last hour, and refuses it if they are too many.
func count(tx *storage.Tx, e *Export) error {
	rows := tx.Table(quotaTable)
	recent := 0
	var first time.Time
	for name, raw := range rows.Scan(quotaKey(e.Identity(), 0), e.Identity()+"\x01", false, 0) {
		var row quotaRow
		if err := json.Unmarshal(raw, &row); err != nil {
			return fault.Internal.Errorf("export quota: %w", err)
		}
		if !storage.Recent(tx.Now(), row.At, QuotaTime) {
			if err := rows.Delete(name); err != nil {
				return err
			}
			continue
		}
		if recent++; recent == 1 {
			first = row.At
		}
	}
	if recent >= Quota {
		// The hour slides: one more is possible when the oldest of the counted exports is an hour old.
		wait := first.Add(QuotaTime).Sub(tx.Now()).Round(time.Second)
		return fault.Limit.Errorf("exports: limit of %d per hour reached; the next is possible in %s", recent, wait).
			WithCode(fault.CodeExportQuota).After(wait)
	}
	e.Left, e.Reset = Quota-recent-1, QuotaTime
	if recent > 0 {
		e.Reset = first.Add(QuotaTime).Sub(tx.Now())
	}
	return rows.Put(quotaKey(e.Identity(), e.ID), quotaRow{tx.Now()})
}

// Blob returns the file of a completed export.
func (e *Export) Blob(tx *storage.Tx) (*storage.Blob, error) {
	if e.Status != Completed {
		return nil, fault.NotFound.Errorf("export %d: has no file", e.ID)
	}
	return hold.Load(tx, e.File), nil
}
