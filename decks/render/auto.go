package render

import (
	"context"
	"errors"
	"log/slog"

	"catena/storage/fault"
)

// Auto prints with a browser where there is one and it starts, and with the embedded
// renderer otherwise.
type Auto struct {
	Browser *Chromium // nil: there is none
	Log     *slog.Logger
}

// PDF makes the file of a deck.
func (a Auto) PDF(ctx context.Context, d *Deck, o Options) ([]byte, error) {
	if a.Browser == nil {
		return Embedded{}.PDF(ctx, d, o)
	}
	data, err := a.Browser.PDF(ctx, d, o)
	var known *fault.Error
	if errors.As(err, &known) && known.Code == CodeUnavailable {
		a.Log.Warn("deck is rendered without a browser", "error", err)
		return Embedded{}.PDF(ctx, d, o)
	}
	return data, err
}

// Still draws a slide, or a card that names it where there is no browser that can.
func (a Auto) Still(ctx context.Context, d *Deck, slide int) (*Still, error) {
	if a.Browser == nil {
		return Card(d, slide)
	}
	got, err := a.Browser.Still(ctx, d, slide)
	var known *fault.Error
	if errors.As(err, &known) && known.Code == CodeUnavailable {
		return Card(d, slide)
	}
	return got, err
}
