package rest

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/decks/field"
	"catena/engine"
	"catena/rest/web"
	"catena/storage/fault"
)

// Operations that pages of decks are made of.
const (
	opView  = "Deck.View"
	opShare = "Deck.OpenShare"
)

const shareCookie = "catena_share"

// showing answers with something of a deck that the viewer may see.
type showing func(x *exchange, d *web.Deck) error

// deckPage makes the handler of what a deck's address shows.
func deckPage(show showing) handler {
	return func(x *exchange) error {
		d, err := x.viewDeck()
		if err != nil {
			return err
		}
		user, slug := d.Username, d.Path[strings.LastIndexByte(d.Path, '/')+1:]
		if slug, err = url.PathUnescape(slug); err != nil {
			return err
		}
		x.again = func() error {
			_, err := x.object(opView, values{"username": user, "slug": slug, "probe": true})
			return err
		}
		return show(x, d)
	}
}

// ownPage makes the handler of a page for the owner of a deck alone.
func ownPage(make func(web.Site, *web.Deck) (*web.Page, error)) handler {
	return func(x *exchange) error {
		d, err := x.viewDeck()
		if x.guest() && (err == nil || fault.Is(err, fault.NotFound)) {
			return x.see("/ui/login?next=" + url.QueryEscape(x.site().Page))
		}
		if err != nil {
			return err
		}
		if !d.Editable {
			return fault.Denied.Errorf("only the owner of the deck has this page")
		}
		p, err := make(x.site(), d)
		return x.page(http.StatusOK, p, err)
	}
}

// viewDeck reads the deck of the address for whoever asks.
func (x *exchange) viewDeck() (*web.Deck, error) {
	user, err := x.param("username")
	if err != nil {
		return nil, err
	}
	slug, err := x.param("slug")
	if err != nil {
		return nil, err
	}
	m, err := x.object(opView, values{"username": user, "slug": slug, "base": x.host()})
	if err != nil {
		return nil, err
	}
	return deckOf(m, "/decks/"+url.PathEscape(user)+"/"+url.PathEscape(slug)), nil
}

// object runs an operation whose result is an object.
func (x *exchange) object(op string, p values) (values, error) {
	res, err := x.s.Engine.Run(x.r.Context(), engine.Call{Op: op, Params: p, As: x.as, Door: x.door(), RequestID: x.id})
	if err != nil {
		return nil, err
	}
	m, ok := res.Value.(map[string]any)
	if !ok {
		return nil, fault.Internal.Errorf("%s: %T is no object", op, res.Value)
	}
	return m, nil
}

// deckOf takes the result of an operation apart.
func deckOf(m values, path string) *web.Deck {
	data, _ := m["data"].(map[string]any)
	owner, _ := data["owner"].(map[string]any)
	return &web.Deck{
		ID: member[int64](data, "id"), Title: member[string](data, "title"), Description: member[string](data, "description"),
		Owner: member[string](owner, "name"), Username: member[string](owner, "username"), Path: path,
		Public: member[string](data, "visibility") == "all", Editable: member[bool](data, "editable"),
		Slides: member[int64](data, "slide_count"), HTML: member[string](data, "html"), CSS: member[string](data, "css_output"),
		Width: member[int64](data, "width"), Height: member[int64](data, "height"),
		RTL: member[bool](data, "rtl"), Options: revealOptions(data),
		Color: member[string](data, "theme_color"), Font: member[string](data, "theme_font"), Language: member[string](data, "language"),
		Thumbnail: member[string](data, "thumbnail_url"), FilesQuery: member[string](data, "files_query"),
	}
}

// revealOptions are the options of reveal.js that the fields of a deck set.
func revealOptions(data map[string]any) map[string]any {
	out := map[string]any{}
	for i := range field.Fields {
		if f := &field.Fields[i]; f.Option != "" {
			out[f.Option] = data[f.Name]
		}
	}
	return out
}

// member reads one member of an object; the zero value stands for none.
func member[T any](m map[string]any, name string) T {
	v, _ := m[name].(T)
	return v
}

// showDeck is the page of a deck.
func showDeck(x *exchange, d *web.Deck) error {
	if x.query().Has("print-pdf") {
		return x.see(d.Path + "/fullscreen?print-pdf")
	}
	x.listed(d)
	p, err := x.site().View(d, x.r.URL.RawQuery)
	return x.page(http.StatusOK, p, err)
}

// showSlides is the sandboxed document with the slides.
func showSlides(x *exchange, d *web.Deck) error {
	x.listed(d)
	p, err := x.site().Slides(d, web.SlideOptions{Frame: web.Frame(x.query().Get("frame")), Print: x.query().Has("print-pdf"), Sources: x.s.DeckSources})
	return x.page(http.StatusOK, p, err)
}

// listed keeps search engines away from what is not for everyone.
func (x *exchange) listed(d *web.Deck) {
	if !d.Public {
		x.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
}

// sharePage makes the handler of what a private link shows.
func sharePage(show showing) handler {
	return func(x *exchange) error {
		token, err := x.param("token")
		if err != nil {
			return err
		}
		x.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		m, err := x.object(opShare, values{
			"token": token, "pass": x.cookie(shareCookie), "count": x.looks(), "agent": x.r.UserAgent(),
			"referrer": x.r.Referer(), "base": x.host(),
		})
		if err != nil {
			return err
		}
		if locked := member[string](m, "locked"); locked != "" {
			return x.askPassword(token, locked, m)
		}
		d := deckOf(m, "/share/"+url.PathEscape(token))
		d.Editable, d.Shared, d.Public = false, true, false
		x.again = func() error {
			m, err := x.object(opShare, values{"token": token, "pass": x.cookie(shareCookie), "probe": true})
			if locked := member[string](m, "locked"); err == nil && locked != "" {
				err = fault.Denied.Errorf("share link: %s", locked)
			}
			return err
		}
		return show(x, d)
	}
}

// looks reports whether a request is somebody's looking at a deck: not a probe, nor a part
// of a page that was counted, nor a following of the presenter.
func (x *exchange) looks() bool {
	_, live := under(x.route.path, "/share/:token/live")
	return x.r.Method == http.MethodGet && !live && !x.query().Has("frame")
}

// askPassword is the page that asks for the password of a private link.
func (x *exchange) askPassword(token, locked string, m values) error {
	f := &web.Form{Action: x.prefix() + "/share/" + url.PathEscape(token)}
	status := http.StatusUnauthorized
	switch locked {
	case "wrong_password":
		f.Message = "That is not the password."
	case "too_many_tries":
		status = http.StatusTooManyRequests
		f.Message = "Too many wrong passwords. Wait a minute and try again."
		x.w.Header().Set("Retry-After", fmtInt(member[int64](m, "retry_after")))
	}
	p, err := x.site().Password(f)
	return x.page(status, p, err)
}

// unlockShare takes the password of a private link. Who knows it gets a cookie that is good
// for this link only.
func unlockShare(x *exchange) error {
	token, err := x.param("token")
	if err != nil {
		return err
	}
	f, err := x.form()
	if err != nil {
		return err
	}
	m, err := x.object(opShare, values{"token": token, "password": f.Get("password")})
	if err != nil {
		return err
	}
	if locked := member[string](m, "locked"); locked != "" {
		return x.askPassword(token, locked, m)
	}
	path := "/share/" + url.PathEscape(token)
	if pass := member[string](m, "pass"); pass != "" {
		x.setCookie(shareCookie, pass, x.prefix()+path, time.Time{})
	}
	return x.see(path)
}
