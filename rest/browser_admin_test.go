package rest_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"catena/chains"
	"catena/decks"
	"catena/engine/declaration"
	"catena/engine/hook"
	"catena/engine/library"
	"catena/engine/listener"
	"catena/engine/schedule"
	"catena/engine/waiting"
	"catena/ops"
	"catena/rest"
	"catena/rest/automation"
	"catena/rest/resttest"
	"catena/storage"
)

// managed is a server with everything that administrators manage.
func managed(t *testing.T) *resttest.Server {
	t.Helper()
	schedules, hooks, listeners := schedule.New(), hook.New(), listener.New()
	types, err := declaration.New(fstest.MapFS{}, fstest.MapFS{})
	if err == nil {
		err = types.Declare()
	}
	if err != nil {
		t.Fatal(err)
	}
	texts, err := ops.NewTexts(func(string) fs.FS { return fstest.MapFS{} })
	if err == nil {
		err = texts.Declare(types.Base().Types)
	}
	if err != nil {
		t.Fatal(err)
	}
	types.Beside(texts.Providers, texts.Actions, texts.Workflows)
	s := resttest.Start(t, resttest.Config{
		Storage: func(c *storage.Config) { c.Declared = types.Declared },
		Ops:     decks.Ops(), Single: true, Repo: decks.Listen,
		Deployed: func() library.Deployments {
			return library.Deployments{types, texts, chains.New(), waiting.New(), schedules, hooks, listeners}
		},
		Rest: func(c *rest.Config) { c.Hooks = automation.Receive(hooks) },
	})
	s.User("alice")
	return s
}

// answer is the result of an operation that goes well.
func answerOf[T any](t *testing.T, s *resttest.Server, op, params string) (out T) {
	t.Helper()
	a := s.Do("POST", "/api/v1/automation/"+op, `{"params":`+params+`}`)
	text := struct{ Value *T }{&out}
	if a.StatusCode != http.StatusOK || json.Unmarshal([]byte(a.Text), &text) != nil {
		t.Fatalf("%s: %s %s", op, a.Status, a.Text)
	}
	return out
}

// tab opens a tab of the page of administration.
func (b *tab) pane(name, ready string) {
	b.t.Helper()
	b.click("#tab-" + name)
	b.wait(`!document.getElementById("` + name + `").hidden && (` + ready + `)`)
	b.shot("admin-" + name)
	b.narrow("admin-" + name + "-phone")
	b.look("administration: " + name)
}

