package web

import (
	"regexp"
	"strings"
	"testing"
)

// evil is a text that breaks out of whatever does not escape it.
const evil = `"><script>alert('x')</script>{{.}}` + "`"

// evilDeck has such texts in all that its owner writes besides HTML and CSS.
func evilDeck() *Deck {
	return &Deck{
		ID: 7, Title: evil, Description: evil, Owner: evil, Username: "ann/x", Path: "/decks/ann/talk", Public: true, Editable: true, Slides: 2,
		Width: 960, Height: 700, Color: "white-blue", Font: "montserrat", Language: evil, Thumbnail: "https://x.example/t?a=1&b=" + evil, Updated: evil,
		Options: map[string]any{"transition": evil}, HTML: "<section>HERE</section>",
	}
}

// everyPage renders each page of a site with texts that somebody else wrote.
func everyPage(t *testing.T, s Site) map[string]*Page {
	t.Helper()
	out := map[string]*Page{}
	add := func(name string, p *Page, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = p
	}
	one := func(name string) func(*Page, error) {
		return func(p *Page, err error) { t.Helper(); add(name, p, err) }
	}
	d := evilDeck()
	one("view")(s.View(d, evil))
	one("present")(s.Present(d))
	one("edit")(s.Edit(d))
	one("share")(s.Share(d))
	f := &Form{Action: s.Prefix + "/share/T", Next: evil, Message: evil, Name: evil}
	one("sign in")(s.SignIn(f))
	one("invitation")(s.Invitation(f))
	one("password")(s.Password(f))
	one("grant")(s.Grant(f, "https://client.example/back?x=1"))
	one("error")(s.Fail(&Problem{Status: 404, Title: evil, Message: evil, SignIn: true}))
	l := &Listing{Owner: evil, Username: evil, Words: evil, Page: 2, More: true, Cards: []Card{{
		ID: 1, Title: evil, Description: evil, Path: "/decks/ann/talk", Color: "white-blue", Font: "asul", Visibility: "all", Thumbnail: "/t?" + evil, Slides: 1, Updated: evil,
	}}}
	one("decks")(s.Decks(l))
	one("profile")(s.Profile(l))
	one("reference")(s.Reference([]Family{{Name: evil, Operations: []Operation{{
		ID: "A.B", Label: evil, Description: evil, Aliases: []string{evil}, Deprecated: evil, Instead: evil, Signature: []Step{{evil, evil}},
		Params: []Parameter{{Name: evil, Type: evil, Description: evil, Values: []string{evil}}},
	}}}}))
	status := []Status{{404, evil}}
	one("problems")(s.Problems([]Kind{{Name: evil, Meaning: evil, Status: status[0]}}, []Code{{Name: evil, Kinds: []string{evil}, Statuses: status, When: evil, Remedy: evil}}))
	for _, name := range []string{"activity", "admin", "chains", "documents", "keys", "operations", "runs", "scripts", "search", "tasks", "team", "webhooks"} {
		one(name)(s.Console(name))
	}
	return out
}

// TestPagesEscape: no page lets a text become HTML, and each has the policy that allows no other script than the server's own.
func TestPagesEscape(t *testing.T) {
	pages := everyPage(t, Site{Host: "https://h.example", User: evil, CSRF: evil, Page: "/ui/?" + evil})
	for name, p := range pages {
		body := string(p.Body)
		if strings.Contains(body, "<script>") {
			t.Errorf("%s: a text is not escaped:\n%s", name, body)
		}
		if strings.Contains(body, "HERE") {
			t.Errorf("%s: a frame has the deck's HTML", name)
		}
		if strings.Contains(body, "ZgotmplZ") {
			t.Errorf("%s: an address was refused by the template", name)
		}
		if inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|\son[a-z]+=|<style|javascript:`).FindString(body); inline != "" {
			t.Errorf("%s: %q would not run under the policy", name, inline)
		}
		if !strings.HasPrefix(p.Policy, "default-src 'none'; script-src 'self';") || strings.Contains(p.Policy, "unsafe") || p.Framed {
			t.Errorf("%s: policy %s, framed %t", name, p.Policy, p.Framed)
		}
		if !strings.Contains(body, "<title>") || !strings.HasPrefix(body, "<!doctype html>") || strings.Count(body, "</html>") != 1 {
			t.Errorf("%s: not a page: %.300s", name, body)
		}
	}
}

// TestPagesBelowPrefix: behind a proxy no page leads or reads past the prefix.
func TestPagesBelowPrefix(t *testing.T) {
	s := Site{Prefix: "/behind/proxy", Host: "https://h.example/behind/proxy", User: "ann", CSRF: "c", Page: "/ui/"}
	address := regexp.MustCompile(`\s(?:href|src|action|data-path|data-prefix)="(/[^"]*)"`)
	for name, p := range everyPage(t, s) {
		found := address.FindAllStringSubmatch(string(p.Body), -1)
		if len(found) < 2 {
			t.Errorf("%s: %d addresses", name, len(found))
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "/behind/proxy") && !strings.HasPrefix(m[1], "/t?") {
				t.Errorf("%s: %s", name, m[0])
			}
			if strings.HasPrefix(m[1], "/behind/proxy/behind") {
				t.Errorf("%s: the prefix twice: %s", name, m[0])
			}
		}
	}
}

