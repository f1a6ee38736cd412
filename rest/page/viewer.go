package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/decks/field"
	"catena/engine"
	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

// Operations that pages of decks are made of.
const (
	opView  = "Deck.View"
	opShare = "Deck.OpenShare"
)

// showing answers with something of a deck that the viewer may see; still says whether that is so later on.
type showing func(x *rest.Request, d *web.Deck, still func() error) error

// deckPage makes the handler of what a deck's address shows.
func deckPage(show showing) rest.HandlerFunc {
	return func(x *rest.Request) error {
		d, err := viewDeck(x)
		if err != nil {
			return err
		}
		user, slug := d.Username, d.Path[strings.LastIndexByte(d.Path, '/')+1:]
		if slug, err = url.PathUnescape(slug); err != nil {
			return err
		}
		still := func() error {
			_, err := object(x, opView, rest.Values{"username": user, "slug": slug, "probe": true})
			return err
		}
		return show(x, d, still)
	}
}

// ownPage makes the handler of a page for the owner of a deck alone.
func ownPage(make func(web.Site, *web.Deck) (*web.Page, error)) rest.HandlerFunc {
	return func(x *rest.Request) error {
		d, err := viewDeck(x)
		if x.Guest() && (err == nil || fault.Is(err, fault.NotFound)) {
			return x.See("/ui/login?next=" + url.QueryEscape(x.Site().Page))
		}
		if err != nil {
			return err
		}
		if !d.Editable {
			return fault.Denied.Errorf("only the owner of the deck may see this page")
		}
		p, err := make(x.Site(), d)
		return x.Show(http.StatusOK, p, err)
	}
}

// viewDeck reads the deck of the address for the caller.
func viewDeck(x *rest.Request) (*web.Deck, error) {
	user, err := x.Param("username")
	if err != nil {
		return nil, err
	}
	slug, err := x.Param("slug")
	if err != nil {
		return nil, err
	}
	m, err := object(x, opView, rest.Values{"username": user, "slug": slug, "base": x.Host()})
	if err != nil {
		return nil, err
	}
	return deckOf(m, "/decks/"+url.PathEscape(user)+"/"+url.PathEscape(slug)), nil
}

// object runs an operation whose result is an object.
func object(x *rest.Request, op string, p rest.Values) (rest.Values, error) {
	return called(x, engine.Call{Op: op, Params: p})
}

// called is object for a call that names more than an operation, such as for whom it is.
func called(x *rest.Request, call engine.Call) (rest.Values, error) {
	v, err := x.DeckValue(call)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Internal.Errorf("%s: %T is not an object", call.Op, v)
	}
	return m, nil
}

