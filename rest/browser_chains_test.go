package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
)

// addStep adds a step at the end of a list of steps: it searches for it and takes what is found first.
func (b *tab) addStep(path, query, want string) {
	b.t.Helper()
	b.click(fmt.Sprintf("[data-add=%q]", path))
	b.wait(`document.getElementById("finder").open`)
	b.write("#what", query)
	b.wait(fmt.Sprintf(`document.querySelector("#found button")?.dataset.op === %q`, want))
	b.write("#what", "\r")
	b.wait(`!document.getElementById("finder").open`)
}

// fill gives a field of a card a value, as leaving the field does.
func (b *tab) fill(key, value string) {
	b.t.Helper()
	field := fmt.Sprintf(`document.querySelector('[data-key="%s"]')`, key)
	b.wait(field)
	eval[bool](b, `(() => { const e = `+field+`; e.focus(); e.value = `+quote(value)+`; return e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
}

// suggests waits until a field of a card suggests a value.
func (b *tab) suggests(key, value string) {
	b.t.Helper()
	field := fmt.Sprintf(`document.querySelector('[data-key="%s"]')`, key)
	b.wait(field)
	eval[bool](b, field+`.focus() === undefined`)
	b.wait(`[...document.getElementById(` + field + `.getAttribute("list")).options].some((o) => o.value === ` + quote(value) + `)`)
}

// checked waits until the text of a chain has been checked.
func (b *tab) checked(source string) {
	b.t.Helper()
	b.wait(`document.getElementById("source").value === ` + quote(source) + ` && document.getElementById("state").textContent === "No problems found."`)
}

// onChains opens the page of chains of a new server.
func onChains(t *testing.T) *tab {
	t.Helper()
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen})
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/chains")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	return b
}

// TestBrowserChains builds a chain of four steps with a condition by cards alone, sees an error at its field, saves it, sees
// what each step of a dry run would change, and runs it.
func TestBrowserChains(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen})
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/chains")
	b.wait(`document.getElementById("names").textContent === "No chains yet." && document.getElementById("state").textContent === "No problems found."`)
	b.fill("/name", "Desk.Close")
	b.click("#declare")
	b.fill("/params/0/name", "why")
	b.fill("/params/0/required", "true")
	b.addStep("/steps", "lock a document", "Document.Lock")
	b.addStep("/steps", "condition", "if")
	b.fill("/steps/1/if", "Document.title != 'Closed'")
	b.addStep("/steps/1/then", "setproperty", "Document.SetProperty")
	b.wait(`document.querySelector('[data-path="/steps/1/then/0"] .wrong')`)
	b.suggests("/steps/1/then/0/params/xpath", "dc:description")
	b.fill("/steps/1/then/0/params/xpath", "dc:descriptio")
	b.fill("/steps/1/then/0/params/value", "Closed: @{w")
	b.wait(`document.querySelector('[data-path="/steps/1/then/0"] .field .wrong')?.textContent.includes("dc:description")`)
	if got := eval[bool](b, `document.querySelector('[data-key="/steps/1/then/0/params/xpath"]').getAttribute("aria-invalid") === "true"`); !got {
		t.Error("the field of the error is not marked")
	}
	if eval[bool](b, `[...document.querySelectorAll("#cards *")].some((e) => e.checkVisibility() && !e.closest(".only-read") && e.getBoundingClientRect().right > document.getElementById("cards").getBoundingClientRect().right + 1)`) {
		t.Error("something is wider than the cards")
	}
	b.shot("chain-wrong")
	b.do(chromedp.EmulateViewport(390, 844))
	eval[bool](b, `document.querySelector('[data-path="/steps/1"]').scrollIntoView() === undefined`)
	b.shot("chain-wrong-phone")
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page scrolls sideways on a phone")
	}
	b.do(chromedp.EmulateViewport(1280, 800))

	// The field suggests the variables that the expression may read.
	eval[bool](b, `(() => { const e = document.querySelector('[data-key="/steps/1/then/0/params/value"]'); e.blur(); e.focus(); return true; })()`)
	b.wait(`[...document.querySelectorAll('#' + document.querySelector('[data-key="/steps/1/then/0/params/value"]').getAttribute("list") + " option")].some((o) => o.value === "Closed: @{why}")`)
	b.fill("/steps/1/then/0/params/value", "Closed: @{why}")
	b.fill("/steps/1/then/0/params/xpath", "dc:description")
	b.addStep("/steps", "unlock", "Document.Unlock")
	const source = "name: Desk.Close\ninput: document\noutput: document\nparams:\n  - name: why\n    type: string\n    required: true\nsteps:\n  - op: Document.Lock\n" +
		"  - if: Document.title != 'Closed'\n    then:\n      - op: Document.SetProperty\n        params:\n          xpath: dc:description\n          value: 'Closed: @{why}'\n  - op: Document.Unlock\n"
	b.checked(source)
	b.suggests("try %input", "/")
	b.fill("try %input", "/desk")
	b.fill("try param why", "tried")
	b.click("#dry") // before it is saved
	b.wait(`document.querySelector('[data-path="/steps/1/then/0"] .did')?.textContent.includes("/desk · dc:description")`)
	b.click("#save")
	b.wait(`document.querySelector('#names [data-id="Desk.Close"]') && document.getElementById("state").textContent === "Saved Desk.Close, version 1."`)
	b.fill("try %input", "/desk")
	b.fill("try param why", "done")
	description := func() any {
		return s.Do("GET", "/api/v1/path/desk", "", "X-NXproperties", "dublincore").JSON(t)["properties"].(map[string]any)["dc:description"]
	}
	b.click("#dry")
	b.wait(`document.querySelector('[data-path="/steps/1/then/0"] .did')?.textContent.includes("/desk · dc:description")`)
	for path, want := range map[string]string{"/steps/0": "lock", "/steps/2": "unlock"} {
		if got := eval[string](b, `document.querySelector('[data-path="`+path+`"] > .did').textContent`); !strings.HasPrefix(got, want+" Folder · /desk") {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := description(); got != nil {
		t.Errorf("the dry run changed the document: %v", got)
	}
	b.shot("chain-dry")
	b.click("#go")
	b.wait(`document.getElementById("outcome").textContent === "The chain has run."`)
	if got := description(); got != "Closed: done" {
		t.Errorf("description %v", got)
	}
	b.quiet()
}

// TestBrowserChainSlow builds and tries a chain while answers take long: steps get to where they were asked for, in that order, and
// nothing of an earlier run is shown for the one that goes on.
func TestBrowserChainSlow(t *testing.T) {
	b := onChains(t)
	eval[bool](b, `(() => {
		const usual = fetch;
		window.pause = 3000; // longer than it takes to ask for two steps
		fetch = async (...request) => {
			if (/Chain\.Edit|dryRun/.test(request[0])) await new Promise((done) => setTimeout(done, pause));
			return usual(...request);
		};
		return true;
	})()`)
	b.click("#declare")
	b.addStep("/steps", "lock a document", "Document.Lock")
	b.addStep("/steps", "unlock", "Document.Unlock")
	eval[bool](b, `(window.pause = 500) > 0`)
	b.wait(`document.getElementById("source").value.endsWith("steps:\n  - op: Document.Lock\n  - op: Document.Unlock\n")`)
	b.fill("/params/0/name", "why")
	b.fill("/name", "Desk.Close")
	b.wait(`document.getElementById("source").value.startsWith("name: Desk.Close\n") && document.getElementById("state").textContent === "No problems found."`)
	b.fill("try %input", "/")
	did := `[...document.querySelectorAll("#cards .did")].map((e) => e.textContent).join("|")`
	running := `document.getElementById("outcome").textContent === "Running…" && document.getElementById("dry").disabled && document.getElementById("go").disabled && !` + did
	for range 2 {
		eval[bool](b, `document.getElementById("dry").focus() === undefined`)
		b.click("#dry")
		if !eval[bool](b, running) {
			t.Errorf("while it runs: %s", eval[string](b, `document.getElementById("outcome").textContent + "|" + `+did))
		}
		b.wait(did + `.startsWith("lock ") && !document.getElementById("dry").disabled && document.activeElement.id === "dry"`)
	}
	b.quiet()
}

// TestBrowserChainText changes a chain as text and by cards in turns: comments stay, cards follow the text, steps are moved
// with the keyboard, edits are undone, and an older version comes back.
func TestBrowserChainText(t *testing.T) {
	b := onChains(t)
	const first = "# closes what it is given\nname: Desk.Close\ninput: document\nsteps:\n  # nobody else\n  - op: Document.Lock   # now\n  - op: Log\n    params: {level: info, message: \"it's, done\"}\n"
	b.setText("source", first)
	b.checked(first)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Close, version 1."`)
	b.click(`[data-key="/steps/0 open"]`)
	b.wait(`document.querySelector('[data-key="/steps/0 down"]')`)
	eval[bool](b, `document.querySelector('[data-key="/steps/0 down"]').focus() === undefined`)
	b.do(chromedp.KeyEvent("\r"))
	moved := "# closes what it is given\nname: Desk.Close\ninput: document\nsteps:\n  - op: Log\n    params: {level: info, message: \"it's, done\"}\n  # nobody else\n  - op: Document.Lock   # now\n"
	b.checked(moved)
	b.wait(`document.activeElement.dataset.key === "/steps/1 open"`)
	b.click(`[data-key="/steps/0 open"]`)
	b.fill("/steps/0/params/message", "all, done")
	changed := strings.Replace(moved, `"it's, done"`, `'all, done'`, 1)
	b.checked(changed)
	b.click("#undo")
	b.checked(moved)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Close, version 2."`)
	b.click("#history")
	b.wait(`document.querySelectorAll("#versions li").length === 2`)
	b.click(`#versions li [aria-expanded]`)
	b.wait(`document.querySelector("#versions pre").textContent.includes("-  - op: Log")`)
	b.click(`#versions [aria-label="Restore version 1"]`)
	b.wait(`document.getElementById("source").value === ` + quote(first))
	b.wait(`document.querySelectorAll("#versions li").length === 3`)
	b.shot("chain-versions")
	b.setText("source", "name: [\n")
	b.wait(`document.querySelector("#cards .alert")?.textContent.includes("Line 2") || document.querySelector("#cards .alert")`)
	b.do(darkMode)
	b.shot("chain-unreadable-dark")
	b.quiet()
}
