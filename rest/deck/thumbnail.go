package deck

import (
	"net/http"
	"strconv"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

const (
	opThumbnail = "Deck.Thumbnail"

	thumbnailWait  = 2 * time.Second // for a picture; then there is a card
	thumbnailAgain = "2"             // seconds after which a picture that is not there yet may be
)

// thumbnail sends the picture of a slide to the deck's owner.
func (s *service) thumbnail(x *rest.Request) error {
	if err := x.Rate(); err != nil {
		return err
	}
	text, err := x.Param("id")
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return fault.NotFound.Errorf("number %.40q: does not exist", text)
	}
	return sendThumbnail(x, rest.Values{"id": id})
}

// askedSlide adds the number of the slide that the request asks for, if it does.
func askedSlide(x *rest.Request, p rest.Values) error {
	text := x.Query().Get("slide")
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return fault.Invalid.Errorf("slide %.20q: must be a number of at least 1", text).In("slide").WithCode(fault.CodeOutOfRange)
	}
	p["slide"] = n
	return nil
}

// sendThumbnail waits a moment for a picture, and looks whenever a job has ended; then there is a card,
// or for those who have something better to show meanwhile only word of when to ask again.
func sendThumbnail(x *rest.Request, p rest.Values) error {
	if err := askedSlide(x, p); err != nil {
		return err
	}
	p["base"] = x.Host()
	cards := x.Query().Get("card") != "0"
	settled, stop := x.Server.Engine.WatchJobs()
	defer stop()
	late := time.NewTimer(thumbnailWait)
	defer late.Stop()
	for last := x.HTTP.Method == http.MethodHead; ; {
		p["card"] = last && cards
		value, err := drawn(x, p)
		switch {
		case err != nil && (cards || !fault.Is(err, fault.NotFound)):
			return err
		case err != nil:
			x.Writer.Header().Set("Cache-Control", "no-store")
			return x.NoContent()
		}
		if b, ok := value.(*engine.Blob); ok && b != nil {
			return sendPicture(x, b, p["card"] == false)
		}
		if last {
			return notDrawn(x)
		}
		select {
		case <-settled:
		case <-late.C:
			last = true
		case <-x.HTTP.Context().Done():
			return x.HTTP.Context().Err()
		}
	}
}

// sendPicture sends the picture of a slide, or a card instead of it.
func sendPicture(x *rest.Request, b *engine.Blob, drawn bool) error {
	f := &rest.File{Blob: b, Inline: true}
	switch {
	case !drawn:
		x.Writer.Header().Set("Retry-After", thumbnailAgain)
	case x.Query().Has("v"):
		f.Fresh = "private, max-age=3600"
	}
	x.Write(&rest.Answer{Status: http.StatusOK, File: f})
	return nil
}

// notDrawn says that there is no picture yet.
func notDrawn(x *rest.Request) error {
	x.Writer.Header().Set("Cache-Control", "no-store")
	x.Writer.Header().Set("Retry-After", thumbnailAgain)
	x.Write(&rest.Answer{Status: http.StatusAccepted})
	return nil
}

func drawn(x *rest.Request, p rest.Values) (any, error) {
	return x.DeckValue(engine.Call{Op: opThumbnail, Params: p})
}
