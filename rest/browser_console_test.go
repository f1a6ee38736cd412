package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks"
	"catena/decks/export"
	"catena/decks/render"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
)

// TestBrowserKeys makes a key on its page, which is shown once, uses it and revokes it.
func TestBrowserKeys(t *testing.T) {
	var skip atomic.Int64
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Storage: func(c *storage.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(skip.Load())) }
	}})
	s.User("alice")
	pro(t, s, "alice")
	deck := makeDeck(t, s, map[string]any{"title": "Ends", "data": "<section>x</section>"})

	// What ended yesterday was made the day before.
	skip.Store(int64(-48 * time.Hour))
	yesterday := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	if got := s.Do("POST", "/api/v1/automation/Key.Create", `{"params":{"name":"old","scope":"read_only","expires":"`+yesterday+`"}}`, "as", "alice"); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	link := s.Do("POST", "/v1/decks/1/share", `{"name":"Ended","expires_at":"`+yesterday+`"}`, "as", "alice")
	if link.StatusCode != http.StatusCreated {
		t.Fatal(link.Text)
	}
	skip.Store(0)

	b := browse(t, s)
	b.open(strings.TrimPrefix(link.JSON(t)["data"].(map[string]any)["url"].(string), s.URL))
	b.wait(`document.querySelector("h1")?.textContent === "This link has expired" && document.querySelector(".status").textContent === "410"`)
	b.shot("expired")
	if got := eval[string](b, `document.body.innerText`); strings.Contains(got, "Ends") || strings.Contains(got, "Sign in") {
		t.Errorf("the page says %q", got)
	}
	b.said = nil
	b.signIn("alice")
	b.open(deck + "/share")
	b.wait(`document.querySelector("#links .tag.bad")?.textContent === "has ended"`)

	b.open("/ui/keys")
	row := func(name string) string {
		return `[...document.querySelectorAll("#list tr")].find((r) => r.textContent.startsWith("` + name + `"))`
	}
	b.wait(row("old") + `.querySelector(".tag:last-child")?.textContent !== undefined && ` + row("old") + `.textContent.endsWith("ended")`)
	b.write("#new [name=name]", "robot")
	b.click("#new button.primary")
	b.wait(`!document.getElementById("made").hidden && ` + row("robot"))
	key := eval[string](b, `document.getElementById("secret").textContent`)
	in90 := time.Now().Add(90 * 24 * time.Hour)
	if got := eval[string](b, row("robot")+`.children[4].querySelector("time").dateTime.slice(0, 10)`); got != in90.UTC().Format("2006-01-02") {
		t.Errorf("the key ends %s", got)
	}
	b.shot("key")
	b.open("/ui/keys")
	b.wait(row("robot") + `.children[3].textContent === "never"`)
	if got := eval[bool](b, `document.getElementById("made").hidden && !document.documentElement.outerHTML.includes("`+key+`")`); !got {
		t.Error("the key is shown twice")
	}
	if got := s.Do("POST", "/v1/decks", `{}`, bearer(key)...); got.StatusCode != http.StatusForbidden {
		t.Errorf("a key that only reads: %s", got.Status)
	}
	if got := s.Do("GET", "/v1/decks", "", bearer(key)...); got.StatusCode != http.StatusOK {
		t.Errorf("the key: %s", got.Status)
	}
	b.open("/ui/keys")
	b.wait(row("robot") + `.children[3].textContent === "just now"`)
	b.click(`#list button[aria-label="Revoke robot"]`)
	b.wait(row("robot") + `.querySelector(".tag.bad")?.textContent === "revoked"`)
	if got := s.Do("GET", "/v1/decks", "", bearer(key)...); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the key revoked: %s", got.Status)
	}
	b.quiet()
}

