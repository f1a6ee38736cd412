package render

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"catena/storage/fault"
)

// Chromium is the renderer that prints decks as a browser shows them. One browser stays
// open between files; it gets a new profile for each, sees nothing but the deck's own
// files, and is started again when it crashes, hangs or has made many.
type Chromium struct {
	Path string       // of the program
	Log  *slog.Logger // nil: slog.Default

	pause, silence time.Duration // between questions whether the browser is there, and for the answer; 0: 3 s, 8 s

	// mu guards current, and users, files and retired of every process. slots holds one value for each file in
	// the making; it is made by once, so that the zero Chromium can be used.
	mu      sync.Mutex
	current *process
	slots   chan struct{}
	once    sync.Once
}

const (
	browserTabs = 2 // at the same time
	// A browser that has made many files has grown; starting another one costs less than finding out why.
	browserFiles = 100             // of one browser
	browserIdle  = 5 * time.Minute // until an unused browser is closed
	browserStart = 20 * time.Second
	pingPause    = 3 * time.Second
	pingTime     = 8 * time.Second // a browser that is silent for so long hangs
	browserTries = 2               // of a file whose browser crashes
)

var (
	errCrashed = errors.New("the browser crashed")
	errHung    = errors.New("the browser hangs")
	errStart   = errors.New("the browser does not start")
)

// FindChromium returns the program of a browser that can print; "" if there is none.
func FindChromium() string {
	// The shell comes first: it is the same engine without a user interface.
	for _, name := range [...]string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "headless_shell", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (c *Chromium) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

// PDF prints a deck.
func (c *Chromium) PDF(ctx context.Context, d *Deck, o Options) ([]byte, error) {
	p, err := d.page(ctx, &o)
	if err != nil {
		return nil, err
	}
	_, slides, err := parse(ctx, d)
	if err != nil {
		return nil, err
	}
	if n := pages(slides, o); n > maxPages {
		return nil, tooLarge("deck: %d pages, limit %d", n, maxPages)
	}
	data, version, err := c.attempt(ctx, func(b *process) ([]byte, error) { return b.print(ctx, p) })
	if err != nil {
		return nil, err
	}
	return finish(data, d, version, len(slides))
}

// attempt has a browser make something, another one if that breaks, and says which it was. At most
// browserTabs files are made at a time; others wait for their turn, within their own time. Only a crash or a
// hang is tried again: time that is up, and a browser that does not start, will not get better.
func (c *Chromium) attempt(ctx context.Context, work func(*process) ([]byte, error)) (data []byte, version string, err error) {
	c.once.Do(func() { c.slots = make(chan struct{}, browserTabs) })
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, "", timeout(ctx, ctx.Err())
	}
	for try := 1; ; try++ {
		data, version, err := c.try(ctx, work)
		switch {
		case err == nil:
			return data, version, nil
		case ctx.Err() != nil:
			return nil, "", timeout(ctx, ctx.Err())
		case errors.Is(err, errStart):
			return nil, "", fault.Unavailable.Errorf("browser %s: %w", c.Path, err).WithCode(fault.CodeRendererUnavailable)
		case try == browserTries:
			return nil, "", fault.Unavailable.Errorf("browser: crashed %d times: %w", try, err).WithCode(fault.CodeRenderCrashed)
		}
		c.log().Warn("printing again", "error", err)
	}
}

// try has the browser work, and says which it was.
func (c *Chromium) try(ctx context.Context, work func(*process) ([]byte, error)) (data []byte, version string, err error) {
	b, err := c.acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	data, err = work(b)
	b.spareTab()
	// If the caller's time is up, that says nothing against the browser.
	c.release(b, err != nil && ctx.Err() == nil)
	return data, b.version, err
}

// acquire returns the browser, started if need be. The lock is held while it starts, so that callers that
// come at the same time wait for one browser instead of starting several.
func (c *Chromium) acquire(ctx context.Context) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.current; b != nil && b.alive() && b.files < browserFiles {
		b.users++
		b.files++
		return b, nil
	}
	if c.current != nil {
		c.current.retire()
		c.current = nil
	}
	b, err := startBrowser(ctx, c)
	if err != nil {
		return nil, err
	}
	b.users, b.files = 1, 1
	c.current = b
	c.log().Info("browser started", "path", c.Path, "version", b.version)
	return b, nil
}

