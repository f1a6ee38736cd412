package rest_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestBrowserModules writes a module, imports from it with the completion of the editor, sees where it is used, and restores its
// first version.
func TestBrowserModules(t *testing.T) {
	s := withScripts(t)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/scripts")
	b.turnToCode()
	b.click("#new-module")
	b.wait(`document.getElementById("try").hidden && document.getElementById("title").textContent === "New module"`)
	b.clearCode()
	b.typeCode("/** @module billing */\nexport function total(list) { return list.reduce((a, b) => a + b, 0) }\nexport const rate = 19;\n")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved billing, version 1." && !document.getElementById("uses").hidden`)
	b.look("a module")

	b.click("#new")
	b.wait(`!document.getElementById("try").hidden && document.getElementById("title").textContent === "New script"`)
	b.clearCode()
	b.typeCode("/** @operation Desk.Sum\n@description Adds.\n@input void\n@output integer */\nimport { } from \"\"\nfunction run() { return total([1, 2]) }\n")
	at := func(line, column string) {
		eval[bool](b, `(() => { const v = `+inEditor(".cm-content")+`.cmTile?.view || `+inEditor(".cm-content")+`.cmView?.view; const p = v.state.doc.line(`+line+`).from + `+column+`; v.dispatch({ selection: { anchor: p } }); v.focus(); return true; })()`)
	}
	at("5", "17")
	b.typeCode("b")
	b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + `?.textContent.startsWith("billing")`)
	b.shot("scripts-modules")
	b.do(chromedp.Sleep(200 * time.Millisecond)) // the editor takes no Enter for a list that has just opened
	b.wait(`(() => { ` + inEditor(".cm-content") + `.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 13, bubbles: true })); return ` + inEditor(".cm-content") + `.textContent.includes('"billing"'); })()`)
	at("5", "9")
	b.typeCode("t")
	b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + `?.textContent === 'total(list) from "billing"'`)
	b.do(chromedp.Sleep(200 * time.Millisecond)) // the editor takes no Enter for a list that has just opened
	b.wait(`(() => { ` + inEditor(".cm-content") + `.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 13, bubbles: true })); return ` + inEditor(".cm-content") + `.textContent.includes("{ total} from"); })()`)
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Desk.Sum, version 1." && document.getElementById("uses").textContent.includes("billing")`)

	b.click("#names [data-kind=Module]")
	b.wait(`document.getElementById("title").textContent === "billing" && document.getElementById("uses").textContent.includes("Desk.Sum")`)
	b.shot("module")
	b.clearCode()
	b.typeCode("/** @module billing */\nexport const rate = 19;\n")
	b.wait(`document.getElementById("problems").textContent.includes("export total is missing: script Desk.Sum imports it")`)
	b.clearCode()
	b.typeCode("/** @module billing */\nexport function total(list) { return 7 }\nexport const rate = 19;\n")
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved billing, version 2."`)
	b.click("#history")
	b.click(`#versions [aria-label="Restore version 1"]`)
	b.wait(`document.querySelectorAll("#versions li").length === 3 && ` + inEditor(".cm-content") + `.textContent.includes("reduce")`)
	b.open("/ui/home")
	b.wait(`document.querySelector("#server a[href$='#schedules']")`)
	b.open("/ui/scripts#module:billing")
	b.wait(`document.getElementById("title").textContent === "billing" && document.querySelector("#names [aria-current]")?.dataset.kind === "Module"`)
	b.do(chromedp.EmulateViewport(390, 780), darkMode)
	b.shot("module-narrow")
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than a phone")
	}
	b.look("a module on a phone")
	b.quiet()
}
