package render

import (
	"context"
	"fmt"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// extensions are what files of the types that decks hold are called.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif", "image/bmp": ".bmp",
	"image/x-icon": ".ico", "image/svg+xml": ".svg", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/ogg": ".ogv",
}

// loading are the attributes by which a page loads something.
var loading = map[string]bool{
	"src": true, "data-src": true, "poster": true, "data-background": true, "data-background-image": true, "data-background-video": true,
}

const minAsset = 256 // bytes of an address worth a file

// assets moves what the deck's HTML holds, and what is kept here, to files of their own,
// and returns the HTML that refers to these.
func (p *webPage) assets(ctx context.Context, d *Deck) string {
	names, count := map[string]string{}, 0
	return rewrite(d.HTML, func(_ string, a html.Attribute) (string, bool) {
		address := strings.TrimSpace(a.Val)
		if !loading[a.Key] || address == "" || ctx.Err() != nil {
			return "", false
		}
		inner := strings.HasPrefix(address, "data:")
		if inner && len(address) < minAsset || !inner && d.File == nil {
			return "", false
		}
		if name, ok := names[address]; ok {
			return name, name != ""
		}
		names[address] = ""
		data, typ := d.resource(ctx, address)
		typ, _, _ = strings.Cut(typ, ";")
		extension := extensions[strings.TrimSpace(typ)]
		if len(data) == 0 || extension == "" {
			return "", false
		}
		count++
		name := fmt.Sprintf("assets/%d%s", count, extension)
		names[address], p.files[name] = name, data
		return name, true
	})
}

// rewrite copies HTML and changes values of attributes; tags without changes keep their
// bytes.
func rewrite(src string, change func(element string, a html.Attribute) (string, bool)) string {
	z := html.NewTokenizer(strings.NewReader(src))
	var out strings.Builder
	out.Grow(len(src))
	for {
		kind := z.Next()
		raw := z.Raw()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			out.Write(raw)
			if kind == html.ErrorToken {
				return out.String()
			}
			continue
		}
		before := string(raw)
		t := z.Token()
		changed := false
		for i, a := range t.Attr {
			if v, ok := change(t.Data, a); ok {
				t.Attr[i].Val, changed = v, true
			}
		}
		if changed {
			before = t.String()
		}
		out.WriteString(before)
	}
}

// packed reports whether a file is compressed already.
func packed(name string) bool {
	switch path.Ext(name) {
	case ".png", ".jpg", ".gif", ".webp", ".avif", ".woff2", ".mp3", ".mp4", ".ogg", ".ogv", ".webm":
		return true
	}
	return false
}
