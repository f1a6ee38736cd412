package share

import (
	"strings"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// shape is a link as the service shows it to its owner.
func (l *link) shape(c *engine.Ctx, v deck.View, d *storage.Doc) map[string]any {
	address := v.Base + "/share/" + l.token(c.Tx, d.ID())
	return map[string]any{
		"id":                 l.ID,
		"deck_id":            deck.Number(d),
		"name":               l.Name,
		"url":                address,
		"urls":               map[string]any{"default": address, "fullscreen": address + "/fullscreen"},
		"password_protected": l.Password != "",
		"expires_at":         deck.StampOrNone(l.Expires),
		"expired":            l.expired(c.Now),
		"notify_on_view":     l.Notify,
		"view_count":         l.Views,
		"first_viewed_at":    deck.StampOrNone(l.FirstViewed),
		"created_at":         deck.Stamp(l.Created),
	}
}

// instant reads a moment with its zone.
func instant(field, text string) (time.Time, error) {
	// RFC 3339 allows t and z in lower case, the time package does not.
	at, err := time.Parse(time.RFC3339Nano, strings.ToUpper(strings.TrimSpace(text)))
	if err != nil {
		return at, deck.Invalid(field, fault.CodeInvalidValue, "%s: %.40q is not a date-time with a time zone, such as 2030-01-31T12:00:00Z", field, text)
	}
	// Results show milliseconds, and the link is to end at the very time that is shown.
	return at.UTC().Truncate(time.Millisecond), nil
}
