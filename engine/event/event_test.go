package event_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"catena/engine/event"
)

// TestCheck has names that are right, names of other events, and names that were misspelt.
func TestCheck(t *testing.T) {
	for name, near := range map[string]string{
		"documentCreated": "", "deck.updated": "", "documentApproved": "", "documentPaid": "", "invoicePaid": "", "ping": "", "": "",
		"documentCreatd": "documentCreated", "DocumentCreated": "documentCreated", "documentCraeted": "documentCreated", "documentCreates": "documentCreated",
		"abouttoCreate": "aboutToCreate", "deck.update": "deck.updated", "deck_created": "deck.created", "documentUnloked": "documentUnlocked",
	} {
		err := event.Check(name)
		if near == "" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.HasSuffix(err.Error(), ", perhaps "+near) {
			t.Errorf("%q: %v, want %s", name, err, near)
		}
	}
}

// TestManual: the manual lists every event, and no other.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../rest/web/docs/administer.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n### Events\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$").FindAllStringSubmatch(part, -1) {
		got = append(got, m[1]+": "+m[2])
	}
	for _, e := range event.All() {
		want = append(want, e.Name+": "+strings.ToLower(e.Doc[:1])+strings.TrimSuffix(e.Doc[1:], "."))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the manual has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
