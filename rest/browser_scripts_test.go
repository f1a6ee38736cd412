package rest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"catena/decks"
	"catena/engine/library"
	"catena/rest/resttest"
	"catena/scripts"
)

// worker is the program in which scripts run, built for the test.
func worker(t testing.TB) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "worker")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "../scripts/testdata/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// withScripts is a server with scripts and what else is deployed.
func withScripts(t testing.TB) *resttest.Server {
	t.Helper()
	exe := worker(t)
	return resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Deployed: func() library.Deployments {
		runner := scripts.New(scripts.Options{Worker: []string{exe}, Limits: scripts.Limits{Spares: 1}})
		t.Cleanup(func() {
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
		})
		return append(deployed(), runner.Modules(), runner)
	}})
}

// inEditor is an element of the editor of scripts.
func inEditor(selector string) string {
	return fmt.Sprintf(`document.getElementById("code").shadowRoot?.querySelector(%q)`, selector)
}

// turnToCode has the page of scripts fetch the editor, as somebody does who begins to write.
func (b *tab) turnToCode() {
	b.t.Helper()
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.wait(`(document.querySelector("#code textarea")?.focus(), ` + inEditor(".cm-content") + `)`)
}

// typeCode types at the place of the cursor, as a keyboard would.
func (b *tab) typeCode(text string) {
	b.t.Helper()
	eval[bool](b, `(() => { `+inEditor(".cm-content")+`.focus(); return true; })()`)
	if !eval[bool](b, fmt.Sprintf(`document.execCommand("insertText", false, %q)`, text)) {
		b.t.Fatalf("%q was not typed", text)
	}
}

// clearCode removes all text of the editor.
func (b *tab) clearCode() {
	b.t.Helper()
	eval[bool](b, `(() => { `+inEditor(".cm-content")+`.focus(); return true; })()`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(kb.Delete))
}

// TestBrowserScripts writes a script as its author would: completes operations and parameters, sees a mistake while typing, runs
// the text dry and for real, reads what it printed and where the time went, saves it twice and restores the first version.
func TestBrowserScripts(t *testing.T) {
	s := withScripts(t)
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/scripts")
	b.turnToCode()
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.shot("scripts-new")

	b.clearCode()
	b.typeCode("/** @operation Desk.Greet\n@description Greets.\n@input document\n@param {string} [who=world] Who is greeted.\n@output string */\nfunction run(input, params) {\nconsole.log(\"greeting\", params.who);\nDocument.AddPer")
	b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + `?.textContent.startsWith("AddPermission")`)
	b.shot("scripts-complete")
	eval[bool](b, `(() => { `+inEditor(".cm-content")+`.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", keyCode: 27, bubbles: true })); return true; })()`)
	b.typeCode("mission(input, {permision: \"Read\"});\nreturn \"Hello, \" + params.who;\n}\n")
	b.wait(inEditor(".cm-lintRange-error"))
	b.wait(`[...document.querySelectorAll("#problems button")].some((e) => e.textContent.includes("permision"))`)
	b.look("scripts with a problem")
	b.shot("scripts-problem")

	const greet = "/**\n * @operation Desk.Greet\n * @description Greets.\n * @input document\n * @param {string} [who=world] Who is greeted.\n * @output string\n */\nfunction run(input, params) {\n  console.log(\"greeting\", params.who);\n  Document.SetProperty(input, {xpath: \"dc:description\", value: params.who});\n  return \"Hello, \" + params.who;\n}\n"
	b.clearCode()
	b.typeCode(greet)
	b.wait(`document.getElementById("state").textContent === "No problems found." && document.querySelectorAll("#values .field").length === 2`)
	values := `[...document.querySelectorAll("#values input")]`
	for i, value := range []string{"/desk", "Ada"} {
		eval[bool](b, fmt.Sprintf(`(() => { const e = %s[%d]; e.value = %q; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`, values, i, value))
	}
	description := func() any {
		return s.Do("GET", "/api/v1/path/desk", "", "X-NXproperties", "dublincore").JSON(t)["properties"].(map[string]any)["dc:description"]
	}
	b.click("#dry")
	b.wait(`document.getElementById("outcome").textContent.startsWith("Dry run: nothing was changed.")`)
	if got := description(); got != nil {
		t.Errorf("after a dry run the description is %v", got)
	}
	b.click("#go")
	b.wait(`document.getElementById("outcome").textContent.startsWith("The script has run.")`)
	if got := eval[string](b, `document.getElementById("result").textContent + "|" + document.getElementById("console").textContent + "|" + [...document.querySelectorAll("#profile tbody tr")].map((r) => [...r.children].slice(0, 3).map((c) => c.textContent).join(" ")).join(",")`); got != "Hello, Ada|log: greeting Ada|Desk.Greet  1,Document.SetProperty 10 1" {
		t.Errorf("run: %q", got)
	}
	if got := description(); got != "Ada" {
		t.Errorf("after a run the description is %v", got)
	}

	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Greet, version 1." && document.querySelector("#names [data-id='Desk.Greet'][aria-current]")`)
	b.clearCode()
	b.typeCode(greet + "// more\n")
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Greet, version 2."`)
	b.click("#history")
	b.click(`#versions [aria-label="Restore version 1"]`)
	b.wait(`document.querySelectorAll("#versions li").length === 3 && !document.getElementById("versions").hidden`)
	b.open("/ui/operations")
	b.open("/ui/scripts#Desk.Greet")
	b.wait(`document.getElementById("title").textContent === "Desk.Greet" && ` + inEditor(".cm-content") + `?.textContent.includes("greeting")`)
	b.look("a script")
	b.do(chromedp.EmulateViewport(390, 780), darkMode)
	b.shot("scripts-narrow")
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than a phone")
	}
	b.quiet()
}
