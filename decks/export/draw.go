package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"catena/decks/deck"
	"catena/decks/render"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// drawTime bounds the drawing of one slide.
const drawTime = 30 * time.Second

// draw makes the picture of a slide and keeps it.
func (w *Worker) draw(ctx context.Context, j outbox.Job) error {
	var data thumbData
	if err := json.Unmarshal(j.Data, &data); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	d, version, err := w.drawn(ctx, data)
	if err != nil || d == nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	// find reads stored files with the rights of an export's owner; these are the fields that it uses.
	pin := &Export{Doc: data.Doc, Owned: data.Owned, Base: data.Base}
	d.File = func(ctx context.Context, address string) ([]byte, string, error) { return w.find(ctx, pin, address) }
	still, err := w.still(limited, d, data.Slide)
	switch {
	// The end of ctx is the server's; the end of limited is a slide that
	// takes too long, for which a card is drawn below.
	case err != nil && ctx.Err() != nil:
		return stopping()
	case fault.Is(err, fault.NotFound):
		return &outbox.GaveUp{Err: err}
	case err != nil:
		w.Log.Warn("slide was not rendered", "doc", data.Doc, "slide", data.Slide, "error", err)
		if still, err = render.Card(ctx, d, data.Slide); err != nil {
			return &outbox.GaveUp{Err: err}
		}
	}
	return w.hang(ctx, data, version, still)
}

// still draws with what PDF files are made with, if it can; else a card.
func (w *Worker) still(ctx context.Context, d *render.Deck, slide int) (*render.Still, error) {
	if r, ok := w.PDF.(render.Drawer); ok {
		return r.Still(ctx, d, slide)
	}
	return render.Card(ctx, d, slide)
}

// drawn reads the deck as it is now; nil if it is gone.
// An older appearance would serve nobody, so the picture is filed under
// the version that was read, not the one asked for.
func (w *Worker) drawn(ctx context.Context, data thumbData) (d *render.Deck, version string, err error) {
	err = w.Repo.View(ctx, w.Repo.System(), func(tx *storage.Tx) error {
		doc, err := tx.Doc(storage.Ref(data.Doc))
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		looks := deck.Appearance(doc)
		version = deck.AppearanceVersion(doc)
		looks.HTML, err = deck.Source(tx, doc)
		d = &looks
		return err
	})
	return d, version, err
}

// hang keeps a picture instead of the one there was.
func (w *Worker) hang(ctx context.Context, data thumbData, version string, still *render.Still) error {
	name := fmt.Sprintf("slide-%d%s", data.Slide, map[string]string{"image/jpeg": ".jpg", "image/png": ".png"}[still.Type])
	blob, err := w.Repo.Blobs().Spool(ctx, name, still.Type, bytes.NewReader(still.Data), 0)
	if err != nil {
		return err
	}
	return w.Repo.Update(ctx, w.Repo.System(), func(tx *storage.Tx) error {
		// The row goes with its deck. Without it, nobody would release the file.
		var t Thumb
		ok, err := tx.Table(thumbTable).Get(thumbKey(data.Doc, data.Slide), &t)
		if err != nil || !ok {
			return err
		}
		if old := t.File.Digest; old != "" && old != blob.Digest {
			err = hold.Release(tx, t.Holder, old)
		}
		if err := errors.Join(err, hold.Keep(tx, t.Holder, blob)); err != nil {
			return err
		}
		t.Version, t.Wanted, t.File = version, "", meta(blob)
		return tx.Table(thumbTable).Put(thumbKey(data.Doc, data.Slide), t)
	})
}
