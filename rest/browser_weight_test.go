package rest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"catena/rest/resttest"
)

// consolePages are the pages of the console, with what is to be there once one can be read and used.
var consolePages = [][2]string{
	{"/ui/home", `document.querySelector("main section, main li")`},
	{"/ui/", `document.querySelector("#list li, #none:not([hidden])")`},
	{"/ui/documents", `document.querySelector("#children li")`},
	{"/ui/search?q=plan", `document.querySelector("#results output")?.textContent`},
	{"/ui/tasks", `document.querySelector("#list")?.textContent`},
	{"/ui/activity", `document.querySelector("#list")?.textContent`},
	{"/ui/team", `document.querySelector("main h1")`},
	{"/ui/webhooks", `document.querySelector("#list")?.textContent`},
	{"/ui/runs", `document.querySelector("#list")?.textContent`},
	{"/ui/chains", `document.querySelector("#names")?.textContent`},
	{"/ui/scripts", `document.querySelector("#code textarea")`},
	{"/ui/operations", `document.querySelector("main h1")`},
	{"/ui/admin", `document.querySelector("#users li")`},
	{"/ui/account", `document.querySelector("#sessions li")`},
	{"/ui/keys", `document.querySelector("#list")?.textContent`},
}

// traffic is what a tab asks for and has received.
type traffic struct {
	mu    sync.Mutex
	open  map[network.RequestID]string
	bytes map[string]int
	last  time.Time
}

func (f *traffic) hear(ev any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		// Slides are in frames of their own, which tell nobody here when they have come.
		if strings.HasPrefix(ev.Request.URL, "http") && ev.Type != network.ResourceTypeEventSource && !strings.Contains(ev.Request.URL, "frame=") {
			f.open[ev.RequestID] = ev.Request.URL
		}
	case *network.EventLoadingFinished:
		if at, ok := f.open[ev.RequestID]; ok {
			f.bytes[at] += int(ev.EncodedDataLength)
		}
		delete(f.open, ev.RequestID)
	case *network.EventLoadingFailed:
		delete(f.open, ev.RequestID)
	}
	f.last = time.Now()
}

// settled reports whether all that was asked for has come, and nothing more was asked for a while.
func (f *traffic) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open) == 0 && time.Since(f.last) > 200*time.Millisecond
}

// ended is when the last answer came.
func (f *traffic) ended() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// take returns what has come since the last call.
func (f *traffic) take() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.bytes
	f.bytes, f.last = map[string]int{}, time.Now()
	clear(f.open) // what a page that was left asked for does not always end
	return out
}

// noted has a tab note its traffic.
func (b *tab) noted() *traffic {
	b.t.Helper()
	f := &traffic{open: map[network.RequestID]string{}, bytes: map[string]int{}}
	if err := chromedp.Listen(b, f.hear); err != nil {
		b.t.Fatal(err)
	}
	return f
}

// measured is noted for a tab without a cache.
func (b *tab) measured() *traffic {
	b.t.Helper()
	b.cache(false)
	return b.noted()
}

// cache turns the cache of a tab on or off.
func (b *tab) cache(on bool) {
	b.t.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: !on})
		return chromedp.Void{}, err
	})
}

// visit opens a page and waits until it can be used and has all that it asks for by itself.
func (b *tab) visit(f *traffic, path, ready string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"))
	f.take()
	b.open(path)
	b.wait(ready)
	b.settle(f, path)
}

// settle waits until a page has all that it asks for by itself.
func (b *tab) settle(f *traffic, path string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); !f.settled(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("%s asks for more and more: %v", path, f.open)
		}
	}
}

// weigh adds up what a page receives.
func (f *traffic) weigh(base string) (sum int, large []string) {
	for at, n := range f.take() {
		if sum += n; n > 15_000 {
			large = append(large, fmt.Sprintf("%s %d", strings.TrimPrefix(at, base), n))
		}
	}
	slices.Sort(large)
	return sum, large
}

