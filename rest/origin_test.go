package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
)

// counted is a server with an operation that counts its runs.
func counted(t *testing.T) (s *resttest.Server, runs *atomic.Int64) {
	t.Helper()
	runs = new(atomic.Int64)
	count := engine.Op{
		Name: "Test.Count", Doc: "Counts.", Effect: engine.Pure,
		Callers: engine.Anyone,
		Run:     engine.On(func(none, *engine.Ctx, engine.Void) (string, error) { runs.Add(1); return "ran", nil }),
	}
	s = resttest.Start(t, resttest.Config{
		Ops: append([]engine.Op{count}, decks.Ops()...), Repo: decks.Listen,
		Rest: func(c *rest.Config) { c.Limits.Rate, c.Origins = -1, []string{"https://app.example.org"} },
	})
	s.User("alice")
	return s, runs
}

// listeners are the entry points that take JSON and act: addresses and what is sent there.
func listeners() []struct{ path, body string } {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`
	return []struct{ path, body string }{
		{"/mcp", fmt.Sprintf(call, "create_deck", `{"title":"x"}`)},
		{"/nuxeo/mcp", fmt.Sprintf(call, "create_deck", `{"title":"x"}`)},
		{"/mcp/automation", fmt.Sprintf(call, "run_operation", `{"operation":"Test.Count"}`)},
		{"/v1/decks", `{"title":"x"}`},
		{"/api/v1/automation/Test.Count", `{"params":{}}`},
		{"/nuxeo/site/automation/Test.Count", `{"params":{}}`},
	}
}

// TestOrigins sends combinations of host, origin, kind of request and content type to every
// entry point, all of them if CATENA_CORPUS is all: only those that no page of another site can send
// run anything.
func TestOrigins(t *testing.T) {
	s, runs := counted(t)
	own := strings.TrimPrefix(s.URL, "http://")
	port := own[strings.LastIndexByte(own, ':'):]
	hosts := map[string]bool{own: true, "LOCALHOST" + port: true, "evil.example": false, "127.0.0.1.evil.example" + port: false, "localhost.evil.example": false, "localhost.": false}
	origins := []string{"", "http://{host}", "https://evil.example", "null", "http://127.0.0.1:1", "https://app.example.org", "https://app.example.org.evil.example"}
	types := map[string]bool{"application/json": true, "application/json; charset=utf-8": true, "text/plain": false, "text/plain; application/json": false, "multipart/form-data; boundary=x": false, "": false}
	sites := []string{"", "same-origin", "none", "same-site", "cross-site"}
	sent, combinations, ran := 0, 0, int64(0)
	for _, entryPoint := range listeners() {
		for host, served := range hosts {
			for _, origin := range origins {
				origin = strings.ReplaceAll(origin, "{host}", host)
				for typ, takes := range types {
					for _, site := range sites {
						if combinations++; combinations%11 != 0 && os.Getenv("CATENA_CORPUS") != "all" {
							continue
						}
						sent++
						ours := site == "same-origin" || site == "none" || site == "" && (origin == "" || origin == "http://"+host) || origin == "https://app.example.org"
						want := served && takes && ours
						headers := []string{"Host", host, "Content-Type", typ, "Accept", "application/json, text/event-stream", "as", "alice"}
						if origin != "" {
							headers = append(headers, "Origin", origin)
						}
						if site != "" {
							headers = append(headers, "Sec-Fetch-Site", site)
						}
						got := s.Do("POST", entryPoint.path, entryPoint.body, headers...)
						if (got.StatusCode < 300) != want {
							t.Errorf("%s %q: %s, want it to run: %t", entryPoint.path, headers, got.Status, want)
						}
						if want && !strings.HasSuffix(entryPoint.path, "mcp") && entryPoint.path != "/v1/decks" {
							ran++
						}
					}
				}
			}
		}
	}
	if runs.Load() != ran {
		t.Errorf("%d runs, want %d", runs.Load(), ran)
	}
	if t.Logf("%d of %d combinations on %d entry points, %d of the counted ran", sent, combinations, len(listeners()), ran); sent < 60*len(listeners()) || ran == 0 {
		t.Error("the test does not test much")
	}
}

// TestBrowserForeign has a page of another origin, in a browser whose user is signed in, send
// everything a page can: nothing runs, and nothing is read.
func TestBrowserForeign(t *testing.T) {
	s, runs := counted(t)
	var page string
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	t.Cleanup(evil.Close)
	b := browse(t, s)
	b.signIn("alice")
	count := func() int {
		return len(s.Do("GET", "/v1/decks", "", "as", "alice").JSON(t)["data"].([]any))
	}
	page = "<!doctype html><title>other</title>"
	b.do(chromedp.Navigate(evil.URL))
	for _, entryPoint := range listeners() {
		read := eval[string](b, fmt.Sprintf(`(async () => {
			const out = [], url = %q, body = %q;
			const types = ["text/plain", "application/json", "application/x-www-form-urlencoded", "application/json+nxrequest", ""];
			for (const mode of ["cors", "no-cors"]) for (const credentials of ["include", "omit"]) for (const type of types) {
				try {
					const headers = type ? {"Content-Type": type, Accept: "application/json, text/event-stream"} : {};
					const r = await fetch(url, {method: "POST", mode, credentials, body, headers, signal: AbortSignal.timeout(3000)});
					const text = await r.text();
					if (text) out.push(text);
				} catch (e) {}
			}
			navigator.sendBeacon(url, new Blob([body], {type: "text/plain"}));
			navigator.sendBeacon(url, new URLSearchParams({jsondata: body}));
			try { await fetch(url, {mode: "cors", credentials: "omit"}).then((r) => r.text()).then((t) => out.push(t)); } catch (e) {}
			return out.join();
		})()`, s.URL+entryPoint.path, entryPoint.body))
		if read != "" {
			t.Errorf("%s: the page reads %.200s", entryPoint.path, read)
		}
		for _, enc := range []string{"text/plain", "multipart/form-data", "application/x-www-form-urlencoded"} {
			eval[bool](b, fmt.Sprintf(`(() => {
				const f = document.createElement("form"), frame = document.createElement("iframe");
				frame.name = "f" + Math.random();
				document.body.append(f, frame);
				f.method = "POST"; f.action = %q; f.enctype = %q; f.target = frame.name;
				const i = document.createElement("input");
				i.name = %q === "text/plain" ? %q.slice(0, -1) + ',"a":"' : "jsondata"; i.value = %q === "text/plain" ? '"}' : %q;
				f.append(i); f.submit();
				return true;
			})()`, s.URL+entryPoint.path, enc, enc, entryPoint.body, enc, entryPoint.body))
		}
	}
	b.wait(`[...document.querySelectorAll("iframe")].every((f) => { try { return f.contentDocument === null } catch (e) { return true } })`)
	time.Sleep(100 * time.Millisecond) // what was sent without waiting
	if n, made := runs.Load(), count(); n > 0 || made > 0 {
		t.Errorf("%d operations ran, %d decks were made", n, made)
	}
	// The test would see it.
	if ok := s.Do("POST", "/api/v1/automation/Test.Count", `{"params":{}}`); ok.StatusCode != http.StatusOK || runs.Load() != 1 {
		t.Errorf("the counted operation: %s, %d runs", ok.Status, runs.Load())
	}
}
