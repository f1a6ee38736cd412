package export

import (
	"encoding/json"
	"fmt"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// Thumb is the picture of one slide of a deck, made when it is asked for and kept until the
// deck looks otherwise.
type Thumb struct {
	Doc     string // id of the deck's document
	Slide   int
	Version string       // of the deck it shows; see deck.AppearanceVersion
	Wanted  string       `json:",omitempty"` // version that a job is about to draw
	Asked   time.Time    `json:",omitzero"`  // when that was
	Holder  string       // the id the file is held by
	File    storage.Blob `json:",omitzero"`
}

const (
	thumbTable = "deck-thumbnails" // deck's document "/" slide

	// ThumbJob is the kind of job that draws a slide.
	ThumbJob = "deck.thumbnail"

	thumbWait = 2 * time.Minute // after which a picture that did not come is asked for again
	// The number of slides that a deck may have; it fits the four digits of a key.
	maxSlides = 1000
)

type thumbData struct {
	Doc   string
	Slide int
	storage.Owned
	Base string
}

func thumbKey(doc string, slide int) string { return fmt.Sprintf("%s/%04d", doc, slide) }

// FindThumb returns the picture of a slide as the deck of the version looks; nil if none is
// made yet.
func FindThumb(tx *storage.Tx, doc string, slide int, version string) (*storage.Blob, error) {
	var t Thumb
	ok, err := tx.Table(thumbTable).Get(thumbKey(doc, slide), &t)
	if err != nil || !ok || t.Version != version || t.File.Digest == "" {
		return nil, err
	}
	return hold.Load(tx, t.File), nil
}

// ThumbAsked reports whether a picture is about to be drawn.
func ThumbAsked(tx *storage.Tx, doc string, slide int, version string) (bool, error) {
	var t Thumb
	ok, err := tx.Table(thumbTable).Get(thumbKey(doc, slide), &t)
	return ok && t.asked(tx, version), err
}

func (t *Thumb) asked(tx *storage.Tx, version string) bool {
	return t.Wanted == version && storage.Recent(tx.Now(), t.Asked, thumbWait)
}

// A ThumbRequest says which picture is drawn, as whom, and with which base address for links.
type ThumbRequest struct {
	Doc     string // of the deck
	Slide   int    // from 1
	Version string // of the deck's appearance, see Thumb
	Owner   string
	Base    string
}

// AskThumb has a picture drawn, unless that is about to happen.
func AskThumb(tx *storage.Tx, q ThumbRequest) error {
	if q.Slide < 1 || q.Slide > maxSlides {
		return fault.NotFound.Errorf("slide %d: does not exist", q.Slide)
	}
	t := Thumb{Doc: q.Doc, Slide: q.Slide}
	ok, err := tx.Table(thumbTable).Get(thumbKey(q.Doc, q.Slide), &t)
	if err != nil || ok && t.asked(tx, q.Version) {
		return err
	}
	// The holder stays the same for all pictures of the slide, so that each replaces the one before.
	if !ok {
		t.Holder = tx.NewID()
	}
	t.Wanted, t.Asked = q.Version, tx.Now()
	// The number tells the owner from a later user of the name, with whose rights pictures must not be read.
	number, err := storage.NumberOf(tx, q.Owner)
	if err != nil {
		return err
	}
	data, err := json.Marshal(thumbData{q.Doc, q.Slide, storage.Owned{Owner: q.Owner, OwnerID: number}, q.Base})
	if err != nil {
		return err
	}
	if err := outbox.Enqueue(tx, outbox.Job{Kind: ThumbJob, As: q.Owner, Data: data}); err != nil {
		return err
	}
	return tx.Table(thumbTable).Put(thumbKey(q.Doc, q.Slide), t)
}

// ForgetThumbs removes the pictures of a deck that is gone.
func ForgetThumbs(tx *storage.Tx, doc string) error {
	rows := tx.Table(thumbTable)
	for name, raw := range rows.Scan(doc+"/", doc+"0", false, maxSlides) {
		var t Thumb
		if err := json.Unmarshal(raw, &t); err != nil {
			return fault.Internal.Errorf("thumbnail: %w", err)
		}
		if t.File.Digest != "" {
			if err := hold.Release(tx, t.Holder, t.File.Digest); err != nil {
				return err
			}
		}
		if err := rows.Delete(name); err != nil {
			return err
		}
	}
	return nil
}
