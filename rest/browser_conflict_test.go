package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestBrowserConflict has two windows save one text of each kind that they both have open: the second is asked, sees what differs, and
// keeps either text. A new text does not take the place of another one that has its name, and one that was deleted is not made again
// without a question.
func TestBrowserConflict(t *testing.T) {
	var s *resttest.Server
	var b, c *tab
	said := func() {
		t.Helper()
		for _, tab := range []*tab{b, c} {
			for _, text := range tab.said {
				if !strings.Contains(text, "status of 412") && !strings.Contains(text, "status of 404") {
					t.Errorf("console: %s", text)
				}
			}
		}
	}
	use := func(with *resttest.Server) {
		s, b, c = with, browse(t, with), browse(t, with)
		b.signIn("Administrator")
		c.signIn("Administrator")
	}
	use(withScripts(t))
	dialog := func(title string) string {
		return `document.querySelector("dialog[open] h2")?.textContent === ` + quote(title)
	}
	for _, k := range []struct {
		family, noun, name    string
		source                func(said string) string
		open                  string // the address of its page
		shown, text, set, say string // whether it is shown, the text, what writes it, what is said after it was saved
		save                  string
	}{
		{
			"Chain", "chain", "Desk.Note", func(said string) string { return "name: Desk.Note\ndescription: " + said + "\nsteps: []\n" },
			"/ui/chains#Desk.Note",
			`document.getElementById("state").textContent === "No problems found."`, `document.getElementById("source").value`,
			`((e) => { e.value = %s; e.dispatchEvent(new Event("input")); return true; })(document.getElementById("source"))`, `document.getElementById("state").textContent`, "#save",
		},
		{
			"Script", "script", "Text.Note", func(said string) string {
				return "/** @operation Text.Note\n@description " + said + "\n@output string */\nfunction run() { return \"\"; }\n"
			},
			"/ui/scripts#Text.Note",
			`document.getElementById("state").textContent === "No problems found."`, `document.querySelector("#code textarea").value`,
			`((e) => { e.value = %s; e.dispatchEvent(new Event("input")); return true; })(document.querySelector("#code textarea"))`, `document.getElementById("state").textContent`, "#save",
		},
		{
			"Listener", "listener", "Notify", func(said string) string {
				return "name: Notify\ndescription: " + said + "\nevents: [documentCreated]\nrun: Log\nparams: {level: info, message: hello}\nas: system\n"
			},
			"/ui/admin#listeners",
			`document.querySelector(".text-editor:not([hidden])") || document.querySelector('[aria-label="Edit Notify"]')?.click(), document.querySelector(".text-editor:not([hidden]) [role=status]")?.textContent === "No problems found."`, `document.querySelector(".text-editor textarea").value`,
			`((e) => { e.value = %s; e.dispatchEvent(new Event("input")); return true; })(document.querySelector(".text-editor textarea"))`, `document.getElementById("done").textContent`, ".text-editor .primary",
		},
	} {
		save := func(said string) {
			t.Helper()
			answers(t, s.Do("POST", "/api/v1/automation/"+k.family+".Save", jsonOf(t, map[string]any{"params": map[string]any{"source": k.source(said)}})), 200, "")
		}
		write := func(b *tab, said string) {
			t.Helper()
			b.wait(fmt.Sprintf(k.set, quote(k.source(said))))
		}
		saved := func(version int) string {
			return fmt.Sprintf("%s === %q", k.say, fmt.Sprintf("Saved %s, version %d.", k.name, version))
		}
		has := func(want string) {
			t.Helper()
			read := s.Do("POST", "/api/v1/automation/"+k.family+".Read", `{"params":{"name":"`+k.name+`"}}`).JSON(t)
			if got := read["value"].(map[string]any)["source"]; got != k.source(want) {
				t.Errorf("%s: has %q, want %q", k.noun, got, want)
			}
		}
		if k.family == "Listener" {
			// A new chain that has the name of another one.
			b.open("/ui/home")
			b.open("/ui/chains")
			b.wait(`document.getElementById("state").textContent === "No problems found."`)
			b.setText("source", "name: Desk.Note\nsteps: []\n")
			b.click("#save")
			b.wait(dialog("Changed by somebody else"))
			b.press("dialog[open]", "Use the saved version")
			b.wait(`document.getElementById("title").textContent === "Desk.Note" && document.getElementById("source").value.includes("back") && location.hash === "#Desk.Note"`)
			said()
			use(managed(t))
		}
		save("first")
		for _, b := range []*tab{b, c} {
			b.open("/ui/home")
			b.open(k.open)
			b.wait(k.shown)
		}
		write(b, "mine")
		b.click(k.save)
		b.wait(saved(2))
		write(c, "theirs")
		c.click(k.save)
		c.wait(dialog("Changed by somebody else"))
		if got := eval[string](c, `document.querySelector("dialog[open]").innerText`); !strings.Contains(got, "Administrator saved version 2 of this "+k.noun) {
			t.Errorf("%s: %s", k.noun, got)
		}
		c.wait(`document.querySelector("#conflict-mine mark")?.textContent.includes("theirs") && document.querySelector("#conflict-theirs mark")?.textContent.includes("mine")`)
		c.shot("conflict-" + k.noun)
		c.look("conflict-" + k.noun)
		has("mine")
		c.press("dialog[open]", "Continue editing")
		c.wait(`!document.querySelector("dialog[open]") && ` + k.text + ` === ` + quote(k.source("theirs")))
		has("mine")
		c.click(k.save)
		c.wait(dialog("Changed by somebody else"))
		c.press("dialog[open]", "Keep mine")
		c.wait(saved(3))
		has("theirs")

		write(b, "again")
		b.click(k.save)
		b.wait(dialog("Changed by somebody else"))
		b.press("dialog[open]", "Use the saved version")
		b.wait(`!document.querySelector("dialog[open]") && ` + k.text + ` === ` + quote(k.source("theirs")))
		write(b, "after")
		b.click(k.save)
		b.wait(saved(4))
		has("after")

		answers(t, s.Do("POST", "/api/v1/automation/"+k.family+".Delete", `{"params":{"name":"`+k.name+`"}}`), 204, "")
		write(b, "back")
		b.click(k.save)
		b.wait(dialog("Deleted by somebody else"))
		b.press("dialog[open]", "Save it again")
		b.wait(saved(5))
		has("back")
	}
	said()
}

