package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"catena/decks"
	"catena/rest/resttest"
)

// keys presses keys one after the other.
func (b *tab) keys(all ...string) {
	b.t.Helper()
	for _, key := range all {
		b.do(chromedp.KeyEvent(key))
	}
}

// stop presses the Tab key until the focus is on an element, which must be within some stops.
func (b *tab) stop(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	for range 80 {
		if eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		b.keys(kb.Tab)
	}
	b.t.Fatalf("the Tab key does not come to %s, but to %s", selector, eval[string](b, `document.activeElement.outerHTML.slice(0, 300)`))
}

// TestBrowserKeyboardChain builds, tries, saves and schedules a chain without a mouse.
func TestBrowserKeyboardChain(t *testing.T) {
	s := managed(t)
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/chains")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.stop(`[data-key="/name"]`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.keys("Desk.Night")
	b.stop(`[data-add="/steps"]`)
	b.keys(kb.Enter)
	b.wait(`document.getElementById("finder").open`)
	b.keys("lock a document")
	b.wait(`document.querySelector("#found button")?.dataset.op === "Document.Lock"`)
	b.keys(kb.ArrowDown, kb.Enter)
	b.wait(`document.activeElement.dataset.key === "/steps/0 open"`)
	b.stop("#values input")
	b.keys("/desk", kb.Tab)
	b.stop("#dry")
	b.keys(kb.Enter)
	b.wait(`document.querySelector('[data-path="/steps/0"] .did')?.textContent.includes("/desk")`)
	eval[bool](b, `(() => { document.getElementById("main").focus(); return true; })()`)
	b.stop("#save")
	b.keys(kb.Enter)
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Night, version 1."`)
	eval[bool](b, `(() => { document.getElementById("main").focus(); return true; })()`)
	b.stop("#schedule")
	b.keys(kb.Enter)
	b.wait(`document.querySelector("dialog[open] [role=status]")?.textContent.startsWith("Next runs: ")`)
	b.shot("chain-schedule")
	b.look("schedule of a chain")
	b.narrow("chain-schedule-narrow")
	b.stop("dialog button.primary")
	b.keys(kb.Enter)
	b.wait(`document.getElementById("done").textContent.startsWith("Desk.Night is scheduled.")`)
	if got := s.Do("POST", "/api/v1/automation/Schedule.Read", `{"params":{"name":"Desk.Night"}}`).Text; !strings.Contains(got, `cron: \"0 2 * * *\"`) || !strings.Contains(got, `input: \"/desk\"`) {
		t.Errorf("the schedule: %s", got)
	}
	b.quiet()
}

// TestBrowserKeyboardDocuments creates, opens, renames and trashes a document without a mouse.
func TestBrowserKeyboardDocuments(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", "/api/v1/path/default-domain/workspaces", "").JSON(t)["uid"].(string))
	act := func(label string) {
		t.Helper()
		b.wait(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll("#acts button")].find((x) => x.textContent === %q); if (e) e.dataset.wanted = "1"; return e; })()`, label))
		b.stop("#acts [data-wanted]")
		eval[bool](b, `(() => { delete document.activeElement.dataset.wanted; return true; })()`)
		b.keys(kb.Enter)
		b.wait(`document.querySelector("dialog[open]")`)
	}
	act("New")
	b.wait(`document.activeElement.matches("dialog select")`)
	b.keys("Worksp")
	b.stop(`dialog [name="dc:title"]`)
	b.keys("Desk", kb.Enter)
	b.wait(`document.getElementById("title").textContent === "Desk"`)
	act("Rename")
	b.stop(`dialog [name=title]`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.keys("Table", kb.Enter)
	b.wait(`document.getElementById("title").textContent === "Table"`)
	act("Move to trash")
	b.stop("dialog button.danger")
	b.keys(kb.Enter)
	b.wait(`document.getElementById("title").textContent === "Workspaces" && document.querySelectorAll("#children li").length === 0`)
	b.quiet()
}
