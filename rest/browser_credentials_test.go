package rest_test

import (
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserCredentials makes a credential by its form, which asks for what its kind needs, finds that a name is taken, and grants it to
// a chain.
func TestBrowserCredentials(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Deployed: deployed, Repo: decks.Listen})
	s.Do("POST", "/api/v1/automation/Chain.Save", `{"params": {"source": "name: Shop.Ask\nsteps: []\n"}}`)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#credentials")
	b.press("#credentials", "New credential")
	shown := func() string {
		t.Helper()
		return eval[string](b, `[...document.querySelectorAll("dialog .field > label")].filter((e) => e.checkVisibility()).map((e) => e.textContent).join("|")`)
	}
	if got := shown(); got != "Name required|Sign-in required|Address required|Secret required|Chains that may use it|Users and groups that may use it" {
		t.Errorf("the form asks for %q", got)
	}
	b.shot("credential")
	b.look("form of a credential")
	b.press("dialog", "Create")
	b.wait(`document.querySelector("dialog .alert").textContent === "Name, Sign-in, Address, Secret: required"`)
	b.set("dialog [name=name]", "shop")
	b.set("dialog [name=kind]", "oauth2")
	if got := shown(); !strings.Contains(got, "User or client ID required|Token address required|Scopes|") {
		t.Errorf("the form asks for %q", got)
	}
	b.set("dialog [name=kind]", "header")
	b.set("dialog [name=url]", "https://shop.example.com/")
	b.set("dialog [name=header]", "X-Api-Key")
	b.set("dialog [name=secret]", "s3cret")
	b.press("dialog", "Create")
	b.wait(`!document.querySelector("dialog") && document.querySelector("#credentials li")?.textContent.includes("Header · https://shop.example.com/ · nobody may use it yet")`)

	// What there is is not replaced by a new one.
	b.press("#credentials", "New credential")
	b.set("dialog [name=name]", "shop")
	b.set("dialog [name=kind]", "bearer")
	b.set("dialog [name=url]", "https://other.example.com/")
	b.set("dialog [name=secret]", "another")
	b.press("dialog", "Create")
	b.wait(`document.activeElement.name === "name" && document.querySelector("dialog .field .wrong:not([hidden])")?.textContent === "There is a credential shop already."`)
	b.press("dialog", "Cancel")

	// One that becomes another kind loses what that kind has not.
	b.click(`[aria-label="Change shop"]`)
	b.wait(`document.querySelector("dialog [name=header]").checkVisibility()`)
	b.set("dialog [name=kind]", "bearer")
	b.set("dialog [name=secret]", "t0ken")
	eval[bool](b, `document.querySelector("dialog [name=chains]").focus() === undefined`)
	b.wait(`[...document.getElementById(document.querySelector("dialog [name=chains]").getAttribute("list")).options].some((o) => o.value === "Shop.Ask")`)
	// The button stays where it is while the mouse presses it, although the field loses the focus with a value.
	eval[bool](b, `(() => { const e = document.querySelector("dialog [name=chains]"); e.focus(); e.value = "Shop.Ask"; return true; })()`)
	before := eval[float64](b, `document.querySelector("dialog .primary").getBoundingClientRect().top`)
	if now := eval[float64](b, `(document.querySelector("dialog .primary").focus(), document.querySelector("dialog .primary").getBoundingClientRect().top)`); now != before {
		t.Errorf("the button moved from %v to %v", before, now)
	}
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.querySelector("#credentials li")?.textContent.includes("Token (bearer) · https://shop.example.com/ · for Shop.Ask")`)
	b.narrow("credentials-narrow")
	b.look("credentials")
	b.quiet()
}
