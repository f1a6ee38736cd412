// Package page serves the pages of the console: HTML rendered on the server from the templates of package web. A page
// runs operations with the rights of its user, or of a visitor who has a link, and decides nothing itself.
//
// Forms are answered with a redirection after success, so that reloading a page does not send them again, and
// carry the token of the session (CSRFOf).
package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

// Routes are the pages for people, of a server until it is done.
func Routes(done <-chan struct{}) []rest.Route {
	live := newStages(done)
	return []rest.Route{
		{Method: "GET", Path: "/", Access: rest.Visitor, Handle: func(x *rest.Request) error { return x.See(x.Home()) }},
		{Method: "GET", Path: "/assets/:version/*name", Access: rest.Open, Handle: asset},
		{Method: "GET", Path: "/decks/:username", Access: rest.Visitor, Handle: profile},
		{Method: "GET", Path: "/decks/:username/:slug", Access: rest.Visitor, Handle: deckPage(showDeck)},
		{Method: "GET", Path: "/decks/:username/:slug/edit", Access: rest.Visitor, Handle: ownPage(web.Site.Edit)},
		{Method: "GET", Path: "/decks/:username/:slug/fullscreen", Access: rest.Visitor, Handle: deckPage(showSlides)},
		{Method: "GET", Path: "/decks/:username/:slug/live", Access: rest.Visitor, Handle: deckPage(live.follow)},
		{Method: "POST", Path: "/decks/:username/:slug/live", Handle: deckPage(live.lead)},
		{Method: "GET", Path: "/decks/:username/:slug/present", Access: rest.Visitor, Handle: ownPage(web.Site.Present)},
		{Method: "GET", Path: "/decks/:username/:slug/share", Access: rest.Visitor, Handle: ownPage(web.Site.Share)},
		{Method: "POST", Path: "/login", Access: rest.Visitor, Body: rest.FormBody, Handle: openSession},
		{Method: "GET", Path: "/login.jsp", Access: rest.Visitor, Handle: signInForm},
		{Method: "GET", Path: "/logout", Access: rest.Visitor, Handle: leave},
		{Method: "GET", Path: "/oembed", Access: rest.Visitor, Handle: oembed},
		{Method: "GET", Path: "/share/:token", Access: rest.Visitor, Handle: sharePage(showDeck)},
		{Method: "POST", Path: "/share/:token", Access: rest.Visitor, Body: rest.FormBody, Handle: unlockShare},
		{Method: "GET", Path: "/share/:token/fullscreen", Access: rest.Visitor, Handle: sharePage(showSlides)},
		{Method: "GET", Path: "/share/:token/live", Access: rest.Visitor, Handle: sharePage(live.follow)},
		{Method: "GET", Path: "/teams/:slug", Access: rest.Visitor, Handle: func(x *rest.Request) error { return x.See("/ui/team") }},
		{Method: "GET", Path: "/ui", Access: rest.Visitor, Handle: ownDecks},
		{Method: "GET", Path: "/ui/account", Access: rest.Visitor, Handle: console("account")},
		{Method: "GET", Path: "/ui/activity", Access: rest.Visitor, Handle: console("activity")},
		{Method: "GET", Path: "/ui/admin", Access: rest.Visitor, Handle: consoleFor("admin", func(s *web.Site) bool { return s.People })},
		{Method: "GET", Path: "/ui/chains", Access: rest.Visitor, Handle: consoleFor("chains", byAdmin)},
		{Method: "GET", Path: "/ui/documents", Access: rest.Visitor, Handle: console("documents")},
		{Method: "GET", Path: "/ui/home", Access: rest.Visitor, Handle: console("home")},
		{Method: "GET", Path: "/ui/keys", Access: rest.Visitor, Handle: console("keys")},
		{Method: "GET", Path: "/icons/:name", Access: rest.Open, Handle: seeIcon},
		{Method: "GET", Path: "/ui/login", Access: rest.Visitor, Handle: signInForm},
		{Method: "POST", Path: "/ui/login", Access: rest.Visitor, Body: rest.FormBody, Handle: openSession},
		{Method: "POST", Path: "/ui/logout", Access: rest.Visitor, Body: rest.FormBody, Handle: closeSession},
		{Method: "GET", Path: "/ui/operations", Access: rest.Visitor, Handle: console("operations")},
		{Method: "GET", Path: "/ui/runs", Access: rest.Visitor, Handle: console("runs")},
		{Method: "GET", Path: "/ui/scripts", Access: rest.Visitor, Handle: consoleFor("scripts", byAdmin)},
		{Method: "GET", Path: "/ui/search", Access: rest.Visitor, Handle: console("search")},
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

// console makes the handler of a page of the console for everyone who has signed in.
func console(name string) rest.HandlerFunc {
	return consoleFor(name, func(*web.Site) bool { return true })
}

func byAdmin(s *web.Site) bool { return s.Admin }

// consoleFor makes the handler of a page of the console for those who may use what is on it. The operations behind it check that again:
// others would only see errors.
func consoleFor(name string, may func(*web.Site) bool) rest.HandlerFunc {
	return func(x *rest.Request) error {
		s := x.Site()
		if x.Guest() {
			return x.See("/ui/login?next=" + url.QueryEscape(s.Page))
		}
		if !may(&s) {
			return fault.Denied.New("this page is for administrators")
		}
		p, err := s.Console(name)
		return x.Show(http.StatusOK, p, err)
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
	for _, e := range a.Encoded {
		if rest.Accepts(x.HTTP.Header.Get("Accept-Encoding"), e.Coding) {
			h.Set("Content-Encoding", e.Coding)
			body, tag = e.Body, a.Tag+"-"+e.Coding
			break
		}
	}
	x.Write(&rest.Answer{Status: http.StatusOK, Mime: a.Mime, Body: body, Etag: fmt.Sprintf("%q", tag)})
	return nil
}
