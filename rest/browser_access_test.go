package rest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
	"catena/storage/storagetest"
)

// controls are the roles whose elements people use by their names.
var controls = strings.Fields("button checkbox combobox dialog Iframe link listbox menuitem radio searchbox slider spinbutton switch tab tabpanel textbox toolbar")

// nameless returns the roles of elements on the page that have no name for a screen reader.
func nameless(ctx context.Context, t *chromedp.Target) ([]string, error) {
	tree, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		return nil, err
	}
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `" `)
	}
	var out []string
	for _, n := range tree.Nodes {
		for _, role := range controls {
			if !n.Ignored && text(n.Role) == role && text(n.Name) == "" {
				out = append(out, fmt.Sprintf("%s (value %s)", role, text(n.Value)))
			}
		}
	}
	return out, nil
}

// pale returns texts whose contrast to what is behind them is below 4.5, or 3 for large ones.
const pale = `(() => {
	const colour = (c) => {
		const n = c.match(/[\d.e-]+/g).map(Number);
		if (c.startsWith("color(")) return [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1];
		return [n[0], n[1], n[2], n[3] ?? 1];
	};
	const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
	const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) {
			const c = colour(getComputedStyle(e).backgroundColor);
			if (c[3] > 0) layers.push(c);
			if (c[3] === 1) break;
		}
		return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
	};
	const failures = [];
	const check = (e, style, text) => {
		const back = behind(e);
		const [a, b] = [light(over(colour(style.color), back)), light(back)];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const size = parseFloat(style.fontSize);
		const enough = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
		if (ratio < enough) failures.push(text.trim().slice(0, 30) + " " + ratio.toFixed(2) + " " + style.color + " on " + back.map(Math.round));
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || /^(SCRIPT|STYLE|OPTION|DATALIST)$/.test(e.tagName) || e.closest(":disabled, .only-read")) continue;
		if (e.checkVisibility({ visibilityProperty: true })) check(e, getComputedStyle(e), walk.currentNode.data);
	}
	for (const e of document.querySelectorAll("input, textarea")) {
		if (!e.checkVisibility() || e.disabled || e.closest(".coloured")) continue;
		check(e, getComputedStyle(e), "value of " + (e.name || e.id));
		if (e.placeholder) check(e, getComputedStyle(e, "::placeholder"), e.placeholder);
	}
	return failures;
})()`

// reachable are the elements the Tab key stops at, in the order of the document, without the
// sandboxed frames.
const reachable = `(() => {
	window.stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && e.type !== "hidden" && e.tagName !== "IFRAME");
	window.stops = window.stops.filter((e) => e.type !== "radio" || e.checked || !window.stops.some((o) => o.name === e.name && o.checked));
	document.body.tabIndex = -1; // from the top, also where a field has the focus at first
	document.body.focus();
	document.body.removeAttribute("tabindex");
	return window.stops.length;
})()`

// stop is where the focus is among the stops, or what is wrong with it.
const stop = `(() => {
	const e = document.activeElement;
	const s = getComputedStyle(e.closest(".swatch") ? e.nextElementSibling : e);
	if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1) return -2;
	return window.stops.indexOf(e);
})()`

func inColours(name string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return chromedp.Void{}, err
	}
}

// axeSource is axe-core, which checks pages by the rules of WCAG and by those of good practice.
var axeSource = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile("web/npm/node_modules/axe-core/axe.min.js")
	return string(source), err
})

// violations are what axe finds on a page, with the first elements of each.
const violations = `axe.run(document, { resultTypes: ["violations"], iframes: false }).then((r) => r.violations.map((v) => v.id + " at " + v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(", ")))`

