package render

import (
	"context"
	"fmt"
	"path"
	"strings"

	"golang.org/x/net/html"

	decks "catena/decks/html"
	css "catena/decks/style"
)

// extensions are what files of the types that decks hold are called.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif", "image/bmp": ".bmp",
	"image/x-icon": ".ico", "image/svg+xml": ".svg", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/ogg": ".ogv",
}

const minAsset = 256 // bytes of an address worth a file

// assets are the files of a page that the deck itself has.
type assets struct {
	ctx   context.Context //nolint:containedctx // bounds the making of one page
	deck  *Deck
	files map[string][]byte
	names map[string]string // by address; "" stays as it is
	count int
}

// file moves what an address holds, or what is kept here by it, to a file of its own.
func (a *assets) file(address string) (name string, ok bool) {
	address = strings.TrimSpace(address)
	inner := strings.HasPrefix(address, "data:")
	if address == "" || a.ctx.Err() != nil || inner && len(address) < minAsset || !inner && a.deck.File == nil {
		return "", false
	}
	if name, ok := a.names[address]; ok {
		return name, name != ""
	}
	// Noted before it is read, so that an address that leads nowhere is asked for once only.
	a.names[address] = ""
	data, typ := a.deck.resource(a.ctx, address)
	typ, _, _ = strings.Cut(typ, ";")
	extension := extensions[strings.TrimSpace(typ)]
	// A file of another type keeps its address: it would have no extension by which a browser knows it.
	if len(data) == 0 || extension == "" {
		return "", false
	}
	a.count++
	name = fmt.Sprintf("assets/%d%s", a.count, extension)
	a.names[address], a.files[name] = name, data
	return name, true
}

// css is file for the addresses in a style sheet.
func (a *assets) css(text string) string {
	return css.Addresses(text, func(address string) (string, bool) {
		// In a style sheet, what an address holds is small (icons, fonts) and stays where it is.
		if strings.HasPrefix(address, "data:") {
			return "", false
		}
		return a.file(address)
	})
}

// html returns the deck's HTML with files instead of what it holds, and what is kept here.
func (a *assets) html() string {
	return decks.Rewrite(a.deck.HTML, decks.Rewriter{Sheet: a.css, Attribute: func(element string, at html.Attribute) (string, bool) {
		switch {
		case decks.Loads(element, at):
			return a.file(at.Val)
		case at.Key == "style" && strings.Contains(at.Val, "("):
			text := a.css(at.Val)
			return text, text != at.Val
		}
		return "", false
	}})
}

// packed reports whether a file is compressed already.
func packed(name string) bool {
	switch path.Ext(name) {
	case ".png", ".jpg", ".gif", ".webp", ".avif", ".woff2", ".mp3", ".mp4", ".ogg", ".ogv", ".webm":
		return true
	}
	return false
}