// TestBrowserConflictOfActs restores and deletes texts that were saved in another window since they were read: nothing is done without a
// question.
func TestBrowserConflictOfActs(t *testing.T) {
	s := managed(t)
	call := func(op string, params map[string]any, status int) {
		t.Helper()
		answers(t, s.Do("POST", "/api/v1/automation/"+op, jsonOf(t, map[string]any{"params": params})), status, "")
	}
	b := browse(t, s)
	b.signIn("Administrator")
	asks := func(action string) {
		t.Helper()
		b.wait(`document.querySelector("dialog[open] h2")?.textContent === "Changed by somebody else" && document.querySelector("dialog[open] .danger").textContent === ` + quote(action))
	}
	for _, k := range []struct{ family, name, source, open, versions, remove string }{
		{"Chain", "Desk.Note", "name: Desk.Note\ndescription: %s\nsteps: []\n", "/ui/chains#Desk.Note", "#history", "#remove"},
		{"Listener", "Notify", "name: Notify\ndescription: %s\nevents: [documentCreated]\nrun: Log\nparams: {level: info, message: hello}\nas: system\n", "/ui/admin#listeners", `.text-editor .row button:nth-of-type(1)`, `.text-editor .row .danger`},
	} {
		save := func(said string) {
			t.Helper()
			call(k.family+".Save", map[string]any{"source": fmt.Sprintf(k.source, said)}, 200)
		}
		version := func(want float64) {
			t.Helper()
			read := s.Do("POST", "/api/v1/automation/"+k.family+".Read", `{"params":{"name":"`+k.name+`"}}`).JSON(t)
			if got := read["value"].(map[string]any)["version"]; got != want {
				t.Errorf("%s: version %v, want %v", k.family, got, want)
			}
		}
		save("first")
		save("second")
		b.open("/ui/home")
		b.open(k.open)
		if k.family == "Listener" {
			b.click(`[aria-label="Edit Notify"]`)
		}
		b.wait(`[...document.querySelectorAll("[role=status]")].some((e) => e.textContent === "No problems found.")`)
		b.click(k.versions)
		b.wait(`document.querySelector('[aria-label="Restore version 1"]')`)
		save("third")
		b.click(`[aria-label="Restore version 1"]`)
		asks("Restore version 1")
		b.shot("conflict-restore-" + k.family)
		b.press("dialog[open]", "Cancel")
		b.wait(`!document.querySelector("dialog[open]")`)
		version(3)
		b.click(`[aria-label="Restore version 1"]`)
		asks("Restore version 1")
		b.press("dialog[open]", "Restore version 1")
		b.wait(`!document.querySelector("dialog[open]") && (document.getElementById("source") || document.querySelector(".text-editor textarea")).value.includes("first")`)
		version(4)
		save("fifth")
		b.click(k.remove)
		b.press("dialog[open]", "Delete")
		asks("Delete " + k.name)
		version(5)
		b.press("dialog[open]", "Delete "+k.name)
		b.wait(`!document.querySelector("dialog[open]")`)
		b.wait(`document.querySelector("#names, .list")?.innerText.includes("yet.")`)
		call(k.family+".Read", map[string]any{"name": k.name}, 404)
	}
}
