package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/rest/web"
	"catena/storage/fault"
)

// pageRoutes are the pages for people, of a server until it is done.
func pageRoutes(done <-chan struct{}) []route {
	live := newStages(done)
	return []route{
		{method: "GET", path: "/", access: visitor, handle: func(x *exchange) error { return x.see("/ui/") }},
		{method: "GET", path: "/assets/:version/*name", access: open, handle: asset},
		{method: "GET", path: "/decks/:username", access: visitor, handle: profile},
		{method: "GET", path: "/decks/:username/:slug", access: visitor, handle: deckPage(showDeck)},
		{method: "GET", path: "/decks/:username/:slug/edit", access: visitor, handle: ownPage(web.Site.Edit)},
		{method: "GET", path: "/decks/:username/:slug/files/:number/:name", access: visitor, handle: deckFile},
		{method: "GET", path: "/decks/:username/:slug/fullscreen", access: visitor, handle: deckPage(showSlides)},
		{method: "GET", path: "/decks/:username/:slug/live", access: visitor, handle: deckPage(live.follow)},
		{method: "POST", path: "/decks/:username/:slug/live", handle: deckPage(live.lead)},
		{method: "GET", path: "/decks/:username/:slug/present", access: visitor, handle: ownPage(web.Site.Present)},
		{method: "GET", path: "/decks/:username/:slug/share", access: visitor, handle: ownPage(web.Site.Share)},
		{method: "GET", path: "/decks/:username/:slug/thumbnail", access: visitor, handle: pageThumbnail},
		{method: "GET", path: "/share/:token", access: visitor, handle: sharePage(showDeck)},
		{method: "POST", path: "/share/:token", access: visitor, body: formBody, handle: unlockShare},
		{method: "GET", path: "/share/:token/files/:number/:name", access: visitor, handle: shareFile},
		{method: "GET", path: "/share/:token/fullscreen", access: visitor, handle: sharePage(showSlides)},
		{method: "GET", path: "/share/:token/live", access: visitor, handle: sharePage(live.follow)},
		{method: "GET", path: "/share/:token/thumbnail", access: visitor, handle: shareThumbnail},
		{method: "GET", path: "/teams/:slug", access: visitor, handle: func(x *exchange) error { return x.see("/ui/team") }},
		{method: "GET", path: "/ui", access: visitor, handle: ownDecks},
		{method: "GET", path: "/ui/activity", access: visitor, handle: console("activity")},
		{method: "GET", path: "/ui/documents", access: visitor, handle: console("documents")},
		{method: "GET", path: "/ui/keys", access: visitor, handle: console("keys")},
		{method: "GET", path: "/icons/:name", access: open, handle: seeIcon},
		{method: "GET", path: "/ui/login", access: visitor, handle: signInForm},
		{method: "POST", path: "/ui/login", access: visitor, body: formBody, handle: openSession},
		{method: "POST", path: "/ui/logout", access: visitor, body: formBody, handle: closeSession},
		{method: "GET", path: "/ui/operations", access: visitor, handle: console("operations")},
		{method: "GET", path: "/ui/runs", access: visitor, handle: console("runs")},
		{method: "GET", path: "/ui/tasks", access: visitor, handle: console("tasks")},
		{method: "GET", path: "/ui/team", access: visitor, handle: console("team")},
		{method: "GET", path: "/ui/webhooks", access: visitor, handle: console("webhooks")},
	}
}

// isPage reports whether people look at an address, who want to read why it fails.
func isPage(path string) bool {
	for _, p := range [...]string{"/decks", "/docs", "/share", "/ui"} {
		if _, ok := under(path, p); ok {
			return !strings.HasSuffix(path, "/live")
		}
	}
	return false
}

// prefix stands in front of the addresses in pages: what a proxy adds, not the context path.
func (x *exchange) prefix() string {
	if x.s.Base == "" {
		return ""
	}
	_, after, _ := strings.Cut(x.host(), "://")
	_, path, ok := strings.Cut(after, "/")
	if !ok {
		return ""
	}
	return "/" + path
}

