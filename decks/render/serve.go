package render

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// origin is where a deck's page seems to come from. There is no such place: whatever the
// browser asks for is answered from memory or not at all.
const origin = "http://deck.invalid/"

// policy lets the page use its own files and nothing else; only scripts that know a page's
// secret are carried out.
const policy = "default-src 'none'; script-src 'nonce-%s'; style-src " + origin + " 'unsafe-inline'; " +
	"img-src " + origin + " data:; font-src " + origin + " data:; media-src " + origin + " data:; base-uri 'none'; form-action 'none'; frame-src 'none'"

// answer answers a request: with a file of the deck's, once with its page, else not.
func (t *tab) answer(ev *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(t.ctx, 30*time.Second)
	defer cancel()
	p := t.page.Load()
	if ev.Request == nil || ev.Request.Method != http.MethodGet || p == nil {
		refuse(ctx, ev)
		return
	}
	// The page is served once: a deck cannot reload it, or show it in a frame, with scripts of its own around.
	name, ours := strings.CutPrefix(ev.Request.URL, origin)
	name, _, _ = strings.Cut(name, "#")
	data, found := p.files[name]
	kind := typeOf(name)
	if name == "" && ours && ev.ResourceType == network.ResourceTypeDocument && t.loaded.CompareAndSwap(false, true) {
		data, found, kind = p.html, true, "text/html; charset=utf-8"
	}
	switch {
	// It needs no network. As a document it would be a page without our policy.
	case strings.HasPrefix(ev.Request.URL, "data:") && ev.ResourceType != network.ResourceTypeDocument:
		_, _ = chromedp.Call(ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: ev.RequestID})
	case ours && found:
		_, _ = chromedp.Call(ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: ev.RequestID, ResponseCode: http.StatusOK, Body: data,
			ResponseHeaders: []*fetch.HeaderEntry{
				{Name: "Content-Type", Value: kind},
				{Name: "Content-Security-Policy", Value: fmt.Sprintf(policy, p.nonce)},
				{Name: "X-Content-Type-Options", Value: "nosniff"},
				{Name: "X-DNS-Prefetch-Control", Value: "off"},
				{Name: "Referrer-Policy", Value: "no-referrer"},
			},
		})
	default:
		refuse(ctx, ev)
	}
}

func refuse(ctx context.Context, ev *fetch.EventRequestPaused) {
	_, _ = chromedp.Call(ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID, ErrorReason: network.ErrorReasonAborted})
}

func typeOf(name string) string {
	switch extension := path.Ext(name); extension {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	default:
		for typ, e := range extensions {
			if e == extension {
				return typ
			}
		}
		return mime.TypeByExtension(extension)
	}
}
