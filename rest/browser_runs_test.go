package rest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
)

// TestBrowserRecordedRuns looks at runs on their page: filters them, reads the steps of one that failed, corrects its values and
// runs it again, and compares two.
func TestBrowserRecordedRuns(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Single: true, Repo: decks.Listen}) // others have runs once they are written
	for _, body := range []string{`{"type": "Folder", "name": "desk"}`, `{"type": "Folder", "name": "shelf"}`} {
		s.Do("POST", "/api/v1/automation/Document.Create", `{"input": "/", "params": `+body+`}`)
	}
	s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Desk.Find\ninput: document\noutput: document\nparams: [{name: name}]\nsteps:\n  - op: Document.GetChild\n    params: {name: \"@{name}\"}\n"}}`)
	s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Desk.Find\ninput: document\noutput: document\nparams: [{name: name}]\nsteps:\n  - op: Document.GetChild\n    params: {name: \"@{name}\"}\n  - op: Document.SetProperty\n    params: {xpath: \"dc:description\", value: \"Found @{name}\"}\n"}}`)
	for _, name := range []string{"desk", "shelf", "cellar"} {
		s.Do("POST", "/api/v1/automation/Desk.Find", `{"input": "/", "params": {"name": "`+name+`"}}`)
	}
	b := browse(t, s)
	set := func(selector, value string) {
		t.Helper()
		eval[bool](b, fmt.Sprintf(`(() => { document.querySelector(%q).value = %q; return true; })()`, selector, value))
	}
	b.signIn("Administrator")
	b.open("/ui/runs")
	b.wait(`document.querySelectorAll("#list [data-run]").length === 3`)
	b.shot("runs")

	set("#find [name=state]", "failed")
	b.click("#find button")
	b.wait(`document.querySelectorAll("#list [data-run]").length === 1`)
	b.click(`#list [aria-label="Edit and run Desk.Find again"]`)
	b.wait(`document.activeElement.name === "params"`)
	if got := eval[string](b, `[...document.querySelectorAll("#one .steps summary")].map((e) => e.innerText.replace(/[\d.]+ [µm]?s/, "").replace(/\s+/g, " ")).join("|")`); got != "Desk.Find failed|Document.GetChild line 6 failed" {
		t.Errorf("steps %q", got)
	}
	b.shot("run-failed")
	if got := eval[string](b, `document.querySelector("#one .alert").textContent`); got != "Desk.Find: step 1: Document.GetChild: /cellar (not found)" {
		t.Errorf("the run says %q", got)
	}
	set("#again [name=params]", `{name: desk}`)
	b.click("#again .primary")
	b.wait(`document.getElementById("message").textContent.startsWith("Parameters: not JSON: ") && document.activeElement.name === "params"`)
	if got := eval[float64](b, `document.getElementById("message").getBoundingClientRect().top`); got < 0 || got > 700 {
		t.Errorf("the message is at %v, where nobody looks", got)
	}
	set("#again [name=params]", `{"name": "desk"}`)
	b.click("#again .primary")
	b.wait(`document.getElementById("again").querySelector("pre").textContent.includes('"path": "/desk"')`)

	set("#find [name=state]", "done")
	b.click("#find button")
	b.wait(`document.querySelectorAll("#list [data-run]").length === 3 && document.querySelector("#list .tag + .tag + .tag")?.textContent === "again"`)
	for _, n := range []string{"1", "2"} {
		b.click(`#list li:nth-child(` + n + `) [aria-pressed]`)
	}
	b.wait(`!document.getElementById("compared").hidden`)
	if got := eval[string](b, `[...document.querySelectorAll("#compared .differs")].map((e) => [...e.children].slice(0, 3).map((c) => c.textContent).join(": ")).join("|")`); got !=
		"name: desk: shelf|Result: Desk.Find: Folder /desk: Desk.Find: Folder /shelf|› Step 1: Document.GetChild: Folder /desk: Document.GetChild: Folder /shelf|› Step 2: Document.SetProperty: Folder /desk: Document.SetProperty: Folder /shelf" {
		t.Errorf("differences %q", got)
	}
	b.shot("runs-compared")
	b.click("#compared .head button")
	b.click(`#list li:nth-child(3) button:last-child`)
	b.wait(`document.activeElement.id === "one" && document.querySelectorAll("#one .steps summary").length === 3`)
	b.click(`#one .steps .steps summary`)
	b.shot("run")
	set("#again [name=version]", "1")
	b.click("#again .primary")
	b.wait(`!document.querySelector("#again pre").hidden && document.querySelector("#again pre").textContent.includes('"path": "/')`)
	if got := s.Do("GET", "/api/v1/automation/runs?state=done&limit=1", "").JSON(t)["entries"].([]any)[0].(map[string]any)["version"]; got != 1.0 {
		t.Errorf("the run is of version %v", got)
	}
	b.do(chromedp.EmulateViewport(390, 780), darkMode)
	b.shot("run-narrow")
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than a phone")
	}
	b.click("#one .head button:last-child")
	b.wait(`document.getElementById("one").hidden`)
	b.shot("runs-narrow")
	b.said = nil // the run that failed
	b.quiet()
}

// TestBrowserJobs has a job that was given up tried again, and sees what becomes of it.
func TestBrowserJobs(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Single: true, Repo: decks.Listen})
	settled, end := outbox.Watch(s.Repo)
	t.Cleanup(end)
	var tries atomic.Int32
	release := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- outbox.Run(ctx, s.Repo, outbox.Handlers{"test.send": {Do: func(ctx context.Context, _ outbox.Job) error {
			if tries.Add(1) == 1 {
				return &outbox.GaveUp{Err: errors.New("nobody answers")}
			}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return ctx.Err()
		}}})
	}()
	t.Cleanup(func() { stop(); <-ended })
	if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		return outbox.Enqueue(tx, outbox.Job{Kind: "test.send", As: "Administrator"})
	}); err != nil {
		t.Fatal(err)
	}
	for {
		dead := answerOf[[]map[string]any](t, s, "Job.List", `{"state": "dead"}`)
		if len(dead) == 1 {
			break
		}
		<-settled
	}
	b := browse(t, s)
	b.signIn("Administrator")
	job := `(document.querySelector("#jobs li")?.textContent || "")`
	b.open("/ui/runs")
	b.wait(job + `.includes("tried once, given up") && ` + job + `.includes("nobody answers")`)
	b.look("a job that was given up")
	b.click(`#jobs [aria-label^="Retry test.send"]`)
	b.wait(`!document.getElementById("done").hidden && document.getElementById("done").textContent === "test.send is tried again."`)
	b.wait(job + `.startsWith("test.send running")`)
	close(release)
	b.wait(`document.getElementById("jobs").hidden && document.activeElement.id === "main"`)
	b.quiet()
}
