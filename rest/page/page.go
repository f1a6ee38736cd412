// Package page shows the pages for people.
package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

// Routes are the pages for people, of a server until it is done.
func Routes(done <-chan struct{}) []rest.Route {
	live := newStages(done)
	return []rest.Route{
		{Method: "GET", Path: "/", Access: rest.Visitor, Handle: func(x *rest.Request) error { return x.See("/ui/") }},
		{Method: "GET", Path: "/assets/:version/*name", Access: rest.Open, Handle: asset},
		{Method: "GET", Path: "/decks/:username", Access: rest.Visitor, Handle: profile},
		{Method: "GET", Path: "/decks/:username/:slug", Access: rest.Visitor, Handle: deckPage(showDeck)},
		{Method: "GET", Path: "/decks/:username/:slug/edit", Access: rest.Visitor, Handle: ownPage(web.Site.Edit)},
		{Method: "GET", Path: "/decks/:username/:slug/files/:number/:name", Access: rest.Visitor, Handle: deckFile},
		{Method: "GET", Path: "/decks/:username/:slug/fullscreen", Access: rest.Visitor, Handle: deckPage(showSlides)},
		{Method: "GET", Path: "/decks/:username/:slug/live", Access: rest.Visitor, Handle: deckPage(live.follow)},
		{Method: "POST", Path: "/decks/:username/:slug/live", Handle: deckPage(live.lead)},
		{Method: "GET", Path: "/decks/:username/:slug/present", Access: rest.Visitor, Handle: ownPage(web.Site.Present)},
		{Method: "GET", Path: "/decks/:username/:slug/share", Access: rest.Visitor, Handle: ownPage(web.Site.Share)},
		{Method: "GET", Path: "/decks/:username/:slug/thumbnail", Access: rest.Visitor, Handle: pageThumbnail},
		{Method: "GET", Path: "/share/:token", Access: rest.Visitor, Handle: sharePage(showDeck)},
		{Method: "POST", Path: "/share/:token", Access: rest.Visitor, Body: rest.FormBody, Handle: unlockShare},
		{Method: "GET", Path: "/share/:token/files/:number/:name", Access: rest.Visitor, Handle: shareFile},
		{Method: "GET", Path: "/share/:token/fullscreen", Access: rest.Visitor, Handle: sharePage(showSlides)},
		{Method: "GET", Path: "/share/:token/live", Access: rest.Visitor, Handle: sharePage(live.follow)},
		{Method: "GET", Path: "/share/:token/thumbnail", Access: rest.Visitor, Handle: shareThumbnail},
		{Method: "GET", Path: "/teams/:slug", Access: rest.Visitor, Handle: func(x *rest.Request) error { return x.See("/ui/team") }},
		{Method: "GET", Path: "/ui", Access: rest.Visitor, Handle: ownDecks},
		{Method: "GET", Path: "/ui/activity", Access: rest.Visitor, Handle: console("activity")},
		{Method: "GET", Path: "/ui/documents", Access: rest.Visitor, Handle: console("documents")},
		{Method: "GET", Path: "/ui/keys", Access: rest.Visitor, Handle: console("keys")},
		{Method: "GET", Path: "/icons/:name", Access: rest.Open, Handle: seeIcon},
		{Method: "GET", Path: "/ui/login", Access: rest.Visitor, Handle: signInForm},
		{Method: "POST", Path: "/ui/login", Access: rest.Visitor, Body: rest.FormBody, Handle: openSession},
		{Method: "POST", Path: "/ui/logout", Access: rest.Visitor, Body: rest.FormBody, Handle: closeSession},
		{Method: "GET", Path: "/ui/operations", Access: rest.Visitor, Handle: console("operations")},
		{Method: "GET", Path: "/ui/runs", Access: rest.Visitor, Handle: console("runs")},
		{Method: "GET", Path: "/ui/tasks", Access: rest.Visitor, Handle: console("tasks")},
		{Method: "GET", Path: "/ui/team", Access: rest.Visitor, Handle: console("team")},
		{Method: "GET", Path: "/ui/webhooks", Access: rest.Visitor, Handle: console("webhooks")},
	}
}

