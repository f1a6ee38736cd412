package page

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

// oembed describes a deck to a site that wants to show it where somebody writes its address (oEmbed 1.0). Decks that may
// be embedded are of the type rich, others are links. The rights of a guest decide, since the answer is for a page that
// others read.
func oembed(x *rest.Request) error {
	q := x.Query()
	switch q.Get("format") {
	case "", "json":
	default:
		return x.Text(http.StatusNotImplemented, "Only format=json is available.\n") // the status that oEmbed wants
	}
	d, err := embeddable(x, q.Get("url"))
	if err != nil {
		return err
	}
	width, height, err := embedSize(d, q)
	if err != nil {
		return err
	}
	out := map[string]any{
		"version": "1.0", "type": "link", "title": d.Title, "provider_name": "catena", "provider_url": x.Host() + "/",
		"author_name": d.Owner, "cache_age": 3600,
	}
	if d.Public {
		out["author_url"] = x.Host() + "/decks/" + url.PathEscape(d.Username)
	}
	if len(d.EmbedOrigins) > 0 {
		out["type"], out["width"], out["height"] = "rich", width, height
		out["html"] = fmt.Sprintf(`<iframe src="%s" width="%d" height="%d" title="%s" style="border:0" allow="fullscreen" loading="lazy"></iframe>`,
			html.EscapeString(x.Host()+d.Path+"/fullscreen"), width, height, html.EscapeString(d.Title))
	}
	return x.JSON(http.StatusOK, out)
}

// embeddable reads the deck at an address of this server for a guest.
func embeddable(x *rest.Request, address string) (*web.Deck, error) {
	missing := fault.NotFound.Errorf("url %.200q: is not the address of a deck that everyone may see, or of a private link", address)
	at, under := strings.CutPrefix(address, x.Host()+"/")
	if !under {
		return nil, missing
	}
	at, _, _ = strings.Cut(at, "#")
	at, _, _ = strings.Cut(at, "?")
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(at, "/"), "/fullscreen"), "/")
	for i := range parts {
		var err error
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return nil, missing
		}
	}
	guest := engine.Call{As: x.Server.Engine.Guest()}
	var m rest.Values
	var err error
	switch {
	case len(parts) == 3 && parts[0] == "decks":
		guest.Op, guest.Params = opView, rest.Values{"username": parts[1], "slug": parts[2], "base": x.Host()}
	case len(parts) == 2 && parts[0] == "share":
		guest.Op, guest.Params = opShare, rest.Values{"token": parts[1], "base": x.Host()}
	default:
		return nil, missing
	}
	if m, err = called(x, guest); err != nil {
		return nil, err
	}
	if rest.Member[string](m, "locked") != "" {
		return nil, fault.Denied.Errorf("url: the private link has a password").In("url")
	}
	if parts[0] == "share" {
		d := deckOf(m, "/share/"+url.PathEscape(parts[1]))
		d.Public = false
		return d, nil
	}
	return deckOf(m, "/decks/"+url.PathEscape(parts[1])+"/"+url.PathEscape(parts[2])), nil
}

// embedSize is the size of a frame for the deck: its own, within what the consumer has room for, in its proportions.
func embedSize(d *web.Deck, q url.Values) (width, height int64, err error) {
	width, height = d.Width, d.Height // at least 1: decks that set none have those of the schema
	for _, side := range [...]struct {
		name string
		size *int64
		rest *int64
	}{{"maxwidth", &width, &height}, {"maxheight", &height, &width}} {
		if !q.Has(side.name) {
			continue
		}
		most, err := strconv.ParseInt(q.Get(side.name), 10, 32)
		if err != nil || most < 1 {
			return 0, 0, fault.Invalid.Errorf("%s: %.20q is not a number of pixels", side.name, q.Get(side.name)).In(side.name)
		}
		if *side.size > most {
			*side.rest = max(1, *side.rest*most / *side.size)
			*side.size = most
		}
	}
	return width, height, nil
}