// edits are how somebody begins to edit on a page that asks for more then.
var edits = map[string]func(b *tab){
	"/ui/": func(b *tab) {
		b.click("#create")
		b.wait(`document.querySelector("dialog[open]")`)
	},
	"folder": func(b *tab) {
		b.press("#acts", "New")
		b.wait(`document.querySelector('dialog [name="dc:title"]')`)
	},
	"/ui/search?q=plan": func(b *tab) {
		b.set("#find [name=type]", "Fi")
		b.click("#editor summary")
	},
	"/ui/chains": func(b *tab) {
		b.takeStep("/steps", "lock a document", "Document.Lock", "/steps/0")
		b.wait(`document.getElementById("state").textContent === "No problems found."`)
	},
	"/ui/scripts": func(b *tab) {
		b.turnToCode()
		b.typeCode("\nDocument.AddPer")
		b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + `?.textContent.startsWith("AddPermission")`)
		b.wait(inEditor(".cm-completionInfo") + `?.textContent.length > 10`)
	},
	"/ui/operations": func(b *tab) {
		b.click(`#names [data-id="Document.Create"]`)
		b.wait(`document.querySelector("#one form")`)
	},
	"/ui/admin": func(b *tab) {
		b.press("#users", "New user")
		b.wait(`document.querySelector("dialog [name=username]")`)
	},
}

// gzipOnly is a way to a server on which nothing but gzip is accepted, as by browsers without TLS.
func gzipOnly(t *testing.T, s *resttest.Server) *resttest.Server {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	way := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Accept-Encoding", "gzip")
	}})
	t.Cleanup(way.Close)
	return &resttest.Server{Server: way}
}

// TestBrowserWeightGzip is TestBrowserWeight where only gzip is accepted. The page of scripts, nearly all of which is the editor, may be
// larger there.
func TestBrowserWeightGzip(t *testing.T) {
	const most, mostOfScripts = 200_000, 222_000
	if os.Getenv("CATENA_CONSOLE") == "" {
		t.Skip("set CATENA_CONSOLE to weigh the pages of the console (make pages)")
	}
	s := gzipOnly(t, withScripts(t))
	b := browse(t, s)
	b.signIn("Administrator")
	f := b.measured()
	for _, p := range consolePages {
		b.visit(f, p[0], p[1])
		if edit := edits[p[0]]; edit != nil {
			edit(b)
			b.settle(f, p[0])
		}
		sum, large := f.weigh(s.URL)
		t.Logf("%-20s %6d bytes while editing", p[0], sum)
		if sum > most && (p[0] != "/ui/scripts" || sum > mostOfScripts) || sum < 5_000 {
			t.Errorf("%s: %d bytes, at most %d are allowed: %s", p[0], sum, most, strings.Join(large, ", "))
		}
	}
}

// TestBrowserWeight adds up what each page of the console receives at the first visit and while somebody begins to edit, as it
// comes over the wire to a browser that has kept nothing: at most 200 kB.
func TestBrowserWeight(t *testing.T) {
	const most = 200_000
	if os.Getenv("CATENA_CONSOLE") == "" {
		t.Skip("set CATENA_CONSOLE to weigh the pages of the console (make pages)")
	}
	s := withScripts(t)
	s.User("alice")
	pro(t, s, "alice")
	deck := makeDeck(t, s, map[string]any{"title": "Plans", "data": threeSlides, "visibility": "all"})
	b := browse(t, s)
	b.signIn("Administrator")
	f := b.measured()
	pages := slices.Concat(consolePages, [][2]string{
		{"/ui/documents#default/" + s.Do("GET", "/api/v1/path/default-domain/workspaces", "").JSON(t)["uid"].(string), `document.getElementById("title").textContent === "Workspaces" && document.querySelector("#acts button")`},
	})
	alice := browse(t, s)
	alice.signIn("alice")
	slides := alice.measured()
	alice.visit(slides, deck+"/edit", `document.getElementById("state")?.textContent === "Saved"`)
	if sum, large := slides.weigh(s.URL); sum > most || sum < 50_000 {
		t.Errorf("the editor of slides: %d bytes: %s", sum, strings.Join(large, ", "))
	}
	for _, p := range pages {
		b.cache(false)
		b.visit(f, p[0], p[1])
		first, large := f.weigh(s.URL)
		name, _, found := strings.Cut(p[0], "#")
		if found {
			name = "folder"
		}
		sum := first
		if edit := edits[name]; edit != nil {
			edit(b)
			b.settle(f, p[0])
			more, rest := f.weigh(s.URL)
			sum, large = sum+more, append(large, rest...)
		}
		t.Logf("%-20s %6d bytes, %6d while editing", name, first, sum)
		if sum > most || sum < 5_000 {
			t.Errorf("%s: %d bytes, at most %d are allowed: %s", p[0], sum, most, strings.Join(large, ", "))
		}
	}
}