// TestBrowserTypes declares a type by its file, is told what is wrong with it, and restores a version.
func TestBrowserTypes(t *testing.T) {
	s := managed(t)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#types")
	b.wait(`document.querySelector("#types tbody")`)
	b.press("#types", "New type")
	b.wait(`document.querySelector("#types .text-editor .tag.good")`)
	b.set("#types textarea", "types:\n  Deal: {parent: Fil}\n")
	b.wait(`document.querySelector("#types .wrongs").textContent.includes("Line 2: type Deal: unknown type Fil, perhaps File")`)
	b.set("#types textarea", "types:\n  Deal: {parent: File, label: Deal, containers: [Folder]}\n")
	b.press("#types", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved contract, version 1." && [...document.querySelectorAll("#types tbody th")].some((e) => e.textContent === "Deal")`)
	if got := s.Do("GET", "/api/v1/config/types/Deal", ""); got.StatusCode != http.StatusOK {
		t.Errorf("%s %s", got.Status, got.Text)
	}
	s.Do("POST", api+"/automation/Document.Create", `{"input": "/", "params": {"type": "Folder", "name": "deals"}}`)
	if got := s.Do("GET", api+"/path/deals", "", "enrichers-document", "subtypes"); !strings.Contains(got.Text, `"type":"Deal"`) {
		t.Errorf("the new type is not offered in a folder: %s", got.Text)
	}
	b.set("#types textarea", "types:\n  Bargain: {parent: File}\n")
	b.press("#types", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved contract, version 2."`)
	b.press("#types", "Versions")
	b.click(`#types [aria-label="Restore version 1"]`)
	b.wait(`document.querySelector("#types textarea").value.includes("Deal")`)
	b.narrow("admin-types-file-phone")
	b.look("administration: a file of types")
}

// TestBrowserTexts writes, checks, pauses, restores and deletes a schedule, and makes a hook with its secret.
func TestBrowserTexts(t *testing.T) {
	s := managed(t)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin")
	b.wait(`document.querySelector("#users li strong")`)
	b.click("#tab-schedules")
	b.press("#schedules", "New schedule")
	b.wait(`document.querySelector("#schedules .text-editor .tag.good")`)
	b.set("#schedules textarea", "name: Often\nas: system\nevery: 1s\nrun: Lg\n")
	b.wait(`document.querySelectorAll("#schedules .wrongs li").length === 1 && document.querySelector("#schedules .wrongs").textContent.includes("Line 3")`)
	b.set("#schedules textarea", "name: Often\nas: system\nevery: 12h\nrun: Log\nparams: {level: info, message: a}\n")
	b.wait(`document.querySelector("#schedules .text-editor").textContent.includes("Next runs: ")`)
	eval[bool](b, `document.querySelector("#schedules .text-editor .primary").focus() === undefined`)
	b.press("#schedules", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved Often, version 1." && document.activeElement.textContent === "Save"`) // the focus is where it was
	b.pane("schedules", `document.querySelector('#schedules [data-name=Often] .tag.good')?.textContent === "scheduled"`)
	eval[bool](b, `document.querySelector('[aria-label="Pause Often"]').focus() === undefined`)
	b.click(`[aria-label="Pause Often"]`)
	b.wait(`document.activeElement.closest("[data-name=Often]") && document.querySelector('[aria-label="Resume Often"]') && document.getElementById("done").textContent === "Paused."`)
	if got := answerOf[[]schedule.Status](t, s, "Schedule.Status", "{}"); len(got) != 1 || got[0].State != "stopped" || got[0].Run != "Log" {
		t.Errorf("paused: %+v", got)
	}
	b.click(`[aria-label="Resume Often"]`)
	b.wait(`document.querySelector('[aria-label="Pause Often"]')`)
	b.click(`[aria-label="Run now Often"]`)
	b.wait(`document.querySelector("[data-name=Often]").textContent.includes("a run is to begin")`)
	b.click(`[aria-label="Edit Often"]`)
	b.wait(`document.querySelector("#schedules .text-editor h2").textContent === "Often"`)
	b.set("#schedules textarea", "name: Often\nas: system\nevery: 24h\nrun: Log\nparams: {level: info, message: b}\n")
	b.set("#schedules .text-editor input", "less often")
	// What is not saved is there again after another tab, and is not closed without a question.
	b.click("#tab-users")
	b.wait(`document.getElementById("schedules").hidden`)
	b.click("#tab-schedules")
	b.wait(`!document.getElementById("schedules").hidden && document.querySelector("#schedules textarea").value.includes("every: 24h")`)
	b.press("#schedules .text-editor", "Close")
	b.press("dialog[open]", "Cancel")
	b.wait(`!document.querySelector("dialog[open]") && document.querySelector("#schedules textarea").checkVisibility()`)
	b.press("#schedules", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved Often, version 2."`)
	b.press("#schedules", "Versions")
	b.wait(`document.querySelector("#schedules [aria-label=Versions]").textContent.includes("less often")`)
	b.click(`#schedules [aria-label="Changes of version 2"]`)
	b.wait(`document.querySelector("dialog pre").textContent.includes("+every: 24h")`)
	b.press("dialog", "Close")
	b.click(`#schedules [aria-label="Restore version 1"]`)
	b.wait(`document.querySelector("#schedules textarea").value.includes("every: 12h") && document.querySelector("[data-name=Often]").textContent.includes("version 3")`)
	b.press("#schedules .text-editor", "Delete")
	b.press("dialog", "Delete")
	b.wait(`document.querySelector("#schedules .list").textContent === "No schedules yet."`)

	b.click("#tab-hooks")
	b.press("#hooks", "New hook")
	b.set("#hooks textarea", "name: Orders\nas: alice\nrun: Log\nparams: {level: info, message: a}\n")
	eval[bool](b, `(() => { const send = fetch; window.release = null; fetch = async (url, how) => { if (String(url).includes("Hook.Save")) await new Promise((go) => { window.release = go; }); return send(url, how); }; return true; })()`)
	b.press("#hooks", "Save")
	b.click("#tab-hooks")
	b.wait(`document.querySelector("#hooks .list").textContent === "No hooks yet." && window.release`)
	eval[bool](b, `(window.release(), true)`) // saved after the tab was opened again
	b.wait(`document.querySelector("[data-name=Orders] .tag.good")`)
	b.pane("hooks", `document.querySelector("[data-name=Orders] .tag.good")?.textContent === "enabled"`)
	b.click(`[aria-label="New secret of Orders"]`)
	b.press("dialog", "Make a secret")
	b.wait(`document.querySelector("dialog .secret code")?.textContent.startsWith("whsec_")`)
	secret := eval[string](b, `document.querySelector("dialog .secret code").textContent`)
	if a := s.Do("POST", "/hooks/Orders", "{}", "as", "", "Authorization", "Bearer "+secret); a.StatusCode != http.StatusAccepted {
		t.Errorf("with the secret: %s %s", a.Status, a.Text)
	}
	b.press("dialog", "Close")
	b.click("#tab-listeners")
	b.press("#listeners", "New listener")
	b.wait(`document.querySelector("#listeners .text-editor .tag.good")`)
	b.press("#listeners", "Save")
	b.pane("listeners", `document.querySelector("[data-name=Notify]")`)
	b.quiet()
}

// TestBrowserDeclarations declares a workflow by its text, and texts of the kinds that share a tab.
func TestBrowserDeclarations(t *testing.T) {
	s := managed(t)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#workflows")
	b.press("#workflows", "New workflow")
	b.wait(`document.querySelector("#workflows .text-editor .tag.good")`)
	b.set("#workflows textarea", "workflows:\n  Ask:\n    title: Ask for approval\n    nodes:\n      ask: {start: true, transitions: {on: {to: nd}}}\n      end: {end: true}\n")
	b.wait(`document.querySelector("#workflows .wrongs").textContent.includes("Line 5: workflow Ask: node ask: unknown node nd, perhaps end")`)
	b.set("#workflows textarea", "workflows:\n  Ask:\n    title: Ask for approval\n    nodes:\n      ask: {start: true, transitions: {on: {to: end}}}\n      end: {end: true}\n")
	b.press("#workflows", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved ask, version 1." && [...document.querySelectorAll("#workflows tbody th")].some((e) => e.textContent === "Ask for approval")`)
	b.click("#tab-texts")
	for kind, c := range map[string]struct{ noun, name string }{
		"Template": {"template", "letter.ftl"}, "MailTemplate": {"mail", "news.ftl"}, "PageProvider": {"provider", "notes"}, "ActionDefinition": {"action", "sign"},
	} {
		b.set("#texts select", kind)
		b.press("#texts", "New "+c.noun)
		b.wait(`document.querySelector("#texts .text-editor .tag.good")`)
		b.press("#texts", "Save")
		b.wait(`document.getElementById("done").textContent === "Saved ` + c.name + `, version 1." && document.querySelector("#texts [data-name='` + c.name + `']")`)
		if got := s.Do("POST", "/api/v1/automation/"+kind+".Read", `{"params":{"name":"`+c.name+`"}}`); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", kind, got.Status, got.Text)
		}
	}
	b.pane("texts", `document.querySelector("#texts select")`)
	b.quiet()
}

// TestBrowserServerPanes looks at what administrators see of the server, and acts where they can.
func TestBrowserServerPanes(t *testing.T) {
	s := managed(t)
	s.Key("alice", "read_only")
	doc := reviewed(t, s, "alice")
	if a := s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`, "as", "alice"); a.StatusCode >= 300 {
		t.Fatal(a.Text)
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#workflows")
	b.wait(`document.querySelectorAll("#workflows table").length === 2 && [...document.querySelectorAll("#workflows td")].some((e) => e.textContent === "alice") && document.getElementById("workflows").textContent.includes("Choose the participants: 1") && !document.getElementById("workflows").textContent.includes("document 1")`)
	b.click(`#workflows [aria-label^="Graph of Parallel"]`)
	b.pane("workflows", `[...document.querySelectorAll("#workflows text.count")].some((e) => e.textContent === "1") || document.querySelector('#workflows [aria-label^="Graph of Parallel"]')?.click()`)
	b.pane("keys", `document.querySelector("#keys tbody tr")?.textContent.includes("alice")`)
	b.click(`#keys [aria-label="Revoke key 1 of alice"]`)
	b.press("dialog", "Revoke")
	b.wait(`document.querySelector("#keys .tag.bad")?.textContent === "revoked"`)
	b.pane("audit", `document.querySelectorAll("#audit li strong").length > 3`)
	b.set("#audit [name=principalName]", "alice")
	b.press("#audit", "Find")
	b.wait(`document.querySelectorAll("#audit li").length > 0 && [...document.querySelectorAll("#audit li .soft")].every((e, i) => i % 2 || e.textContent.startsWith("alice"))`)
	b.pane("server", `document.querySelector("#server caption").textContent === "The server is ready" && document.querySelector("#server a[download]")`)
	b.press("#server", "Verify the store now")
	b.wait(`document.querySelector("dialog p")?.textContent === "No problem was found."`)
	b.press("dialog", "Close")
	b.pane("figures", `document.querySelectorAll("#figures figure").length === 7`)
	b.pane("settings", `document.getElementById("settings").textContent.includes("not known")`)
	b.pane("vocabularies", `document.querySelector("#vocabularies textarea, #vocabularies .primary") && document.querySelector("#vocabularies select")?.value`)
	b.press("#vocabularies", "New vocabulary")
	b.set("#vocabularies textarea", "directories:\n  color:\n    schema: vocabulry\n")
	b.wait(`document.querySelector("#vocabularies .wrongs")?.textContent.includes('Line 2: directory color: unknown schema "vocabulry"')`)
	b.shot("admin-vocabulary-wrong")
	b.set("#vocabularies textarea", "directories:\n  color:\n    schema: vocabulary\n    entries: {red: {en: Red}}\n")
	b.wait(`document.querySelector("#vocabularies .text-editor [role=status]").textContent === "No problems found."`)
	b.press("#vocabularies .text-editor", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved colors, version 1." && [...document.querySelectorAll("#vocabularies option")].some((e) => e.value === "color")`)
	b.set("#vocabularies select", "color")
	b.wait(`document.querySelector("#vocabularies .panel li strong")?.textContent === "red"`)
	b.shot("admin-vocabularies")
	b.narrow("admin-vocabularies-narrow")
	b.look("admin vocabularies")
	b.pane("types", `[...document.querySelectorAll("#types tbody th")].some((e) => e.textContent === "title") || (() => { const e = document.querySelector("#types select"); if (e && e.value !== "dublincore") { e.value = "dublincore"; e.dispatchEvent(new Event("change")); } })()`)
	b.click("#tab-workflows")
	b.wait(`document.querySelector("#workflows .danger")`)
	b.click("#workflows .danger")
	b.press("dialog", "Cancel the workflow")
	b.wait(`document.getElementById("workflows").textContent.includes("No workflow runs.")`)
	b.quiet()
}

// TestBrowserAccount changes a profile, ends the session of another browser, and changes the password.
func TestBrowserAccount(t *testing.T) {
	s := managed(t)
	other := browse(t, s)
	other.signIn("alice")
	b := browse(t, s)
	b.signIn("alice")
	b.open("/ui/account")
	b.wait(`document.querySelectorAll("#sessions li strong").length === 2`)
	b.shot("account")
	b.narrow("account-phone")
	b.look("account")
	if eval[bool](b, `document.querySelector("#profile input") !== null || !document.getElementById("profile").textContent.includes("Administrators change your profile.")`) {
		t.Error("alice is offered to change her profile, which she may not")
	}
	b.click(`#sessions [aria-label^="Sign out"]`)
	b.press("dialog", "Sign out")
	b.wait(`document.querySelectorAll("#sessions li strong").length === 1 && document.querySelector("#sessions strong").textContent === "This browser"`)
	other.open("/ui/account")
	other.wait(`location.pathname === "/ui/login"`)
	b.set("#password [name=oldPassword]", "wrong")
	b.set("#password [name=newPassword]", "another-password")
	b.set("#password [name=again]", "another-pasword")
	b.press("#password", "Change the password")
	b.wait(`document.getElementById("message").textContent === "The new passwords differ."`)
	b.set("#password [name=again]", "another-password")
	b.press("#password", "Change the password")
	b.wait(`document.getElementById("message").textContent === "password: the old password is wrong"`)
	b.shot("account-wrong")
	b.said = slices.DeleteFunc(b.said, func(text string) bool { return strings.Contains(text, "changepassword") })
	b.set("#password [name=oldPassword]", resttest.Password)
	b.press("#password", "Change the password")
	b.wait(`location.pathname === "/ui/login"`)
	b.quiet()
	b.signIn("Administrator")
	b.open("/ui/account")
	b.set("#profile [name=firstName]", "Ada")
	b.press("#profile", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved."`)
	if got := s.Do("GET", "/api/v1/user/Administrator", "").JSON(t)["properties"].(map[string]any)["firstName"]; got != "Ada" {
		t.Errorf("first name: %v", got)
	}
	b.quiet()
}

// TestBrowserHome: everybody sees tasks and documents, administrators the server and what failed.
func TestBrowserHome(t *testing.T) {
	s := managed(t)
	doc := reviewed(t, s, "alice")
	if a := s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`, "as", "alice"); a.StatusCode >= 300 {
		t.Fatal(a.Text)
	}
	if a := s.Do("POST", "/api/v1/automation/Document.SetProperty", fmt.Sprintf(`{"input":%q,"params":{"xpath":"dc:nope","value":"x"}}`, doc)); a.StatusCode < 400 {
		t.Fatal(a.Text)
	}
	b := browse(t, s)
	b.signIn("alice")
	b.open("/ui/home")
	b.wait(`document.querySelector("#tasks a[href*='#']") && document.querySelector("#documents h2") && document.querySelector("#started")`)
	if eval[bool](b, `document.getElementById("server") !== null`) {
		t.Error("alice sees the state of the server")
	}
	b.shot("home")
	b.narrow("home-phone")
	b.look("home")
	b.quiet()
	admin := browse(t, s)
	admin.signIn("Administrator")
	admin.open("/ui/home")
	admin.wait(`document.querySelector("#cards section")?.id === "steps" && document.querySelector("#cards section + section")?.id === "server" && document.querySelector("#failed code")?.textContent === "Document.SetProperty"`)
	admin.shot("home-admin")
	admin.look("home of an administrator")
	admin.click("#failed li a")
	admin.wait(`location.pathname === "/ui/runs" && document.querySelector("#again textarea")`)
	admin.quiet()
}
