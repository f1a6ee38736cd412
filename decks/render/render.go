// Package render produces files from decks: PDF, through a browser if there is one and otherwise through a simple
// renderer of its own, and ZIP archives that open offline. It is given a deck and returns bytes; which deck, for whom
// and what becomes of the file is for package decks.
//
// With a browser, a deck is printed by headless Chromium, a process of its own that reaches no network: what
// it asks for is answered by this package (process.go, serve.go, chromium.go). Without one, a layout engine
// of this package draws what decks mostly consist of: text, lists, tables, code, pictures and backgrounds
// (box.go, flow.go, line.go, row.go, table.go, paint.go, embedded.go). It implements a subset of CSS and
// returns warnings about what it cannot follow. Auto chooses between the two. Pictures of slides come from
// the browser (still.go), or are cards with the title (card.go).
//
// Both ways are bounded: in time, in the pages they make, in the pixels of pictures, and in how much layout
// work one deck may cause.
package render

import (
	"context"
	"math"
	"strconv"
	"strings"

	"catena/storage/fault"
)

// Options say what a PDF shows.
type Options struct {
	Margin            float64 `json:"margin,omitempty"` // part of the slide's size, 0 to 0.2
	SlideNumber       bool    `json:"slide_number,omitempty"`
	SlideNotes        bool    `json:"slide_notes,omitempty"`
	SeparateFragments bool    `json:"separate_fragments,omitempty"`
}

// Renderer makes PDF files.
type Renderer interface {
	// PDF returns the file, or an error whose code is that of rendering that was interrupted, took too long or cannot be done, or of too large a deck.
	PDF(ctx context.Context, d *Deck, o Options) ([]byte, error)
}

const (
	// maxPages and maxFile (bytes) bound one PDF. Fragments on pages of their own multiply the slides.
	maxPages = 5000
	maxFile  = 256 << 20
)

func tooLarge(format string, args ...any) error {
	return fault.Limit.Errorf(format, args...).WithCode(fault.CodeTooLarge)
}

// timeout names an error that only says that time is up; other errors, and a canceled call, stay what they
// are.
func timeout(ctx context.Context, err error) error {
	if ctx.Err() == context.DeadlineExceeded { //nolint:errorlint // Err returns it bare
		return fault.Unavailable.Errorf("rendering: took too long").WithCode(fault.CodeRenderTimeout)
	}
	return err
}

// size is the size of a page in CSS pixels: that of a slide and the margin around it.
func (d *Deck) size(margin float64) (w, h float64) {
	return math.Floor(float64(d.Width) * (1 + margin)), math.Floor(float64(d.Height) * (1 + margin))
}

// Name is a file name made of the deck's title: at most 100 characters, without characters that file systems
// refuse or that reverse the direction of text, which could disguise the extension.
func (d *Deck) Name(extension string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '-'
		}
		return r
	}, strings.TrimSpace(d.Title))
	if runes := []rune(name); len(runes) > 100 {
		name = strings.TrimSpace(string(runes[:100]))
	}
	if strings.Trim(name, ".- ") == "" {
		name = "deck"
	}
	return name + "." + extension
}

func number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}
