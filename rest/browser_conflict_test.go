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
