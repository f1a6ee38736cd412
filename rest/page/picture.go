package page

import (
	"catena/rest"
	"catena/rest/deck"
)

// deckFile sends a picture of a deck to whoever may see the deck.
func deckFile(x *rest.Request) error {
	p, err := x.Named("username", "slug", "number", "name")
	if err != nil {
		return err
	}
	p["key"] = x.Query().Get("key")
	return deck.SendFile(x, p)
}

// shareFile sends a picture of a deck to whoever has a private link to it.
func shareFile(x *rest.Request) error {
	p, err := x.Named("token", "number", "name")
	if err != nil {
		return err
	}
	p["pass"] = x.Query().Get("pass")
	return deck.SendFile(x, p)
}

// pageThumbnail sends the picture of a slide to whoever may see the deck.
func pageThumbnail(x *rest.Request) error {
	p, err := x.Named("username", "slug")
	if err != nil {
		return err
	}
	p["key"] = x.Query().Get("key")
	return deck.SendThumbnail(x, p)
}

// shareThumbnail sends the picture of a slide to whoever has a private link to the deck.
func shareThumbnail(x *rest.Request) error {
	p, err := x.Named("token")
	if err != nil {
		return err
	}
	p["pass"] = x.Cookie(shareCookie)
	return deck.SendThumbnail(x, p)
}