// TestBrowserDownload makes a PDF with every option there is, and a ZIP.
func TestBrowserDownload(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Printed", "data": threeSlides})
	w := &export.Worker{Repo: s.Repo, PDF: render.Embedded{}, Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- outbox.Run(ctx, s.Repo, w.Jobs()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b := browse(t, s)
	b.signIn("alice")
	b.open(path + "/edit")
	b.wait(`document.getElementById("state")?.textContent === "Saved"`)
	eval[bool](b, `(() => { const real = fetch; window.sent = []; window.fetch = (to, o) => { if (o?.method === "POST") sent.push(o.body); return real(to, o); }; return true; })()`)
	b.click("#download")
	b.wait(`document.getElementById("download-dialog").open`)
	b.click("#new-export [value=zip]")
	b.wait(`document.getElementById("pdf-options").hidden`)
	b.click("#new-export [value=pdf]")
	b.wait(`!document.getElementById("pdf-options").hidden`)
	for _, name := range []string{"slide_number", "slide_notes", "separate_fragments"} {
		b.click("#new-export [name=" + name + "]")
	}
	eval[string](b, `document.querySelector("#new-export [name=margin]").value = "0.1"`)
	b.click("#new-export button.primary")
	b.wait(`document.querySelector("#export-state a")?.textContent === "Download the PDF"`)
	b.shot("download")
	var sent map[string]any
	if err := json.Unmarshal([]byte(eval[string](b, `sent[0]`)), &sent); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(sent), "map[format:pdf margin:0.1 separate_fragments:true slide_notes:true slide_number:true]"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	if got := eval[string](b, `fetch(document.querySelector("#export-state a").href).then((r) => r.text()).then((t) => t.slice(0, 5))`); got != "%PDF-" {
		t.Errorf("the file begins %q", got)
	}
	b.wait(`document.querySelectorAll("#exports li a").length === 1`)
	b.click("#new-export [value=zip]")
	b.click("#new-export button.primary")
	b.wait(`document.querySelector("#export-state a")?.textContent === "Download the ZIP"`)
	if got := eval[string](b, `fetch(document.querySelector("#export-state a").href).then((r) => r.text()).then((t) => t.slice(0, 2))`); got != "PK" {
		t.Errorf("the file begins %q", got)
	}
	b.quiet()
}

// TestBrowserProfile looks at somebody's decks as everybody sees them, and at the team's.
func TestBrowserProfile(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	s.User("bob")
	makeDeck(t, s, map[string]any{"title": "Hidden"})
	makeDeck(t, s, map[string]any{"title": "<i>Open</i>", "description": "For all", "visibility": "all", "data": threeSlides})
	b := browse(t, s)
	b.open("/decks/alice")
	b.wait(`document.querySelectorAll("#list li").length === 1`)
	if got := eval[string](b, `document.querySelector("#list h2").textContent + "|" + document.querySelector("#list .meta").textContent.split(" · ")[0]`); got != "<i>Open</i>|4 slides" {
		t.Errorf("card: %s", got)
	}
	b.shot("profile")
	b.quiet()
	b.click("#list h2 a")
	b.wait(`document.getElementById("number")?.textContent === "1 / 4"`)
	b.click(".title a")
	b.wait(`location.pathname === "/decks/alice"`)
	b.open("/decks/bob")
	b.wait(`document.querySelector(".status")?.textContent === "404"`)
	b.open("/decks/nobody")
	b.wait(`document.querySelector(".status")?.textContent === "404"`)
	b.open("/decks/alice/hidden")
	b.wait(`document.querySelector("h1")?.textContent === "Page not found" && document.querySelector(".primary")?.textContent === "Sign in"`)

	for _, call := range [][2]string{{"Team.Create", `{"name":"Crew","owner":"alice"}`}, {"Team.SetMember", `{"id":1,"username":"bob"}`}} {
		if got := s.Do("POST", "/api/v1/automation/"+call[0], `{"params":`+call[1]+`}`); got.StatusCode != http.StatusOK {
			t.Fatal(got.Text)
		}
	}
	b.said = nil
	b.signIn("alice")
	b.open("/teams/crew")
	b.wait(`document.getElementById("people-title").textContent === "2 members" && document.querySelectorAll("#shared li").length === 1`)
	if got := eval[string](b, `document.querySelector("#shared li").innerText.replace(/\s+/g, " ")`); got != "<i>Open</i> by alice · For all for everyone" {
		t.Errorf("the team's deck: %s", got)
	}
	b.shot("team")
	eval[bool](b, `(() => { const e = document.querySelector('[aria-label="Role of bob"]'); e.value = "admin"; return e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	b.wait(`document.querySelector('[aria-label="Role of bob"]').value === "admin" && document.querySelector('[aria-label="Role of bob"] option[selected]').value === "admin"`)
	b.click(`[aria-label="Remove bob from the team"]`)
	b.wait(`document.getElementById("people-title").textContent === "1 member"`)
	b.quiet()
}