// site is what every page knows of where it stands.
func (x *exchange) site() web.Site {
	s := web.Site{Prefix: x.prefix(), Host: x.host()}
	if at := locate(x.s.ContextPath, x.r.URL.EscapedPath()); at.path != "" {
		s.Page = at.path
	}
	if x.as != nil && !x.guest() {
		s.User = x.as.Name
	}
	if x.session != "" {
		s.CSRF = csrfOf(x.session)
	}
	return s
}

// page answers with a page.
func (x *exchange) page(status int, p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	h := x.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Cookie")
	x.writePage(p, &answer{status: status})
	return nil
}

// publicPage answers with a page that is the same for everybody, which anybody on the way may keep for an hour.
func (x *exchange) publicPage(p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	x.w.Header().Set("Cache-Control", "public, max-age=3600")
	x.writePage(p, &answer{status: http.StatusOK, etag: fmt.Sprintf("%q", p.Tag())})
	return nil
}

func (x *exchange) writePage(p *web.Page, a *answer) {
	h := x.w.Header()
	h.Set("Content-Security-Policy", p.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	a.mime, a.body = "text/html; charset=utf-8", p.Body
	x.write(a)
}

// askSignIn is the page that asks for user and password.
func (x *exchange) askSignIn(status int, next, name, message string) error {
	p, err := x.site().SignIn(&web.Form{Next: next, Name: name, Message: message})
	return x.page(status, p, err)
}

// failPage says to people why a page cannot be shown.
func (x *exchange) failPage(err error) error {
	status := statusOf(err)
	problem := &web.Problem{Status: status}
	switch {
	case status == http.StatusGone:
		problem.Title, problem.Message = "This link has expired", "Ask whoever sent it to you for a new one."
	case status == http.StatusNotFound:
		problem.Title, problem.Message = "There is nothing here", "The address is wrong, or what was here is gone, or you may not see it."
		_, shared := under(locate(x.s.ContextPath, x.r.URL.Path).path, "/share")
		problem.SignIn = !shared && (x.as == nil || x.guest())
	case status >= http.StatusInternalServerError:
		problem.Title, problem.Message = http.StatusText(status), "Something went wrong on our side. Request "+x.id+"."
		x.report(status, "request failed", err)
	case status == http.StatusForbidden:
		problem.Title, problem.Message = "Not yours to open", sentence(message(err, ""))
	default:
		problem.Title, problem.Message = http.StatusText(status), sentence(message(err, ""))
	}
	if fault.CodeOf(err) == fault.CodeNotBuiltIn {
		problem.Message = sentence(message(err, ""))
	}
	x.wait(status, err)
	p, err := x.site().Fail(problem)
	return x.page(status, p, err)
}

// sentence makes one of an error's message.
func sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(text[n:], ".") + "."
}

// console makes the handler of a page of the console.
func console(name string) handler {
	return func(x *exchange) error {
		if x.guest() {
			return x.see("/ui/login?next=" + url.QueryEscape(x.site().Page))
		}
		p, err := x.site().Console(name)
		return x.page(http.StatusOK, p, err)
	}
}

// asset answers with a built-in file. Its address changes when any of them does, so browsers
// may keep it for ever. They are no secret: the sandboxed documents of decks, which have no
// origin, load them too.
func asset(x *exchange) error {
	name, err := x.param("name")
	if err != nil {
		return err
	}
	version, err := x.param("version")
	if err != nil {
		return err
	}
	a, err := web.AssetOf(name)
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if "/assets/"+version+"/" != web.Assets() {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", noScripts[0])
	h.Add("Vary", "Accept-Encoding")
	body, tag := a.Body, a.Tag
	if a.Gzip != nil && acceptsGzip(x.r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = a.Gzip, a.Tag+"-z"
	}
	x.write(&answer{status: http.StatusOK, mime: a.Mime, body: body, etag: fmt.Sprintf("%q", tag)})
	return nil
}

func acceptsGzip(accept string) bool {
	for item := range strings.SplitSeq(accept, ",") {
		name, q, _ := strings.Cut(item, ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}
