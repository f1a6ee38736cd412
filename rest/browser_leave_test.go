package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserLateTexts opens another script or chain before the server has answered about the first: its late answer is dropped.
func TestBrowserLateTexts(t *testing.T) {
	s := withScripts(t)
	for _, name := range []string{"Slow", "Quick"} {
		s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Desk.`+name+`\nsteps: []\n"}}`)
		s.Do("POST", "/api/v1/automation/Script.Save", jsonOf(t, map[string]any{"params": map[string]any{"source": "/** @operation Text." + name + "\n@description Says it.\n@output string */\nfunction run() { return \"" + name + "\"; }\n"}}))
	}
	b := browse(t, s)
	b.signIn("Administrator")
	for path, of := range map[string][2]string{"/ui/scripts": {"Script.Read", "Text"}, "/ui/chains": {"Chain.Read", "Desk"}} {
		b.open(path)
		b.late(of[0])
		b.press("#names", of[1]+".Slow")
		b.press("#names", of[1]+".Quick")
		b.wait(`document.getElementById("title").textContent === ` + quote(of[1]+".Quick") + ` && window.late`)
		if got := eval[string](b, `document.getElementById("title").textContent + location.hash`); got != of[1]+".Quick#"+of[1]+".Quick" {
			t.Errorf("%s shows %s", path, got)
		}
		b.quiet()
	}
}

// TestBrowserAddresses has the address of a page name what is shown, for those who reload it or come back, and what was written is
// not lost without a question.
func TestBrowserAddresses(t *testing.T) {
	s := withScripts(t)
	for _, name := range []string{"First", "Second"} {
		s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Desk.`+name+`\nsteps: []\n"}}`)
		s.Do("POST", "/api/v1/automation/Script.Save", jsonOf(t, map[string]any{"params": map[string]any{"source": "/** @operation Text." + name + "\n@description Says it.\n@output string */\nfunction run() { return \"" + name + "\"; }\n"}}))
	}
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Note", "name": "plan", "properties": {"dc:title": "The plan"}}}`)
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "File", "name": "other", "properties": {"dc:title": "Another plan"}}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	for _, page := range []struct{ path, family, change string }{
		{"/ui/chains", "Desk", `(() => { const e = document.getElementById("source"); e.value += "# more\n"; e.dispatchEvent(new Event("input")); return true; })()`},
		{"/ui/scripts", "Text", `(() => { const e = document.querySelector("#code textarea"); e.value += "// more\n"; e.dispatchEvent(new Event("input")); return true; })()`},
	} {
		shown := func(name string) {
			t.Helper()
			b.wait(`document.getElementById("title").textContent === ` + quote(page.family+"."+name) + ` && location.hash === ` + quote("#"+page.family+"."+name) + ` && document.getElementById("state").textContent === "No problems found."`)
		}
		b.open(page.path)
		b.press("#names", page.family+".First")
		shown("First")
		b.press("#names", page.family+".Second")
		shown("Second")
		eval[bool](b, `(history.back(), true)`)
		shown("First")
		b.do(chromedp.Reload())
		shown("First")
		eval[bool](b, page.change)
		b.press("#names", page.family+".Second")
		b.press("dialog[open]", "Cancel")
		b.wait(`!document.querySelector("dialog[open]") && document.getElementById("title").textContent === ` + quote(page.family+".First"))
		if !eval[bool](b, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`) {
			t.Errorf("%s: the browser does not ask before it leaves a changed text", page.path)
		}
		b.press("#names", page.family+".Second")
		b.press("dialog[open]", "Discard")
		shown("Second")
		if eval[bool](b, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`) {
			t.Errorf("%s: the browser asks although nothing was changed", page.path)
		}
	}

	found := `document.querySelector("#results output").textContent === "1 document" && document.querySelector("#facets label")?.textContent === "Administrator1"`
	b.open("/ui/search?q=plan")
	b.wait(`document.querySelector("#results output").textContent === "2 documents"`)
	b.set("#find [name=type]", "Note")
	b.press("#find", "Search")
	b.wait(found + ` && location.search === "?q=plan&type=Note"`)
	b.click("#results a")
	b.wait(`document.getElementById("title")?.textContent === "The plan"`)
	eval[bool](b, `(history.back(), true)`)
	b.wait(`document.querySelector("#find [name=type]")?.value === "Note" && ` + found)
	b.quiet()
}

// TestConsoleByRole: pages whose operations are for administrators are offered to them alone; those who look after users get the users.
func TestConsoleByRole(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen})
	s.User("alice")
	s.User("paula", "powerusers")
	for _, c := range []struct {
		user string
		may  map[string]bool
	}{
		{"Administrator", map[string]bool{"/ui/chains": true, "/ui/scripts": true, "/ui/admin": true}},
		{"alice", map[string]bool{"/ui/chains": false, "/ui/scripts": false, "/ui/admin": false}},
		{"paula", map[string]bool{"/ui/chains": false, "/ui/scripts": false, "/ui/admin": true}},
	} {
		home := s.Do("GET", "/ui/home", "", "as", c.user).Text
		for path, may := range c.may {
			if got := strings.Contains(home, `href="`+path+`"`); got != may {
				t.Errorf("%s is offered %s: %v", c.user, path, got)
			}
			got := s.Do("GET", path, "", "as", c.user, "Accept", "text/html")
			if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[may]; got.StatusCode != want {
				t.Errorf("%s: %s: %s", c.user, path, got.Status)
			}
			if !may && !strings.Contains(got.Text, "This page is for administrators.") {
				t.Errorf("%s: %s says %s", c.user, path, got.Text)
			}
		}
	}
}
