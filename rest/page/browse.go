package page

import (
	"net/http"
	"net/url"
	"strings"

	"catena/rest"
	"catena/rest/web"
)

const (
	opBrowse     = "Deck.Browse"
	cardsPerPage = 24
)

// ownDecks is the console's first page.
func ownDecks(x *rest.Request) error {
	if x.Guest() {
		return x.See("/ui/login?next=" + url.QueryEscape(x.Site().Page))
	}
	q := x.Query()
	l, err := browse(x, rest.Values{"words": q.Get("words"), "trashed": q.Has("trash")})
	if err != nil {
		return err
	}
	l.Words, l.Trash = q.Get("words"), q.Has("trash")
	p, err := x.Site().Decks(l)
	return x.Show(http.StatusOK, p, err)
}

// profile is the page of a user's decks for everyone.
func profile(x *rest.Request) error {
	user, err := x.Param("username")
	if err != nil {
		return err
	}
	l, err := browse(x, rest.Values{"username": user})
	if err != nil {
		return err
	}
	p, err := x.Site().Profile(l)
	return x.Show(http.StatusOK, p, err)
}

// browse reads the page of decks that the address names.
func browse(x *rest.Request, p rest.Values) (*web.Listing, error) {
	page := 1
	if text := x.Query().Get("page"); text != "" {
		n, err := rest.Number("page", text)
		if err != nil {
			return nil, err
		}
		page = n
	}
	p["page"], p["per_page"], p["base"] = page, cardsPerPage, x.Host()
	m, err := object(x, opBrowse, p)
	if err != nil {
		return nil, err
	}
	owner, _ := m["owner"].(map[string]any)
	meta, _ := m["meta"].(map[string]any)
	l := &web.Listing{
		Owner: rest.Member[string](owner, "name"), Username: rest.Member[string](owner, "username"), Page: int64(page), More: rest.Member[bool](meta, "more"),
	}
	data, _ := m["data"].([]any)
	for _, item := range data {
		if card, ok := item.(map[string]any); ok {
			l.Cards = append(l.Cards, cardOf(x, card))
		}
	}
	return l, nil
}

func cardOf(x *rest.Request, m map[string]any) web.Card {
	picture, ok := strings.CutPrefix(rest.Member[string](m, "thumbnail_url"), x.Host())
	if ok { // by the name that the page was asked for, whose policy lets nothing else in
		picture = x.Prefix() + picture + "&card=0"
	}
	return web.Card{
		ID: rest.Member[int64](m, "id"), Title: rest.Member[string](m, "title"), Description: rest.Member[string](m, "description"),
		Path: strings.TrimPrefix(rest.Member[string](m, "url"), x.Host()), Color: rest.Member[string](m, "theme_color"), Font: rest.Member[string](m, "theme_font"),
		Visibility: rest.Member[string](m, "visibility"), Thumbnail: picture, Slides: rest.Member[int64](m, "slide_count"),
		Updated: rest.Member[string](m, "updated_at"), Trashed: rest.Member[string](m, "trashed_at"),
	}
}