// release gives a browser back; one that broke is not used again. It is closed after browserIdle without use,
// unless it has made other files meanwhile.
func (c *Chromium) release(b *process, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.users--
	if broken && c.current == b {
		c.current = nil
		b.retired = true
	}
	// Closing waits for processes to end, which the lock must not.
	if b.retired && (b.users == 0 || !b.alive()) {
		go b.close()
		return
	}
	if b.users > 0 {
		return
	}
	files := b.files
	time.AfterFunc(browserIdle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.current == b && b.users == 0 && b.files == files {
			c.current = nil
			go b.close()
		}
	})
}

// Close ends the browser.
func (c *Chromium) Close() {
	c.mu.Lock()
	b := c.current
	c.current = nil
	c.mu.Unlock()
	if b != nil {
		b.close()
	}
}

// Ping reports whether the browser can be used: that it starts and answers.
func (c *Chromium) Ping(ctx context.Context) error {
	b, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	_, err = b.ask(ctx)
	c.release(b, err != nil)
	return err
}

// ask has the browser tell its version.
func (b *process) ask(ctx context.Context) (string, error) {
	ctx, cancel := join(b.ctx, ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, b.silence)
	defer stop()
	v, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	return v.Product, err
}

// join returns a browser's context that also ends with another one.
func join(b, ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(b)
	stop := context.AfterFunc(ctx, cancel)
	return out, func() { stop(); cancel() }
}

// print loads the page and prints it.
func (b *process) print(ctx context.Context, p *webPage) ([]byte, error) {
	return b.use(ctx, p, func(tab context.Context) ([]byte, error) {
		// The framework sets the size of pages in CSS, with the margin that was asked for within it.
		data, err := chromedp.Run(tab, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize(), chromedp.PDFMargin(0),
			func(p *page.PrintToPDFParams) { p.TransferMode = page.PrintToPDFTransferModeReturnAsStream }))
		if err == nil && len(data) > maxFile {
			return nil, tooLarge("PDF: %d bytes, limit %d", len(data), maxFile)
		}
		return data, err
	})
}

// use shows a page in a tab and has something made of it. What goes wrong with the browser
// is errCrashed or errHung; anything else is a matter of time.
func (b *process) use(ctx context.Context, p *webPage, work func(tab context.Context) ([]byte, error)) (data []byte, err error) {
	tab, broken := context.WithCancelCause(b.ctx)
	defer broken(nil)
	defer context.AfterFunc(ctx, func() { broken(ctx.Err()) })()
	go b.watch(tab, broken)
	defer func() {
		if cause := context.Cause(tab); err != nil && cause != nil {
			err = cause
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errHung) {
			err = errors.Join(errCrashed, err)
		}
	}()
	t, err := b.take(tab)
	if err != nil {
		return nil, err
	}
	defer t.discard()
	defer context.AfterFunc(tab, t.cancel)()
	go func() {
		select {
		case <-t.crashed:
			broken(errCrashed)
		case <-tab.Done():
		}
	}()
	if err := t.show(p); err != nil {
		return nil, err
	}
	return work(t.ctx)
}

// watch asks the browser whether it still is there, and gives it up if it does not answer. A page can keep a
// browser busy in a way that the protocol does not report; without the watch, such a file would take all of
// its time before anybody noticed.
func (b *process) watch(tab context.Context, broken context.CancelCauseFunc) {
	t := time.NewTicker(b.pause)
	defer t.Stop()
	for {
		select {
		case <-tab.Done():
			return
		case <-b.ctx.Done():
			broken(errCrashed)
			return
		case <-t.C:
			if _, err := b.ask(tab); err != nil && tab.Err() == nil {
				broken(errHung)
				b.kill()
				return
			}
		}
	}
}