// look fails the test for controls of the page without a name, for texts that do not stand out in light or in dark, and for what
// axe finds.
func (b *tab) look(what string) {
	b.t.Helper()
	names, err := chromedp.Run(b, nameless)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(names) > 0 {
		b.t.Errorf("%s: without a name: %s", what, strings.Join(names, ", "))
	}
	source, err := axeSource()
	if err != nil {
		b.t.Fatalf("axe-core is missing: run make assets: %v", err)
	}
	for _, scheme := range []string{"dark", "light"} {
		b.do(inColours(scheme))
		if !eval[bool](b, `typeof axe === "object"`) {
			eval[bool](b, source+`; true`)
		}
		if got := eval[[]string](b, violations); len(got) > 0 {
			b.t.Errorf("%s, %s: axe: %s", what, scheme, strings.Join(got, "; "))
		}
		if got := eval[[]string](b, pale); len(got) > 0 {
			b.t.Errorf("%s, %s: too pale: %s", what, scheme, strings.Join(got, "; "))
		}
	}
}

// listed waits until all servers list a run of an operation that has ended: others than the one that has carried it out do so once it
// is written.
func listed(t *testing.T, s *resttest.Server, op string) {
	t.Helper()
	for n, end := 0, time.Now().Add(time.Minute); n < 2*storagetest.Nodes(); n++ {
		if len(runsOf(t, s, "?state=done&operation="+op)) == 0 {
			if n = -1; time.Now().After(end) {
				t.Fatalf("no run of %s is listed", op)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestBrowserAccessAdministrator looks in the same way at what only administrators see: the cards of a chain, the dialogs of
// documents, runs.
func TestBrowserAccessAdministrator(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen, Runs: true})
	s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Desk.Lock\ninput: document\nsteps:\n  - op: Document.Lock\n  - if: \"true\"\n    then:\n      - op: Document.Unlock\n"}}`)
	s.Do("POST", "/api/v1/automation/Desk.Lock", `{"input": "/"}`)
	listed(t, s, "Desk.Lock")
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Workspace", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	desk := "/ui/documents#default/" + s.Do("GET", "/api/v1/path/desk", "").JSON(t)["uid"].(string)
	for _, p := range [][3]string{ // name, address, what is to be there, which may click first
		{"chain", "/ui/chains", `document.querySelector("#cards .body .field") || !document.querySelector("#cards .step") && document.querySelector("#names button")?.click() || document.querySelector("#cards .step .title[aria-expanded=false]")?.click()`},
		{"step", "", `document.getElementById("finder").open || document.querySelector("#cards .add")?.click()`},
		{"run", "/ui/runs", `!document.getElementById("one").hidden || document.querySelector("#list [data-state=done] button:last-child")?.click()`},
		{"content", desk, `document.querySelector("#children p:not([hidden])")`},
		{"create", "", `document.querySelector("dialog .field") || !document.querySelector("dialog") && document.querySelector("#acts .primary + .primary")?.click()`},
		{"permissions", desk, `document.querySelector("#access tbody tr") || document.getElementById("tab-access")?.click()`},
		{"grant", "", `document.querySelector("dialog .field") || !document.querySelector("dialog") && document.querySelector("#access button.primary")?.click()`},
		{"links", desk, `document.querySelector("#links section") || document.getElementById("tab-links")?.click()`},
		{"history", desk, `document.querySelector("#history li") || document.getElementById("tab-history")?.click()`},
		{"search", "/ui/search", `document.querySelector("#results output")?.textContent`},
	} {
		if p[1] != "" {
			b.do(chromedp.Navigate("about:blank"))
			b.open(p[1])
		}
		b.wait(p[2])
		b.shot("access-" + p[0])
		b.look(p[0])
	}
}

// TestBrowserAccess looks at every page as people do who do not see well or use no mouse: all
// controls have names, all text stands out in light and in dark, and the Tab key goes through
// everything in order with a mark around it.
func TestBrowserAccess(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen})
	s.User("alice")
	pro(t, s, "alice")
	path := makeDeck(t, s, map[string]any{"title": "Plans", "description": "What we will do.", "data": threeSlides, "visibility": "all"})
	private := makeDeck(t, s, map[string]any{"title": "Secret", "data": "<section data-markdown><script type=\"text/template\"># A\n\n* `b` **c**\n</script></section>"})
	link := s.Do("POST", "/v1/decks/2/share", `{"name": "Board", "password": "sesame"}`, "as", "alice").JSON(t)["data"].(map[string]any)
	shared := strings.TrimPrefix(link["url"].(string), s.URL)
	s.Key("alice", "read_only")
	doc := reviewed(t, s, "alice")
	s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`, "as", "alice")
	task := s.Do("GET", api+"/task", "", "as", "alice").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
	b := browse(t, s)
	b.do(inColours("light"))
	pages := []struct {
		name, path, ready string
		frames            bool // with slides, which the focus goes into
	}{
		{"login", "/ui/login", `document.querySelector("[name=user]")`, false},
		{"password", shared, `document.querySelector("[name=password]")`, false},
		{"gone", "/decks/alice/nothing", `document.querySelector(".status")`, false},
		{"decks", "/ui/", `document.querySelectorAll("#list li").length === 2`, false},
		{"trash", "/ui/?trash=1", `document.getElementById("none")`, false},
		{"profile", "/decks/alice", `document.querySelectorAll("#list li").length === 1`, false},
		{"keys", "/ui/keys", `document.querySelector("#list .tag")`, false},
		{"documents", "/ui/documents", `document.querySelectorAll("#children li").length > 0 || !document.getElementById("message").hidden`, false},
		{"workflow", "/ui/documents#default/" + doc, `document.querySelector("#workflows button[aria-expanded=false]")?.click() || document.querySelectorAll("#workflows .node").length > 3`, false},
		{"tasks", "/ui/tasks", `document.querySelector("#list time")`, false},
		{"task", "/ui/tasks#" + task, `document.querySelectorAll("#actions button").length === 2 && document.activeElement.id === "one-title"`, false},
		{"activity", "/ui/activity", `document.getElementById("list").textContent.startsWith("Nothing yet")`, false},
		{"runs", "/ui/runs", `document.querySelector("#list [data-run]") || document.getElementById("list").textContent === "No runs."`, false},
		{"denied", "/ui/chains", `document.querySelector(".status").textContent === "403"`, false},
		{"webhooks", "/ui/webhooks", `document.getElementById("list").textContent === "No webhooks yet."`, false},
		{"team", "/ui/team", `!document.getElementById("none").hidden`, false},
		{"operations", "/ui/operations#Deck.List", `document.querySelector("#one h2")`, true},
		{"search", "/ui/search", `document.querySelector("#results output")?.textContent`, false},
		{"links", private + "/share", `document.querySelector("#links strong")`, false},
		{"view", path, `document.getElementById("number").textContent === "1 / 4"`, true},
		{"present", path + "/present", `document.getElementById("notes").textContent === "Say hello."`, true},
		{"manual", "/docs/integrate", `document.querySelector("article h1")`, false},
		{"search of the manual", "/docs?q=backup", `document.querySelector(".found")`, false},
		{"edit", private + "/edit", `document.getElementById("state").textContent === "Saved"`, true},
	}
	for i, p := range pages {
		if i == 3 {
			b.signIn("alice")
		}
		b.open(p.path)
		b.wait(p.ready)
		b.look(p.name)
		if p.name == "edit" {
			for _, pane := range []string{"design", "details"} {
				b.click("#tab-" + pane)
				b.wait(`!document.getElementById("` + pane + `-pane").hidden`)
				b.look(pane)
			}
			b.click("#overview")
			b.wait(`document.body.classList.contains("grid")`)
			b.look("overview")
			b.click("#overview")
			b.click("#download")
			b.wait(`document.getElementById("download-dialog").open`)
			b.look("download")
		}
		if p.frames {
			continue
		}
		n := eval[int](b, reachable)
		if n < 1 && p.name != "gone" {
			t.Errorf("%s: nothing to reach", p.name)
		}
		for i := range n {
			b.do(chromedp.KeyEvent("\t"))
			for parts := 0; parts < 4 && i > 0 && eval[bool](b, fmt.Sprintf(`document.activeElement.type === "date" && document.activeElement === stops[%d]`, i-1)); parts++ {
				b.do(chromedp.KeyEvent("\t")) // day, month, year and calendar of a date are stops of their own
			}
			if got := eval[int](b, stop); got != i {
				t.Errorf("%s: Tab %d stops at %d: %s", p.name, i, got, eval[string](b, `document.activeElement.outerHTML.slice(0, 120)`))
				break
			}
		}
	}
}
