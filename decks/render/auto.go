package render

import (
	"context"
	"log/slog"
	"time"

	"catena/storage/fault"
)

// Auto prints with a browser where there is one that does it in its share of the time, and with
// the embedded renderer otherwise: a file then has a warning that says so.
type Auto struct {
	Browser *Chromium // nil: there is none
	Log     *slog.Logger
}

// PDF makes the file of a deck.
func (a Auto) PDF(ctx context.Context, d *Deck, o Options) ([]byte, error) {
	if a.Browser == nil {
		return Embedded{}.PDF(ctx, d, o)
	}
	limited, cancel := share(ctx)
	defer cancel()
	data, err := a.Browser.PDF(limited, d, o)
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil {
		a.Log.Warn("deck is rendered without a browser", "error", err)
		d.notes = append(d.notes, "made without a browser, which did not print the deck: it may look different from the screen")
		return Embedded{}.PDF(ctx, d, o)
	}
	return data, err
}

// share is the part of the time there is that the browser has. The embedded renderer needs little.
func share(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)*3/4)
}

// Still draws a slide, or a card that names it where there is no browser that can.
func (a Auto) Still(ctx context.Context, d *Deck, slide int) (*Still, error) {
	if a.Browser == nil {
		return Card(ctx, d, slide)
	}
	limited, cancel := share(ctx)
	defer cancel()
	got, err := a.Browser.Still(limited, d, slide)
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil {
		return Card(ctx, d, slide)
	}
	return got, err
}
