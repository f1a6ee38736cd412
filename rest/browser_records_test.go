package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"catena/engine/mail/mailtest"
	"catena/rest/resttest"
)

// TestBrowserRecords has an administrator write the rule that what somebody approves is kept for good, hold a document and remove the
// hold, and try to delete what is kept: the page says why not, and the document stays as it is.
func TestBrowserRecords(t *testing.T) {
	s := startProgram(t, mailtest.Start(t))
	const api = "/api/v1/automation/"
	s.ask("POST", api+"Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "desk", "properties": {"dc:title": "Desk"}}}`)
	for _, name := range []string{"held", "kept"} {
		s.ask("POST", api+"Document.Create", `{"input": "/desk", "params": {"type": "Note", "name": "`+name+`", "properties": {"dc:title": "The `+name+` note"}}}`)
	}
	doc := func(name string) (d map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.ask("GET", "/api/v1/path/desk/"+name, "")), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	b := signAs(t, s, "Administrator", resttest.Password)

	// The rule is a listener.
	b.text("listener", "Keep.Approved", "name: Keep.Approved\nevents: [lifecycle_transition_event]\ntypes: [Note]\nlifecycle: [approved]\nrun: Document.Retain\nparams: {until: \"2090-01-01T00:00:00Z\"}\n")

	// A hold is set with its reason, and everything that would change the document is gone from its page.
	acts := `[...document.querySelectorAll("#acts button")].map((e) => e.textContent)`
	b.walk("Desk", "The held note")
	b.press("#acts", "Legal hold")
	b.set("dialog [name=description]", "The case of ACME")
	b.press("dialog", "Hold")
	b.wait(`document.getElementById("done").textContent === "Legal hold set." && document.getElementById("about").textContent.includes("legal hold")`)
	if got := strings.Join(eval[[]string](b, acts), ", "); strings.Contains(got, "Edit") || strings.Contains(got, "Rename") || strings.Contains(got, "trash") || !strings.Contains(got, "Remove legal hold") {
		t.Errorf("a held document offers %s", got)
	}
	b.shot("record-held")
	b.press("#tabs", "History")
	b.wait(`document.getElementById("history").textContent.includes("Legal hold set")`)

	// Among others it is selected all the same, and refused with the reason: by itself, and with the folder around it.
	refused := func(why string) {
		t.Helper()
		b.press("dialog", "Move to the trash")
		b.wait(`!document.getElementById("message").hidden && document.getElementById("message").textContent.includes(` + quote(why) + `)`)
	}
	b.walk("Desk")
	b.click(`#children [aria-label="Select The held note"]`)
	b.press(".chosen-bar", "Move to trash")
	refused("/desk/held: is under legal hold")
	b.shot("record-refused")
	b.narrow("record-refused-narrow")
	b.press("#acts", "Move to trash")
	refused("legal hold")
	if got := doc("held"); got["isTrashed"] != false || got["hasLegalHold"] != true {
		t.Errorf("after it was refused: %v", got)
	}

	// What is approved is kept by the rule; its date only moves to a later one.
	s.ask("POST", api+"Document.FollowLifecycleTransition", `{"input": "/desk/kept", "params": {"value": "approve"}}`)
	b.walk("Desk", "The kept note")
	b.wait(`document.getElementById("about").textContent.includes("retained until")`)
	b.press("#acts", "Retain")
	b.set("dialog [name=until]", "2040-01-01T10:00")
	b.press("dialog", "Retain")
	b.wait(`document.querySelector("dialog [role=alert]:not([hidden])")`)
	b.shot("record-earlier")
	b.set("dialog [name=until]", "2091-01-01T10:00")
	b.press("dialog", "Retain")
	b.wait(`document.getElementById("done").textContent === "Retained."`)
	if got := fmt.Sprint(doc("kept")["retainUntil"]); !strings.HasPrefix(got, "2091-01-01") && !strings.HasPrefix(got, "2090-12-31") {
		t.Errorf("retained until %s", got)
	}

	// Without the hold it can go.
	b.walk("Desk", "The held note")
	b.press("#acts", "Remove legal hold")
	b.wait(`document.getElementById("done").textContent === "Legal hold removed."`)
	b.press("#acts", "Move to trash")
	b.press("dialog", "Move to the trash")
	b.wait(`document.getElementById("title").textContent === "Desk"`)
	if got := doc("held"); got["isTrashed"] != true || got["isRecord"] != true {
		t.Errorf("without the hold: %v", got)
	}
}
