package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/decks/theme"
)

// Card is a deck on a page of many.
type Card struct {
	ID                                 int64
	Title, Description, Path           string
	Color, Font, Visibility, Thumbnail string
	Slides                             int64
	Updated, Trashed                   string // instants; "" if not
}

// Listing is a page of decks.
type Listing struct {
	Cards           []Card
	Owner, Username string
	Words           string // that the decks have
	Trash           bool
	Page            int64
	More            bool // further pages
}

// Prev and Next are the addresses of the pages beside this one.
func (l *Listing) Prev() string { return l.at(l.Page - 1) }

// Next is the address of the following page.
func (l *Listing) Next() string { return l.at(l.Page + 1) }

// Decks is the console's page of the caller's own decks.
func (s Site) Decks(l *Listing) (*Page, error) {
	return (&view{Site: s, Title: "Decks", List: l}).render("decks.html", framePolicy)
}

// Profile is the page of the decks that a user shows to everybody.
func (s Site) Profile(l *Listing) (*Page, error) {
	return (&view{Site: s, Title: l.Owner, List: l}).render("profile.html", framePolicy)
}

// looksCSS has all faces, a class for the colours of each theme and one for the face of each
// font's headings, with which pages show what a deck looks like.
func looksCSS() string {
	var b strings.Builder
	b.WriteString(theme.FacesCSS(""))
	for _, c := range theme.Colors {
		fmt.Fprintf(&b, ".c-%s { --paper: %s; --ink: %s; --head: %s; --dash: %s; }\n", c.Name, c.Background, c.Text, c.Heading, c.Link)
	}
	for _, f := range theme.Fonts {
		fmt.Fprintf(&b, ".f-%s { --head-font: %s; --head-weight: %s; }\n", f.Name, f.Heading, f.Weight)
	}
	return b.String()
}

func (l *Listing) at(page int64) string {
	q := url.Values{}
	if l.Words != "" {
		q.Set("words", l.Words)
	}
	if l.Trash {
		q.Set("trash", "1")
	}
	if page > 1 {
		q.Set("page", strconv.FormatInt(page, 10))
	}
	return "?" + q.Encode()
}

// day writes an instant as a date for people; scripts make it one of theirs.
func day(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return at.Format("2 Jan 2006")
}
