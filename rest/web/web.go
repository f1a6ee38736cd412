// Package web renders the pages of the server: decks as viewers see them, their editor and speaker view, private
// links, sign-in and the console. It knows HTML and nothing of operations: package rest asks the engine and hands
// over what a page shows. Pages are of two kinds. Slides, whose HTML somebody wrote, are a document in a sandbox of
// their own, without cookies, without the network, and with no script but ours. All others are frames around them
// that never put a deck's HTML into themselves.
package web

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"catena/decks/field"
	"catena/decks/format"
	"catena/decks/theme"
)

//go:embed page/*.html
var pageFiles embed.FS

// Site says where a page stands.
type Site struct {
	Prefix string // of every address on this server: "" or "/behind/a/proxy"
	Host   string // scheme and host with the prefix, for addresses that leave the page
	User   string // who signed in; "": nobody
	Admin  bool   // they are an administrator
	People bool   // they look after users and groups: administrators and members of powerusers
	CSRF   string // token that writes from this page have to carry
	Page   string // address of the page itself, below Prefix, to come back to after signing in
}

// PasswordLength is how many characters pages have people give a new password at least, as NIST SP 800-63B asks for.
func (Site) PasswordLength() int { return 8 }

// Page is a finished page.
type Page struct {
	Body   []byte
	Policy string // Content-Security-Policy
	Framed bool   // pages of other origins may show it, as far as the policy permits
}

// Tag names what the page says.
func (p *Page) Tag() string {
	sum := sha256.Sum256(p.Body)
	return hex.EncodeToString(sum[:8])
}

// Deck is a deck as its pages show it.
type Deck struct {
	ID                       int64
	Title, Description       string
	Owner, Username          string // name to show, name in addresses
	Path                     string // address below the prefix: /decks/ann/talk, /share/TOKEN
	Public, Editable, Shared bool   // for everyone; the viewer's own; by a private link
	Slides                   int64
	HTML, CSS                string
	Width, Height            int64
	RTL                      bool
	Options                  map[string]any // of reveal.js, which the deck's fields set
	Color, Font, Language    string
	Thumbnail, Updated       string
	EmbedOrigins             []string
	FilesQuery               string // opens the deck's pictures where it is not for everyone
}

// Assets is where the built-in files are, below the prefix and with a slash at the end.
func Assets() string { return "/assets/" + version() + "/" }

// pages are read when the first is asked for: the workers, which are this program too, need none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"assets":      Assets,
		"colors":      func() []theme.Color { return theme.Colors },
		"fields":      func() string { return field.Fields.Edited(field.Direct) },
		"looks":       func() string { return field.Fields.Edited(field.Appearance) },
		"formats":     func() []format.Format { return format.Formats },
		"fonts":       func() []theme.Font { return theme.Fonts },
		"trusted":     func(html string) template.HTML { return template.HTML(html) },                              //nolint:gosec // the sandboxed document is for a deck's own HTML
		"sheet":       func(css string) template.CSS { return template.CSS(strings.ReplaceAll(css, "</", `<\/`)) }, //nolint:gosec // made to fetch nothing, and cannot end its element
		"day":         day,
		"transitions": func() []string { return field.Fields.Find("transition").Values },
		"icon":        icon,
		"modules":     func(names ...string) []string { return names },
		"dir": func(d *Deck) string {
			if d.RTL {
				return "rtl"
			}
			return "ltr"
		},
	}).ParseFS(pageFiles, "page/*.html"))
})

// view is what templates see.
type view struct {
	Site
	Title  string
	Deck   *Deck
	Slides *deckSlides
	List   *Listing
	Form   *Form
	Error  *Problem
	Query  string
	Nonce  string

	Families []Family
	Kinds    []Kind
	Codes    []Code
	Manual   *manual
}

// Form is a page that asks for one thing: a password, a sign-in.
type Form struct {
	Action, Next, Message, Name string
}

// Problem is a page that says why there is no other.
type Problem struct {
	Status         int
	Title, Message string
	SignIn         bool // signing in may help
}

// framePolicy is that of pages without a deck's HTML.
const framePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"

func (v *view) render(name, policy string) (*Page, error) {
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name, v); err != nil {
		return nil, err
	}
	return &Page{Body: b.Bytes(), Policy: policy}, nil
}

// View is the page of a deck: its title, who made it, and the slides in their sandbox.
func (s Site) View(d *Deck, query string) (*Page, error) {
	return (&view{Site: s, Title: d.Title, Deck: d, Query: query}).render("view.html", framePolicy)
}

// Present is the speaker's page.
func (s Site) Present(d *Deck) (*Page, error) {
	return (&view{Site: s, Title: "Present: " + d.Title, Deck: d}).render("present.html", framePolicy)
}

// Edit is the editor.
func (s Site) Edit(d *Deck) (*Page, error) {
	return (&view{Site: s, Title: "Edit: " + d.Title, Deck: d}).render("edit.html", framePolicy)
}

// Share is the page of a deck's private links.
func (s Site) Share(d *Deck) (*Page, error) {
	return (&view{Site: s, Title: "Share: " + d.Title, Deck: d}).render("share.html", framePolicy)
}

// SignIn asks for user and password.
func (s Site) SignIn(f *Form) (*Page, error) {
	return (&view{Site: s, Title: "Sign in", Form: f}).render("login.html", framePolicy)
}

// Invitation asks somebody who was invited to choose a password.
func (s Site) Invitation(f *Form) (*Page, error) {
	return (&view{Site: s, Title: "Welcome", Form: f}).render("invitation.html", framePolicy)
}

// Password asks for the password of a private link.
func (s Site) Password(f *Form) (*Page, error) {
	return (&view{Site: s, Title: "Password needed", Form: f}).render("password.html", framePolicy)
}

// Grant asks whether a client may act for the user: Form.Name is the client, Form.Next the
// query of the request. back is where the answer leads.
func (s Site) Grant(f *Form, back string) (*Page, error) {
	policy := framePolicy
	if u, err := url.Parse(back); err == nil {
		to := u.Scheme + ":"
		if u.Host != "" {
			to = u.Scheme + "://" + u.Host
		}
		policy = strings.Replace(policy, "form-action 'self'", "form-action 'self' "+to, 1)
	}
	return (&view{Site: s, Title: "Grant access", Form: f}).render("grant.html", policy)
}

// Fail says why a page cannot be shown.
func (s Site) Fail(p *Problem) (*Page, error) {
	return (&view{Site: s, Title: p.Title, Error: p}).render("error.html", framePolicy)
}

// Console is a page of the console: "account", "activity", "admin", "chains", "documents", "home", "keys", "operations", "runs", "scripts", "search", "tasks", "team" or "webhooks".
func (s Site) Console(name string) (*Page, error) {
	titles := map[string]string{"account": "Account", "home": "Home", "activity": "Activity", "admin": "Administration", "chains": "Chains", "documents": "Documents", "keys": "API keys", "operations": "Operations", "runs": "Runs", "scripts": "Scripts", "search": "Search", "tasks": "Tasks", "team": "Team", "webhooks": "Webhooks"}
	return (&view{Site: s, Title: titles[name]}).render(name+".html", framePolicy)
}

// nonce names the scripts of one answer.
func nonce() string { return rand.Text() }
