package rest

import (
	"net/http"
	"net/url"
	"strings"

	"catena/rest/web"
)

const (
	opBrowse     = "Deck.Browse"
	cardsPerPage = 24
)

// ownDecks is the console's first page.
func ownDecks(x *exchange) error {
	if x.guest() {
		return x.see("/ui/login?next=" + url.QueryEscape(x.site().Page))
	}
	q := x.query()
	l, err := x.browse(values{"words": q.Get("words"), "trashed": q.Has("trash")})
	if err != nil {
		return err
	}
	l.Words, l.Trash = q.Get("words"), q.Has("trash")
	p, err := x.site().Decks(l)
	return x.page(http.StatusOK, p, err)
}

// profile is the page of a user's decks for everyone.
func profile(x *exchange) error {
	user, err := x.param("username")
	if err != nil {
		return err
	}
	l, err := x.browse(values{"username": user})
	if err != nil {
		return err
	}
	p, err := x.site().Profile(l)
	return x.page(http.StatusOK, p, err)
}

// browse reads the page of decks that the address names.
func (x *exchange) browse(p values) (*web.Listing, error) {
	page := 1
	if text := x.query().Get("page"); text != "" {
		n, err := number("page", text)
		if err != nil {
			return nil, err
		}
		page = n
	}
	p["page"], p["per_page"], p["base"] = page, cardsPerPage, x.host()
	m, err := x.object(opBrowse, p)
	if err != nil {
		return nil, err
	}
	owner, _ := m["owner"].(map[string]any)
	meta, _ := m["meta"].(map[string]any)
	l := &web.Listing{
		Owner: member[string](owner, "name"), Username: member[string](owner, "username"), Page: int64(page), More: member[bool](meta, "more"),
	}
	data, _ := m["data"].([]any)
	for _, item := range data {
		if card, ok := item.(map[string]any); ok {
			l.Cards = append(l.Cards, x.card(card))
		}
	}
	return l, nil
}

func (x *exchange) card(m map[string]any) web.Card {
	picture, ok := strings.CutPrefix(member[string](m, "thumbnail_url"), x.host())
	if ok { // by the name that the page was asked for, whose policy lets nothing else in
		picture = x.prefix() + picture + "&card=0"
	}
	return web.Card{
		ID: member[int64](m, "id"), Title: member[string](m, "title"), Description: member[string](m, "description"),
		Path: strings.TrimPrefix(member[string](m, "url"), x.host()), Color: member[string](m, "theme_color"), Font: member[string](m, "theme_font"),
		Visibility: member[string](m, "visibility"), Thumbnail: picture, Slides: member[int64](m, "slide_count"),
		Updated: member[string](m, "updated_at"), Trashed: member[string](m, "trashed_at"),
	}
}