// TestGrantPolicy: the form that gives a client access may lead to the client's address, and to no other.
func TestGrantPolicy(t *testing.T) {
	for back, want := range map[string]string{
		"https://client.example/back?x=1": "form-action 'self' https://client.example; ",
		"http://localhost:8080/cb":        "form-action 'self' http://localhost:8080; ",
		"com.example.app:/cb":             "form-action 'self' com.example.app:; ",
		"https://user@client.example/":    "form-action 'self' https://client.example; ",
		"%zz":                             "form-action 'self'; ",
	} {
		p, err := Site{}.Grant(&Form{}, back)
		if err != nil || !strings.Contains(p.Policy, want) {
			t.Errorf("%s: %s, %v", back, p.Policy, err)
		}
	}
}

// TestSlidesPolicy: slides are in a sandbox with one nonce, and show what the options say.
func TestSlidesPolicy(t *testing.T) {
	s := Site{Prefix: "/p", Host: "https://h.example/p"}
	const base = "img-src data: blob: https://h.example/p/decks/ann/talk/files/"
	for _, row := range []struct {
		options  SlideOptions
		origins  []string
		has, not string
		framed   bool
	}{
		{SlideOptions{}, nil, base + ";", "allow-modals", false},
		{SlideOptions{}, nil, "frame-src 'none'; ", "'self' *", false},
		{SlideOptions{}, nil, "frame-ancestors 'self'", "'self' https", false},
		{SlideOptions{Print: true}, nil, "allow-modals; ", "allow-same-origin", false},
		{SlideOptions{Frame: Inner}, nil, "sandbox allow-scripts ", "allow-same-origin", false},
		{SlideOptions{Sources: []string{"https://a.example", "https://b.example"}}, nil, base + " https://a.example https://b.example;", "'none' https", false},
		{SlideOptions{Sources: []string{"https://a.example"}}, nil, "frame-src https://a.example; ", "script-src https", false},
		{SlideOptions{}, []string{"https://e.example"}, "frame-ancestors 'self' https://e.example", "*", true},
		{SlideOptions{}, []string{"*"}, "frame-ancestors 'self' *", "allow-same-origin", true},
	} {
		d := evilDeck()
		d.EmbedOrigins = row.origins
		p, err := s.Slides(d, row.options)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Policy, row.has) || strings.Contains(p.Policy, row.not) || p.Framed != row.framed {
			t.Errorf("%+v %v: framed %t, policy %s", row.options, row.origins, p.Framed, p.Policy)
		}
		nonce := regexp.MustCompile(`'nonce-([^']{20,})'`).FindStringSubmatch(p.Policy)
		body := string(p.Body)
		if nonce == nil || strings.Count(body, "<script ") != strings.Count(body, `<script nonce="`+nonce[1]+`" src="/p/assets/`) || strings.Contains(body, "<script>") {
			t.Errorf("%+v: nonce %v\n%s", row.options, nonce, body)
		}
	}
}

// TestSlidesParts: the document of slides has what the deck needs, and the deck itself unless the editor sends it.
func TestSlidesParts(t *testing.T) {
	for _, row := range []struct {
		frame    Frame
		html     string
		has, not string
	}{
		{Whole, "<section>HERE</section>", "<section>HERE</section>", "markdown.js"},
		{Whole, "<section>x</section>", "slides.js", "highlight.js"},
		{Whole, "<section data-markdown>x</section>", "markdown.js", "katex.js"},
		{Whole, "<section><code>x</code></section>", "highlight.css", "markdown.js"},
		{Whole, "<section>$$x$$</section>", "katex-auto.js", "highlight.js"},
		{Inner, "<section>x</section>", "&#34;frame&#34;:&#34;inner&#34;", "rail"},
		{Still, "<section>x</section>", "&#34;frame&#34;:&#34;still&#34;", "rail"},
		{Live, "<section>HERE</section>", "katex.js", "HERE"},
		{Rail, "<section>HERE</section>", "rail.js", `class="slides"`},
		{Rail, "<section>HERE</section>", "markdown.js", "slides.js"},
	} {
		d := evilDeck()
		d.HTML, d.CSS = row.html, "p { a: '</style><script>'; }"
		p, err := Site{}.Slides(d, SlideOptions{Frame: row.frame})
		if err != nil {
			t.Fatal(err)
		}
		if body := string(p.Body); !strings.Contains(body, row.has) || strings.Contains(body, row.not) || strings.Count(body, "</style>") != 1 {
			t.Errorf("%q %s: want %q without %q\n%s", row.frame, row.html, row.has, row.not, body)
		}
		if d.HTML != row.html {
			t.Errorf("%q: the deck itself has changed", row.frame)
		}
	}
	for rtl, want := range map[bool]string{true: ` dir="rtl">`, false: ` dir="ltr">`} {
		p, err := Site{}.Slides(&Deck{RTL: rtl, Language: "ar"}, SlideOptions{})
		if err != nil || !strings.Contains(string(p.Body), `<html lang="ar"`+want) {
			t.Errorf("%t: %v %.200s", rtl, err, p.Body)
		}
	}
}
