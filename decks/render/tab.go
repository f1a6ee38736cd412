package render

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"catena/storage/fault"
)

// tab is a page of a browser with a profile of its own. It shows one deck and is closed:
// nothing of one deck is left for another.
type tab struct {
	browser *process
	profile cdp.BrowserContextID
	ctx     context.Context //nolint:containedctx // the tab lives as long as it
	cancel  context.CancelFunc
	made    chan struct{} // closed once the tab is there, or err says why it is not
	err     error
	page    atomic.Pointer[webPage] // what it shows; nil: nothing yet
	loaded  atomic.Bool
	ready   chan struct{} // closed once all of the page is there
	crashed chan struct{} // closed when its process ends
}

// signal is the function by which a page tells that all of it is there.
const signal = "catenaPageReady"

// open makes a tab behind the caller, who waits for made.
func (b *process) open() *tab {
	t := &tab{browser: b, made: make(chan struct{}), ready: make(chan struct{}), crashed: make(chan struct{})}
	go func() {
		defer close(t.made)
		if t.err = t.create(); t.err == nil {
			t.err = t.prepare()
		}
	}()
	return t
}

func (t *tab) create() error {
	made, err := chromedp.CallBrowser(t.browser.ctx, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		return err
	}
	t.profile = made.BrowserContextID
	t.ctx, t.cancel = chromedp.NewContext(t.browser.ctx, chromedp.WithExistingBrowserContext(t.profile), chromedp.WithDetachOnCancel())
	return nil
}

// close ends the tab, and its profile with it.
func (t *tab) close() {
	if t.profile == "" {
		return
	}
	t.cancel()
	ctx, cancel := context.WithTimeout(t.browser.ctx, 30*time.Second)
	defer cancel()
	_, _ = chromedp.CallBrowser(ctx, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: t.profile})
}

// prepare has the tab answer all requests itself, and leaves out what the library watches
// by default and no deck needs: it costs more than the page.
func (t *tab) prepare() error {
	var ready, crashed sync.Once
	err := chromedp.Listen(t.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *fetch.EventRequestPaused:
			go t.answer(ev)
		case *runtime.EventBindingCalled:
			ready.Do(func() { close(t.ready) })
		case *inspector.EventTargetCrashed:
			crashed.Do(func() { close(t.crashed) })
		}
	})
	if err != nil {
		return err
	}
	// From here on no request leaves the browser: each pauses until answer fulfils or refuses it. It has to be
	// set before anything is loaded.
	if _, err := chromedp.Call(t.ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}); err != nil {
		return err
	}
	if _, err := chromedp.Call(t.ctx, runtime.AddBinding, runtime.AddBindingParams{Name: signal}); err != nil {
		return err
	}
	for _, off := range [...]func() error{
		func() error { _, err := chromedp.Call(t.ctx, css.Disable, cdp.Empty{}); return err },
		func() error { _, err := chromedp.Call(t.ctx, dom.Disable, cdp.Empty{}); return err },
		func() error { _, err := chromedp.Call(t.ctx, network.Disable, cdp.Empty{}); return err },
		func() error { _, err := chromedp.Call(t.ctx, log.Disable, cdp.Empty{}); return err },
	} {
		if err := off(); err != nil {
			return err
		}
	}
	return nil
}

// take returns a tab that nobody has used. Mostly one is there already.
func (b *process) take(ctx context.Context) (*tab, error) {
	t := b.spare.Swap(nil)
	if t == nil {
		t = b.open()
	}
	select {
	case <-t.made:
		if t.err == nil {
			return t, nil
		}
		t.discard()
		return nil, t.err
	case <-ctx.Done():
		t.discard()
		return nil, ctx.Err()
	}
}

// discard closes a tab behind the caller.
func (t *tab) discard() {
	go func() {
		<-t.made
		t.close()
	}()
}

// spareTab has a tab there before the next file is asked for.
func (b *process) spareTab() {
	if b.spare.Load() != nil {
		return
	}
	if t := b.open(); !b.spare.CompareAndSwap(nil, t) {
		t.discard()
	}
}

// show loads a page and waits until all of it is there.
func (t *tab) show(p *webPage) error {
	t.page.Store(p)
	got, err := chromedp.Call(t.ctx, page.Navigate, page.NavigateParams{URL: origin})
	switch {
	case err != nil:
		return err
	case got.ErrorText != "":
		return fault.Internal.Errorf("page of a deck: %s", got.ErrorText)
	}
	select {
	case <-t.ready:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}
