package deck

import "catena/rest"

// PictureRoutes are the addresses of pictures that pages of decks show.
func PictureRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/decks/:username/:slug/files/:number/:name", Access: rest.Visitor, Handle: deckFile},
		{Method: "GET", Path: "/decks/:username/:slug/thumbnail", Access: rest.Visitor, Handle: pageThumbnail},
		{Method: "GET", Path: "/share/:token/files/:number/:name", Access: rest.Visitor, Handle: shareFile},
		{Method: "GET", Path: "/share/:token/thumbnail", Access: rest.Visitor, Handle: shareThumbnail},
	}
}

// deckFile sends a picture of a deck to anyone who may see the deck.
func deckFile(x *rest.Request) error {
	p, err := x.Named("username", "slug", "number", "name")
	if err != nil {
		return err
	}
	p["key"] = x.Query().Get("key")
	return sendPictureFile(x, p)
}

// shareFile sends a picture of a deck to anyone who has a private link to it.
func shareFile(x *rest.Request) error {
	p, err := x.Named("token", "number", "name")
	if err != nil {
		return err
	}
	p["pass"] = x.Query().Get("pass")
	return sendPictureFile(x, p)
}

// pageThumbnail sends the picture of a slide to anyone who may see the deck.
func pageThumbnail(x *rest.Request) error {
	p, err := x.Named("username", "slug")
	if err != nil {
		return err
	}
	p["key"] = x.Query().Get("key")
	return sendThumbnail(x, p)
}

// shareThumbnail sends the picture of a slide to anyone who has a private link to the deck.
func shareThumbnail(x *rest.Request) error {
	p, err := x.Named("token")
	if err != nil {
		return err
	}
	p["pass"] = x.Cookie(rest.ShareCookie)
	return sendThumbnail(x, p)
}
