package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
)

// reviewed is a document that a user may have reviewed.
func reviewed(t *testing.T, s *resttest.Server, user string) string {
	t.Helper()
	doc := s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"plan","properties":{"dc:title":"The <b>plan</b>"}}`).JSON(t)["uid"].(string)
	if got := s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"`+doc+`","params":{"permission":"ReadWrite","username":"`+user+`"}}`); got.StatusCode >= 300 {
		t.Fatal(got.Text)
	}
	return doc
}

// TestBrowserTasks has a document reviewed by people who use nothing but the pages.
func TestBrowserTasks(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	for _, name := range []string{"alice", "bob", "carol"} {
		s.User(name)
	}
	doc := reviewed(t, s, "alice")

	// alice starts a review on the document's page, and chooses who takes part
	b := browse(t, s)
	b.signIn("alice")
	b.open("/ui/documents#default/" + doc)
	b.wait(`document.querySelectorAll("#start option").length === 2`)
	eval[bool](b, `(document.querySelector("#start select").value = "SerialDocumentReview", true)`)
	b.click("#start button")
	b.wait(`document.querySelector("#workflows strong")?.textContent === "Serial document review"`)
	b.click(`#workflows button[aria-expanded]`)
	b.wait(`document.querySelectorAll("#workflows .node").length === 5 && document.querySelectorAll("#workflows .node.suspended").length === 1`)
	b.shot("graph")
	if got := eval[string](b, `document.querySelector("#workflows figure ol").textContent`); !strings.Contains(got, "Choose the participants, waits for people; leads to Canceled, Review the document") {
		t.Errorf("in words the graph is %q", got)
	}
	b.click("#workflows a.button")
	b.wait(`document.activeElement.id === "one-title" && document.getElementById("one-title").textContent === "Choose the participants" && document.getElementById("hand").hidden === false`)
	b.write("#fields .people input", "bo")
	b.wait(`document.querySelector("#fields [aria-live] button")?.textContent === "bob"`)
	b.click("#fields [aria-live] button")
	b.wait(`document.querySelectorAll("#fields .chosen li").length === 1`)
	b.write("#fields .people input", "alice")
	b.write("#form [name=comment]", "Is it <b>good</b>?")
	b.shot("choose")
	b.click(`#actions [value=start_review]`)
	b.wait(`document.getElementById("done").textContent === "Choose the participants: Start the review." && document.getElementById("list").textContent === "No open tasks."`)
	b.quiet()

	// bob sees what it is about, and gives it to carol
	c := browse(t, s)
	c.signIn("bob")
	c.open("/ui/tasks")
	c.wait(`document.querySelector("#list strong")?.textContent === "Review the document"`)
	c.shot("tasks")
	if got := eval[string](c, `document.getElementById("list").innerText`); !strings.Contains(got, "Serial document review of alice") || !strings.Contains(got, "The <b>plan</b>") || !strings.Contains(got, "due ") {
		t.Errorf("the list says %q", got)
	}
	c.click("#list a")
	c.wait(`document.querySelectorAll("#actions button").length === 2 && !document.getElementById("reassign").hidden`)
	if got := eval[string](c, `document.getElementById("one").innerText`); !strings.Contains(got, "Initiator comment: Is it <b>good</b>?") || !strings.Contains(got, "Participants: bob, alice") {
		t.Errorf("the task says %q", got)
	}
	c.shot("review")
	c.click("#delegate")
	c.wait(`document.getElementById("message").textContent === "Enter at least one user or group."`)
	c.write("#others input", "carol")
	c.click("#reassign")
	c.wait(`document.getElementById("done").textContent === "Review the document: reassigned to carol." && document.getElementById("list").textContent === "No open tasks."`)
	c.quiet()

	// a task of no workflow has no fields, and two ways to end
	if got := s.Do("POST", api+"/automation/Task.Create", `{"input":"`+doc+`","params":{"task name":"Have a look","additional list of actors prefixed ids":["bob"]}}`); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	c.open("/ui/tasks")
	c.click("#list a")
	c.wait(`document.getElementById("one-title").textContent === "Have a look" && document.getElementById("actions").textContent === "AcceptReject" && document.getElementById("reassign").hidden`)
	c.write("#others input", "carol")
	c.click("#delegate")
	c.wait(`document.getElementById("done").textContent === "Have a look: delegated to carol."`)
	c.click("#list a")
	c.click("#actions [value=accept]")
	c.wait(`document.getElementById("done").textContent === "Have a look: Accept."`)
	c.quiet()

	// carol and alice agree
	for _, name := range []string{"carol", "alice"} {
		d := browse(t, s)
		d.signIn(name)
		d.open("/ui/tasks")
		d.wait(`document.querySelectorAll("#list strong").length === 1`)
		d.click("#list a")
		d.click("#actions [value=validate]")
		d.wait(`document.getElementById("done").textContent === "Review the document: Validate."`)
		d.quiet()
	}
	if got := s.Do("GET", api+"/id/"+doc, "").JSON(t)["state"]; got != "approved" {
		t.Errorf("the document is %v", got)
	}

	// a workflow is taken back, and its task is gone for anyone who still has its address
	again := s.Do("POST", api+"/automation/Document.FollowLifecycleTransition", `{"input":"`+doc+`","params":{"value":"backToProject"}}`)
	flow := s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`, "as", "alice").JSON(t)["id"]
	if flow == nil {
		t.Fatal(again.Text)
	}
	task := s.Do("GET", api+"/task", "", "as", "alice").JSON(t)["entries"].([]any)[0].(map[string]any)["id"]
	b.open("/ui/documents#default/" + doc)
	b.click(`#workflows button.danger`)
	b.wait(`document.querySelectorAll("#workflows .list li").length === 0`)
	b.open(fmt.Sprintf("/ui/tasks#%s", task))
	b.wait(`document.getElementById("about").textContent.includes("cancelled") && document.querySelectorAll("#actions button").length === 0 && document.getElementById("hand").hidden`)
	b.quiet()
}

// TestBrowserPages turns the pages of a list, and back and forth faster than the server answers.
func TestBrowserPages(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	for i := range 41 {
		if got := s.Do("POST", "/api/v1/path/default-domain/workspaces/@workflow", `{"entity-type":"workflow","workflowModelName":"SerialDocumentReview"}`); got.StatusCode != http.StatusCreated {
			t.Fatalf("workflow %d: %s", i, got.Text)
		}
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/tasks")
	page := func(n, rows int, first, last bool) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.getElementById("place").textContent === "Page %d" && document.querySelectorAll("#list li strong").length === %d`, n, rows))
		if got := eval[[2]bool](b, `[document.getElementById("prev").disabled, document.getElementById("next").disabled]`); got != [2]bool{first, last} {
			t.Errorf("page %d: at the beginning and at the end: %v", n, got)
		}
	}
	page(1, 20, true, false)
	b.late("currentPageIndex=1")
	b.wait(`(() => { for (let i = 0; i < 2; i++) document.getElementById("next").click(); return true; })()`)
	b.wait("window.late")
	page(3, 1, false, true)
	b.click("#prev")
	page(2, 20, false, false)
	b.click("#prev")
	page(1, 20, true, false)
	b.quiet()
}