// Holds reports whether people look at an address, who want to read why it fails.
func Holds(path string) bool {
	for _, p := range [...]string{"/decks", "/docs", "/share", "/ui"} {
		if _, ok := rest.Under(path, p); ok {
			return !strings.HasSuffix(path, "/live")
		}
	}
	return false
}

// Site is what every page knows of where it stands.
func Site(x *rest.Request) web.Site {
	s := web.Site{Prefix: x.Prefix(), Host: x.Host()}
	if at := rest.Locate(x.Server.ContextPath, x.HTTP.URL.EscapedPath()); at.Path != "" {
		s.Page = at.Path
	}
	if x.As != nil && !x.Guest() {
		s.User = x.As.Name
	}
	if x.Session != "" {
		s.CSRF = rest.CSRFOf(x.Session)
	}
	return s
}

// Show answers with a page.
func Show(x *rest.Request, status int, p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	h := x.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Cookie")
	writePage(x, p, &rest.Answer{Status: status})
	return nil
}

// showPublic answers with a page that is the same for everybody, which anybody on the way may keep for an hour.
func showPublic(x *rest.Request, p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	x.Writer.Header().Set("Cache-Control", "public, max-age=3600")
	writePage(x, p, &rest.Answer{Status: http.StatusOK, Etag: fmt.Sprintf("%q", p.Tag())})
	return nil
}

func writePage(x *rest.Request, p *web.Page, a *rest.Answer) {
	h := x.Writer.Header()
	h.Set("Content-Security-Policy", p.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	a.Mime, a.Body = "text/html; charset=utf-8", p.Body
	x.Write(a)
}

// Fail says to people why a page cannot be shown.
func Fail(x *rest.Request, err error) error {
	status := rest.StatusOf(err)
	problem := &web.Problem{Status: status}
	switch {
	case status == http.StatusGone:
		problem.Title, problem.Message = "This link has expired", "Ask the person who sent it to you for a new one."
	case status == http.StatusNotFound:
		problem.Title, problem.Message = "Page not found", "The address is wrong, the page was removed, or you may not see it."
		_, shared := rest.Under(rest.Locate(x.Server.ContextPath, x.HTTP.URL.Path).Path, "/share")
		problem.SignIn = !shared && (x.As == nil || x.Guest())
	case status >= http.StatusInternalServerError:
		problem.Title, problem.Message = http.StatusText(status), "Something went wrong on our side. Request "+x.ID+"."
		x.Report(status, "request failed", err)
	case status == http.StatusForbidden:
		problem.Title, problem.Message = "Access denied", Sentence(rest.Message(err, ""))
	default:
		problem.Title, problem.Message = http.StatusText(status), Sentence(rest.Message(err, ""))
	}
	if fault.CodeOf(err) == fault.CodeNotBuiltIn {
		problem.Message = Sentence(rest.Message(err, ""))
	}
	x.Wait(status, err)
	p, err := Site(x).Fail(problem)
	return Show(x, status, p, err)
}

// Sentence makes one of an error's message.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(text[n:], ".") + "."
}

// console makes the handler of a page of the console.
func console(name string) rest.HandlerFunc {
	return func(x *rest.Request) error {
		if x.Guest() {
			return x.See("/ui/login?next=" + url.QueryEscape(Site(x).Page))
		}
		p, err := Site(x).Console(name)
		return Show(x, http.StatusOK, p, err)
	}
}

// asset answers with a built-in file. Its address changes when any of them does, so browsers
// may keep it for ever. They are no secret: the sandboxed documents of decks, which have no
// origin, load them too.
func asset(x *rest.Request) error {
	name, err := x.Param("name")
	if err != nil {
		return err
	}
	version, err := x.Param("version")
	if err != nil {
		return err
	}
	a, err := web.AssetOf(name)
	if err != nil {
		return err
	}
	h := x.Writer.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if "/assets/"+version+"/" != web.Assets() {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", rest.NoScripts[0])
	h.Add("Vary", "Accept-Encoding")
	body, tag := a.Body, a.Tag
	if a.Gzip != nil && acceptsGzip(x.HTTP.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = a.Gzip, a.Tag+"-z"
	}
	x.Write(&rest.Answer{Status: http.StatusOK, Mime: a.Mime, Body: body, Etag: fmt.Sprintf("%q", tag)})
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
