package rest_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserFieldOrder declares a type whose fields are not in the order of the alphabet: its form and the table of its schema keep
// the order of the declaration, parts of fields too.
func TestBrowserFieldOrder(t *testing.T) {
	s := managed(t)
	const source = `schemas:
  parcel:
    prefix: pc
    fields:
      sender: string
      receiver: string
      address: {type: complex, fields: {street: string, city: string, country: string}}
      amount: double
types:
  Parcel:
    parent: File
    schemas: [parcel]
    containers: [Folder, Workspace]
`
	answers(t, s.Do("POST", "/api/v1/automation/Type.Save", jsonOf(t, map[string]any{"params": map[string]any{"source": source, "name": "parcel.yaml"}})), 200, "")
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Workspace", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", "/api/v1/path/desk", "").JSON(t)["uid"].(string))
	b.press("#acts", "New")
	b.set("dialog select", "Parcel")
	b.wait(`document.querySelector('dialog [data-field="pc:amount"]')`)
	names := func(selector, of string) string {
		t.Helper()
		return fmt.Sprint(eval[[]string](b, `[...document.querySelectorAll(`+quote(selector)+`)].map((e) => `+of+`)`))
	}
	if got, want := names(`dialog [data-field^="pc:"], dialog [data-field="pc:address"] [data-field]`, "e.dataset.field"), "[pc:sender pc:receiver pc:address street city country pc:amount]"; got != want {
		t.Errorf("form: %s, want %s", got, want)
	}
	b.shot("field-order")
	// The answer about the schema that is shown first comes after that about the one that is chosen.
	b.open("/ui/admin#types")
	b.wait(`document.querySelector("#types .list") && [...document.querySelectorAll("caption")].some((c) => c.textContent.startsWith("Fields of the schema"))`)
	eval[bool](b, `(() => { const ask = fetch; let held = false; fetch = async (url, how) => { const a = await ask(url, how); if (!held && String(url).includes("/config/schemas/uid")) { held = true; await new Promise((go) => { window.release = go; }); } return a; };
		const e = [...document.querySelectorAll("select")].find((e) => [...e.options].some((o) => o.value === "parcel"));
		for (const name of ["uid", "parcel"]) { e.value = name; e.dispatchEvent(new Event("change")); } return true; })()`)
	const shown = `[...document.querySelectorAll("caption")].some((c) => c.textContent.startsWith("Fields of the schema parcel"))`
	b.wait(`window.release && ` + shown)
	eval[bool](b, `(window.release(), new Promise((go) => setTimeout(() => go(true), 300)))`)
	b.wait(shown)
	table := `[...document.querySelectorAll("table")].find((x) => x.caption?.textContent.startsWith("Fields of the schema parcel"))`
	if got, want := fmt.Sprint(eval[[]string](b, `[...`+table+`.tBodies[0].rows].map((r) => r.cells[0].textContent)`)), "[sender receiver address address/street address/city address/country amount]"; got != want {
		t.Errorf("table: %s, want %s", got, want)
	}
	b.quiet()
}

// TestBrowserSavedSays saves a text before the check of it has answered: that it was saved still stands there afterwards, until somebody
// writes more.
func TestBrowserSavedSays(t *testing.T) {
	s := withScripts(t)
	for _, k := range []struct{ page, check, field, name, text string }{
		{"/ui/chains", "Chain.Outline", "#source", "Desk.Late", "name: Desk.Late\ninput: void\nsteps: []\n"},
		{"/ui/scripts", "Script.Check", "#code textarea", "Text.Late", "/** @operation Text.Late\n@description Late.\n@output string */\nfunction run() { return \"\"; }\n"},
	} {
		b := browse(t, s)
		b.signIn("Administrator")
		b.open(k.page)
		const says = `document.getElementById("state").textContent`
		b.wait(says + ` === "No problems found."`)
		eval[bool](b, `(() => { const ask = fetch; window.held = []; fetch = async (url, how) => { const a = await ask(url, how); if (String(url).includes("`+k.check+`")) await new Promise((go) => held.push(go)); return a; };
			const e = document.querySelector(`+quote(k.field)+`); e.value = `+quote(k.text)+`; e.dispatchEvent(new Event("input")); return true; })()`)
		b.wait(`held.length`)
		b.click("#save")
		b.wait(says + `.endsWith("version 1.")`)
		eval[bool](b, `(held.forEach((go) => go()), new Promise((go) => setTimeout(() => go(true), 300)))`)
		if got := eval[string](b, says); got != "Saved "+k.name+", version 1." {
			t.Errorf("%s says %q", k.page, got)
		}
		eval[bool](b, `((e) => { e.value += " "; e.dispatchEvent(new Event("input")); return true; })(document.querySelector(`+quote(k.field)+`))`)
		b.wait(says + ` === "Checking…"`)
		b.wait(`held.length > 1`)
		eval[bool](b, `(held.forEach((go) => go()), true)`)
		b.wait(says + ` === "No problems found."`)
		b.quiet()
	}
}