// deckOf takes the result of an operation apart.
func deckOf(m rest.Values, path string) *web.Deck {
	data, _ := m["data"].(map[string]any)
	owner, _ := data["owner"].(map[string]any)
	origins, _ := field.ParseOrigins(rest.Member[string](data, "embed_origins"))
	return &web.Deck{
		EmbedOrigins: origins,
		ID:           rest.Member[int64](data, "id"), Title: rest.Member[string](data, "title"), Description: rest.Member[string](data, "description"),
		Owner: rest.Member[string](owner, "name"), Username: rest.Member[string](owner, "username"), Path: path,
		Public: rest.Member[string](data, "visibility") == "all", Editable: rest.Member[bool](data, "editable"),
		Slides: rest.Member[int64](data, "slide_count"), HTML: rest.Member[string](data, "html"), CSS: rest.Member[string](data, "css_output"),
		Width: rest.Member[int64](data, "width"), Height: rest.Member[int64](data, "height"),
		RTL: rest.Member[bool](data, "rtl"), Options: revealOptions(data),
		Color: rest.Member[string](data, "theme_color"), Font: rest.Member[string](data, "theme_font"), Language: rest.Member[string](data, "language"),
		Thumbnail: rest.Member[string](data, "thumbnail_url"), FilesQuery: rest.Member[string](data, "files_query"),
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

// showDeck is the page of a deck.
func showDeck(x *rest.Request, d *web.Deck, _ func() error) error {
	if x.Query().Has("print-pdf") {
		return x.See(d.Path + "/fullscreen?print-pdf")
	}
	listed(x, d)
	p, err := x.Site().View(d, x.HTTP.URL.RawQuery)
	return x.Show(http.StatusOK, p, err)
}

// showSlides is the sandboxed document with the slides.
func showSlides(x *rest.Request, d *web.Deck, _ func() error) error {
	listed(x, d)
	p, err := x.Site().Slides(d, web.SlideOptions{Frame: web.Frame(x.Query().Get("frame")), Print: x.Query().Has("print-pdf"), Sources: x.Server.DeckSources})
	return x.Show(http.StatusOK, p, err)
}

// listed keeps search engines away from what is not for everyone.
func listed(x *rest.Request, d *web.Deck) {
	if !d.Public {
		x.Writer.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
}

// sharePage makes the handler of what a private link shows.
func sharePage(show showing) rest.HandlerFunc {
	return func(x *rest.Request) error {
		token, err := x.Param("token")
		if err != nil {
			return err
		}
		x.Writer.Header().Set("X-Robots-Tag", "noindex, nofollow")
		m, err := object(x, opShare, rest.Values{
			"token": token, "pass": x.Cookie(rest.ShareCookie), "count": countsAsView(x), "agent": x.HTTP.UserAgent(),
			"referrer": x.HTTP.Referer(), "base": x.Host(),
		})
		if err != nil {
			return err
		}
		if locked := rest.Member[string](m, "locked"); locked != "" {
			return askPassword(x, token, locked, m)
		}
		d := deckOf(m, "/share/"+url.PathEscape(token))
		d.Editable, d.Shared, d.Public = false, true, false
		still := func() error {
			m, err := object(x, opShare, rest.Values{"token": token, "pass": x.Cookie(rest.ShareCookie), "probe": true})
			if locked := rest.Member[string](m, "locked"); err == nil && locked != "" {
				err = fault.Denied.Errorf("share link: %s", locked)
			}
			return err
		}
		return show(x, d, still)
	}
}

// countsAsView reports whether a request is somebody's looking at a deck: not a probe, nor a part
// of a page that was counted, nor a following of the presenter.
func countsAsView(x *rest.Request) bool {
	_, live := rest.Under(x.Route.Path, "/share/:token/live")
	return x.HTTP.Method == http.MethodGet && !live && !x.Query().Has("frame")
}

// askPassword is the page that asks for the password of a private link.
func askPassword(x *rest.Request, token, locked string, m rest.Values) error {
	f := &web.Form{Action: x.Prefix() + "/share/" + url.PathEscape(token)}
	status := http.StatusUnauthorized
	switch locked {
	case "wrong_password":
		f.Message = "Wrong password."
	case "too_many_tries":
		status = http.StatusTooManyRequests
		f.Message = "Too many wrong passwords. Wait a minute and try again."
		x.Writer.Header().Set("Retry-After", fmtInt(rest.Member[int64](m, "retry_after")))
	}
	p, err := x.Site().Password(f)
	return x.Show(status, p, err)
}

// unlockShare takes the password of a private link. Who knows it gets a cookie that is good
// for this link only.
func unlockShare(x *rest.Request) error {
	token, err := x.Param("token")
	if err != nil {
		return err
	}
	f, err := x.Form()
	if err != nil {
		return err
	}
	m, err := object(x, opShare, rest.Values{"token": token, "password": f.Get("password")})
	if err != nil {
		return err
	}
	if locked := rest.Member[string](m, "locked"); locked != "" {
		return askPassword(x, token, locked, m)
	}
	path := "/share/" + url.PathEscape(token)
	if pass := rest.Member[string](m, "pass"); pass != "" {
		x.SetCookie(rest.ShareCookie, pass, x.Prefix()+path, time.Time{})
	}
	return x.See(path)
}
