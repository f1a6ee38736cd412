package rest_test

import (
	"slices"
	"strings"
	"testing"

	"catena/chains"
	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserChains builds a chain on its page, sees an error at its step, corrects it, saves it, and runs it without and
// with effect.
func TestBrowserChains(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: slices.Concat(decks.Ops, chains.New().Ops()), Repo: decks.Listen})
	s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "desk"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/chains")
	b.wait(`document.getElementById("names").textContent === "No chains yet." && document.querySelector("#operations option")`)
	b.setText("source", "# sets a title\nname: Desk.Title\ninput: document\nsteps:\n  - op: Document.SetProperty\n    params: {xpath: \"dc:titel\", value: Work}\noutput: document\n")
	b.wait(`document.querySelector('#steps [data-step="5"] [data-line="6"]')?.textContent.includes("dc:titel") && document.getElementById("state").textContent === "Problems found: 1"`)
	if eval[bool](b, `[...document.querySelectorAll("#steps *")].some((e) => e.getBoundingClientRect().right > document.getElementById("steps").getBoundingClientRect().right + 1)`) {
		t.Error("a problem is wider than its panel")
	}
	b.shot("chain-wrong")
	b.setText("source", "# sets a title\nname: Desk.Title\ninput: document\nsteps:\n  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: Work}\noutput: document\n")
	b.write("#add", "Document.Lock")
	b.click("#append")
	b.wait(`document.querySelectorAll("#steps [data-step]").length === 2 && document.getElementById("state").textContent === "No problems found."`)
	if got := eval[string](b, `document.getElementById("source").value`); !strings.HasSuffix(got, "  - op: Document.Lock\noutput: document\n") {
		t.Errorf("source %s", got)
	}
	if !eval[bool](b, `document.getElementById("go").disabled`) {
		t.Error("a chain that is not saved can be run")
	}
	b.click("#save")
	b.wait(`document.querySelector('#names [data-id="Desk.Title"]') && document.getElementById("state").textContent === "Saved Desk.Title, version 1."`)
	b.write("#try [name=input]", "/desk")
	title := func() any {
		return s.Do("GET", "/api/v1/path/desk", "").JSON(t)["title"]
	}
	b.click("#dry")
	b.wait(`document.getElementById("result").textContent.includes("/desk")`)
	if got := title(); got == "Work" {
		t.Error("the dry run changed the document")
	}
	b.click("#go")
	b.wait(`document.getElementById("result").textContent.includes('"title": "Work"')`)
	if got := title(); got != "Work" {
		t.Errorf("title %v", got)
	}
	b.shot("chain")

	b.open("/ui/chains")
	b.click(`#names [data-id="Desk.Title"]`)
	b.wait(`document.getElementById("source").value.startsWith("# sets a title")`)
	b.quiet()
}