// TestBrowserSchedulePreview changes when a chain is to run before the page knows when it would have run before: the newest times are
// shown, and what is wrong with an expression is said at once.
func TestBrowserSchedulePreview(t *testing.T) {
	s := managed(t)
	answers(t, s.Do("POST", "/api/v1/automation/Chain.Save", jsonOf(t, map[string]any{"params": map[string]any{"source": "name: Desk.Late\ninput: void\nsteps:\n  - {op: Log, params: {level: info, message: late}}\n"}})), 200, "")
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/chains#Desk.Late")
	b.wait(`!document.getElementById("schedule").hidden`)
	eval[bool](b, `(() => { const ask = fetch; window.held = []; fetch = async (url, how) => { const a = await ask(url, how); if (String(url).includes("Schedule.Next") && String(how?.body).includes("0 2 * * *")) await new Promise((go) => held.push(go)); return a; }; return true; })()`)
	b.click("#schedule")
	b.wait(`held.length`)
	cron := func(expression string) {
		t.Helper()
		eval[bool](b, `((e) => { e.value = `+quote(expression)+`; e.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("dialog[open] [name=cron]"))`)
	}
	const says = `document.querySelector("dialog[open] [role=status]").textContent`
	cron("0 7 1 1 *")
	b.wait(says + `.startsWith("Next runs: 1/1/")`)
	eval[bool](b, `(held.forEach((go) => go()), new Promise((go) => setTimeout(() => go(true), 300)))`)
	if got := eval[string](b, says); !strings.HasPrefix(got, "Next runs: 1/1/") {
		t.Errorf("after a late answer: %s", got)
	}
	cron("0 25 * * *")
	b.wait(says + `.includes("cron")`)
	b.shot("schedule-wrong")
	cron("0 7 1 1 *")
	b.wait(says + `.startsWith("Next runs: ")`)
}

// TestBrowserSlidesFirst has the slides of a page come before the script of the page: they go where the address says, and are drawn.
func TestBrowserSlidesFirst(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "First", "visibility": "all", "data": "<section>one</section><section>two</section><section>three</section>"})
	b := browse(t, s)
	b.signIn("alice")
	if _, err := chromedp.Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.frameLoads = 0; document.addEventListener("load", (e) => { if (e.target.tagName === "IFRAME") window.frameLoads++; }, true);`,
	}); err != nil {
		t.Fatal(err)
	}
	var frames atomic.Int64 // of the page that is opened
	if err := chromedp.Listen(b, func(ev any) {
		e, ok := ev.(*fetch.EventRequestPaused)
		if !ok {
			return
		}
		go func() {
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if n, err := chromedp.Run(b, chromedp.Evaluate[int64]("window.frameLoads")); err == nil && n >= frames.Load() {
					break
				}
			}
			time.Sleep(500 * time.Millisecond) // until slides that have come are laid out
			_, _ = chromedp.Call(b, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		}()
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/view.js"}, {URLPattern: "*/present.js"}, {URLPattern: "*/strip.js"}, {URLPattern: "*/edit.js"}}}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		path   string
		frames int64
		shown  string
	}{
		{path + "#/1", 1, `document.getElementById("number").textContent === "2 / 3" && !document.getElementById("prev").disabled`},
		{path + "/present#/1", 2, `document.getElementById("number").textContent === "2 / 3"`},
		{path + "/edit#/1", 2, `document.querySelectorAll("#slide-list .drawn").length === 3`},
	} {
		frames.Store(p.frames)
		b.open(p.path)
		b.wait(p.shown)
	}
	b.quiet()
}
