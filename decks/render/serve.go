package render

import (
	"context"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// origin is where a deck's page seems to come from. There is no such place: whatever the
// browser asks for is answered from memory or not at all.
const origin = "http://deck.invalid/"

// policy lets the page use its own files and nothing else.
const policy = "default-src 'none'; script-src " + origin + "reveal/ " + origin + "start.js; style-src " + origin + " 'unsafe-inline'; " +
	"img-src " + origin + " data:; font-src " + origin + " data:; media-src " + origin + " data:; base-uri 'none'; form-action 'none'; frame-src 'none'"

// server answers the requests of one tab.
type server struct {
	page   *webPage
	tab    context.Context //nolint:containedctx // the tab's
	loaded atomic.Bool
}

// answer answers a request: with a file of the deck's, once with its page, else not.
func (s *server) answer(ev *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(s.tab, 30*time.Second)
	defer cancel()
	refuse := func() {
		_, _ = chromedp.Call(ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID, ErrorReason: network.ErrorReasonAborted})
	}
	if ev.Request == nil || ev.Request.Method != http.MethodGet {
		refuse()
		return
	}
	name, ours := strings.CutPrefix(ev.Request.URL, origin)
	name, _, _ = strings.Cut(name, "#")
	data, found := s.page.files[name]
	kind := typeOf(name)
	if name == "" && ours && ev.ResourceType == network.ResourceTypeDocument && s.loaded.CompareAndSwap(false, true) {
		data, found, kind = s.page.html, true, "text/html; charset=utf-8"
	}
	switch {
	case strings.HasPrefix(ev.Request.URL, "data:") && ev.ResourceType != network.ResourceTypeDocument:
		_, _ = chromedp.Call(ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: ev.RequestID})
	case ours && found:
		_, _ = chromedp.Call(ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: ev.RequestID, ResponseCode: http.StatusOK, Body: data,
			ResponseHeaders: []*fetch.HeaderEntry{
				{Name: "Content-Type", Value: kind},
				{Name: "Content-Security-Policy", Value: policy},
				{Name: "X-Content-Type-Options", Value: "nosniff"},
				{Name: "X-DNS-Prefetch-Control", Value: "off"},
				{Name: "Referrer-Policy", Value: "no-referrer"},
			},
		})
	default:
		refuse()
	}
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
