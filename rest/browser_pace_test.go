package rest_test

import (
	"math/rand/v2"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// pace is what CATENA_PACE says of the machine that browser tests are to meet. Whatever it is, they find the same:
//
//   - late: each request of a page waits for up to 300 ms, so that answers come in any order;
//   - busy: scripts of pages run at a sixth of their speed;
//   - settled: a page is left only when it has all that it asks for.
func (b *tab) pace(pace string) {
	b.t.Helper()
	switch pace {
	case "":
	case "late":
		if err := chromedp.Listen(b, func(ev any) {
			if e, ok := ev.(*fetch.EventRequestPaused); ok {
				go func() {
					time.Sleep(rand.N(300 * time.Millisecond))
					_, _ = chromedp.Call(b, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID}) // its page may be gone
				}()
			}
		}); err != nil {
			b.t.Fatal(err)
		}
		if _, err := chromedp.Call(b, fetch.Enable, fetch.EnableParams{}); err != nil {
			b.t.Fatal(err)
		}
	case "busy":
		if _, err := chromedp.Call(b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 6}); err != nil {
			b.t.Fatal(err)
		}
	case "settled":
		b.traffic = b.noted()
	default:
		b.t.Fatalf("CATENA_PACE=%s: want late, busy or settled", pace)
	}
}
