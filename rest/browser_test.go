package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
)

// chromium is one browser for all tests, started when the first needs it.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop func()
	why  string // there is none
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

func startChromium() {
	path, err := exec.LookPath("chromium")
	if err != nil {
		chromium.why = "chromium is not installed"
		return
	}
	dir, err := os.MkdirTemp("", "catena-chromium")
	if err != nil {
		chromium.why = err.Error()
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.UserAgent("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"), // views by programs are not counted
		chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	chromium.stop = func() {
		stop()
		stopAlloc()
		_ = os.RemoveAll(dir)
	}
	if err := chromedp.Do(ctx); err != nil {
		chromium.why = "chromium does not start: " + err.Error()
		return
	}
	chromium.ctx = ctx
}

// tab is a page in a window without history: its own cookies, no cache of others.
type tab struct {
	context.Context
	t    testing.TB
	base string
	mu   sync.Mutex
	seen []string // addresses asked for
	said []string // errors on the console, and exceptions

	traffic *traffic // where pages are left only when they have all that they ask for
}

// browse opens a tab on a server. Without Chromium on the machine the test is skipped.
func browse(t testing.TB, s *resttest.Server) *tab {
	t.Helper()
	chromium.once.Do(startChromium)
	if chromium.why != "" {
		t.Skip(chromium.why)
	}
	ctx, stop := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	b := &tab{Context: ctx, t: t, base: s.URL}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b, css.Disable, cdp.Empty{}); err != nil { // nobody asks for the rules of pages
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	b.pace(os.Getenv("CATENA_PACE"))
	return b
}

func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.seen = append(b.seen, ev.Request.URL)
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
		b.said = append(b.said, text)
	case *page.EventJavascriptDialogOpening: // yes, leave the page; yes, do it
		go func() {
			_, _ = chromedp.Call(b, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == "error" {
			b.said = append(b.said, ev.Entry.Text+" "+ev.Entry.URL)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b, steps...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("browser: %v\n%s", err, strings.Join(b.said, "\n"))
	}
}

// open goes to an address of the server.
func (b *tab) open(path string) {
	b.t.Helper()
	if b.traffic != nil {
		for end := time.Now().Add(5 * time.Second); !b.traffic.settled() && time.Now().Before(end); { // an address that was left ends nowhere
			time.Sleep(20 * time.Millisecond)
		}
	}
	b.do(chromedp.Navigate(b.base + path))
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("browser: %s: %v", expression, err)
	}
	return out
}

// wait waits until an expression in the page is true, whatever page that is by then.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		ok, err := chromedp.Run(b, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(end) || b.Err() != nil {
			b.shot("failed")
			text, _ := chromedp.Run(b, chromedp.Evaluate[string]("document.body.innerText"))
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("browser: waiting for %s: %v\n%s\n%s", expression, err, strings.Join(b.said, "\n"), text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// click clicks an element of a page that is all there, though it need not be painted yet.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => { const e = document.querySelector(%q); if (!e || e.disabled || document.readyState !== "complete") return false; setTimeout(() => e.click()); return true; })()`, selector))
}

// write types into an element.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// quiet fails the test if the page complained.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("console: %s", text)
	}
}

// shot keeps a picture of the page in the folder CATENA_SHOTS names.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("CATENA_SHOTS")
	if dir == "" {
		return
	}
	b.do(chromedp.Sleep(700 * time.Millisecond))
	png, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// darkMode has pages drawn for dark rooms.
func darkMode(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	return chromedp.Void{}, err
}

// signIn signs in by the form.
func (b *tab) signIn(user string) {
	b.t.Helper()
	b.open("/ui/login")
	b.write(`[name=user]`, user)
	b.write(`[name=password]`, resttest.Password)
	b.click(`button.primary`)
	b.wait(`document.querySelector(".console") !== null`)
}

// makeDeck makes a deck of alice's and returns its page's path.
func makeDeck(t testing.TB, s *resttest.Server, fields map[string]any) string {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Do("POST", "/v1/decks", string(body), "as", "alice")
	if got.StatusCode != http.StatusCreated {
		t.Fatalf("create: %s %s", got.Status, got.Text)
	}
	return strings.TrimPrefix(got.JSON(t)["data"].(map[string]any)["url"].(string), s.URL)
}

const threeSlides = `<section><h1>First</h1><p>of three</p><aside class="notes">Say hello.</aside></section>
<section><section><h2>Second</h2><ul><li class="fragment">one</li><li>two</li></ul></section><section><h2>Below</h2><pre><code class="language-go" data-line-numbers="1|2">func main() {
}</code></pre></section></section>
<section data-markdown><script type="text/template">## Third **bold**

The area is $$\pi r^2$$</script></section>`

func TestBrowserViewer(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Three slides", "description": "What there is to see.", "data": threeSlides, "visibility": "all"})
	b := browse(t, s)
	b.open(path)
	b.wait(`document.getElementById("number").textContent === "1 / 4"`)
	b.shot("view")
	b.click("#next")
	b.wait(`location.hash === "#/1"`)
	b.quiet()

	b.do(chromedp.EmulateViewport(390, 780), darkMode)
	b.shot("phone")
	b.do(chromedp.EmulateViewport(1280, 800))

	b.open(path + "/fullscreen?print-pdf")
	b.wait(`document.querySelectorAll(".pdf-page").length === 4`)
	b.shot("print")
	if n := eval[int](b, `document.querySelectorAll("pre code.has-highlights").length`); n != 0 {
		t.Errorf("on paper lines of %d pieces of code are dimmed", n)
	}
	b.open(path + "/fullscreen#/2")
	b.wait(`document.documentElement.dataset.ready === "true"`)
	if n := eval[int](b, `document.querySelectorAll("pre code.has-highlights").length`); n == 0 {
		t.Error("on the screen no code is pointed at")
	}
	if got := eval[string](b, `Reveal.getCurrentSlide().querySelector("h2").textContent + "|" + (Reveal.getCurrentSlide().querySelector("math") !== null) + "|" + document.documentElement.lang + "|" + origin`); got != "Third bold|true|en|null" {
		t.Errorf("third slide: %q", got)
	}
	b.shot("fullscreen")
	b.quiet()
	for _, u := range b.seen {
		if !strings.HasPrefix(u, s.URL) && !strings.HasPrefix(u, "data:") {
			t.Errorf("asked for %s", u)
		}
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
