package rest

import (
	"net/http"
	"strconv"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

const (
	opThumbnail = "Deck.Thumbnail"

	thumbnailWait  = 2 * time.Second // for a picture; then there is a card
	thumbnailAgain = "2"             // seconds after which a picture that is not there yet may be
)

// deckThumbnail sends the picture of a slide to the deck's owner.
func deckThumbnail(x *exchange) error {
	if err := x.rate(); err != nil {
		return err
	}
	text, err := x.param("id")
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return fault.NotFound.Errorf("number %.40q: does not exist", text)
	}
	return x.thumbnail(values{"id": id})
}

// pageThumbnail sends the picture of a slide to whoever may see the deck.
func pageThumbnail(x *exchange) error {
	p, err := x.named("username", "slug")
	if err != nil {
		return err
	}
	p["key"] = x.query().Get("key")
	return x.thumbnail(p)
}

// shareThumbnail sends the picture of a slide to whoever has a private link to the deck.
func shareThumbnail(x *exchange) error {
	p, err := x.named("token")
	if err != nil {
		return err
	}
	p["pass"] = x.cookie(shareCookie)
	return x.thumbnail(p)
}

// thumbnail waits a moment for a picture, and looks whenever a job has ended; then there is a card,
// or for those who have something better to show meanwhile only word of when to ask again.
func (x *exchange) thumbnail(p values) error {
	if text := x.query().Get("slide"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return fault.Invalid.Errorf("slide %.20q: is no number from 1", text).In("slide").WithCode(fault.CodeOutOfRange)
		}
		p["slide"] = n
	}
	p["base"] = x.host()
	cards := x.query().Get("card") != "0"
	settled, stop := x.s.Engine.Repo().WatchJobs()
	defer stop()
	late := time.NewTimer(thumbnailWait)
	defer late.Stop()
	for last := x.r.Method == http.MethodHead; ; {
		p["card"] = last && cards
		value, err := x.drawn(p)
		switch {
		case err != nil && (cards || !fault.Is(err, fault.NotFound)):
			return err
		case err != nil:
			x.w.Header().Set("Cache-Control", "no-store")
			return x.noContent()
		}
		if b, ok := value.(*engine.Blob); ok && b != nil {
			return x.sendPicture(b, p["card"] == false)
		}
		if last {
			return x.notDrawn()
		}
		select {
		case <-settled:
		case <-late.C:
			last = true
		case <-x.r.Context().Done():
			return x.r.Context().Err()
		}
	}
}

// sendPicture sends the picture of a slide, or a card instead of it.
func (x *exchange) sendPicture(b *engine.Blob, drawn bool) error {
	f := &file{blob: b, inline: true}
	switch {
	case !drawn:
		x.w.Header().Set("Retry-After", thumbnailAgain)
	case x.query().Has("v"):
		f.fresh = "private, max-age=3600"
	}
	x.write(&answer{status: http.StatusOK, file: f})
	return nil
}

// notDrawn says that there is no picture yet.
func (x *exchange) notDrawn() error {
	x.w.Header().Set("Cache-Control", "no-store")
	x.w.Header().Set("Retry-After", thumbnailAgain)
	x.write(&answer{status: http.StatusAccepted})
	return nil
}

func (x *exchange) drawn(p values) (any, error) {
	res, err := x.s.Engine.Run(x.r.Context(), engine.Call{Op: opThumbnail, Params: p, As: x.as, Door: x.door(), RequestID: x.id})
	if err != nil {
		return nil, err
	}
	return res.Value, nil
}
