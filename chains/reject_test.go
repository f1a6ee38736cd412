package chains_test

import (
	"strings"
	"testing"
)

// TestRejections has a row for each reason for which a chain is refused although its form is right: with line, column and the
// name that was probably meant. Each of them would otherwise show only when the chain runs, or never.
func TestRejections(t *testing.T) {
	w := newWorld(t)
	w.save("name: Gives.Nothing\noutput: void\nsteps: []\n")
	const head = "name: A.B\ninput: document\nparams:\n  - {name: title, type: string}\nsteps:\n"
	for _, c := range []struct{ name, steps, want string }{
		{"a variable in a template", "  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{titel}\"}\n", "c.yaml:7:"},
		{"its nearest name", "  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{titel}\"}\n", "title"},
		{"a variable in an expression", "  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"expr:titel + 'x'\"}\n", "titel"},
		{"a variable in a condition", "  - op: Document.Lock\n    when: titel != ''\n", "perhaps title"},
		{"a variable in a branch", "  - if: titel != ''\n    then:\n      - op: Document.Lock\n", "perhaps title"},
		{"a variable of a loop behind it", "  - each: input\n    item: entry\n    steps:\n      - op: Document.Lock\n  - return: \"@{entry.title}\"\n", "entry"},
		{"a helper", "  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{Fn.escapeHtm(title)}\"}\n", "perhaps Fn.escapeHtml"},
		{"a function", "  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{uper(title)}\"}\n", "upper"},
		{"a type", "  - op: Document.Create\n    params: {type: Fiel}\n", "perhaps File"},
		{"a query that does not parse", "  - op: Repository.Query\n    params: {query: \"SELEC * FROM File\"}\n", "c.yaml:7:22: step 1: Repository.Query"},
		{"a field of a query", "  - op: Repository.Query\n    params: {query: \"SELECT * FROM File WHERE dc:titel = 'x'\"}\n", "dc:title"},
		{"a type of a query", "  - op: Repository.Query\n    params: {query: \"SELECT * FROM Fiel\"}\n", "File"},
		{"an xpath", "  - op: Document.SetProperty\n    params: {xpath: \"dc:titel\", value: x}\n", "perhaps dc:title"},
		{"a property by name", "  - op: Document.Update\n    params: {properties: {\"dc:titel\": x}}\n", "dc:title"},
		{"a transition", "  - op: Document.FollowLifecycleTransition\n    params: {value: aprove}\n", "approve"},
		{"an operation", "  - op: Document.Lok\n", "c.yaml:6:5: step 1: Document.Lok: unknown operation, perhaps Document.Lock"},
		{"an operation as a parameter", "  - op: RunOperation\n    params: {id: Document.Lok}\n", "perhaps Document.Lock"},
		{"a workflow", "  - op: Context.StartWorkflow\n    params: {id: SerialDocumentRevew}\n", "SerialDocumentReview"},
		{"a value of a list", "  - op: Http.Request\n    params: {url: \"https://example.org\", method: PSOT}\n", "POST"},
		{"no input for who needs one", "  - op: Gives.Nothing\n  - op: Document.GetBlob\n  - op: Document.Lock\n", "step 2: Document.GetBlob: input: must be of type document or documents, but step 1 returns nothing"},
		{"a duration", "  - wait: {for: 7 days}\n", "for \"7 days\""},
		{"an event", "  - wait: {event: documentModifed, for: 1d}\n", "c.yaml:6:12: step 1: wait: unknown event \"documentModifed\", perhaps documentModified"},
		{"an instant", "  - wait: {until: tomorrow}\n", "until \"tomorrow\""},
		{"a wait within a branch", "  - if: title != ''\n    then:\n      - wait: 1h\n", "only the steps of a chain itself may wait"},
		{"a result that another step takes unasked", "  - op: Document.GetBlob\n    as: text\n  - op: Http.Request\n    params: {url: \"https://example.org\", method: POST, json: {a: b}}\n", "c.yaml:8:5: step 2: Http.Request: parameter \"text\": is left out and would take the variable of this name, which step 1 sets"},
		{"an item that another step takes unasked", "  - each: \"['a']\"\n    item: text\n    steps:\n      - op: Http.Request\n        params: {url: \"https://example.org\"}\n", "which step 1 sets"},
		{"a result within a branch", "  - if: title != ''\n    then:\n      - op: Document.GetBlob\n        as: text\n  - op: Http.Request\n    params: {url: \"https://example.org\"}\n", "which step 2 sets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.run("Chain.Save", nil, map[string]any{"source": head + c.steps, "name": "c.yaml"})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "c.yaml:") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestNamedResults has steps that share the name of a variable with a parameter and are right.
func TestNamedResults(t *testing.T) {
	w := newWorld(t)
	const head = "name: A.B\ninput: document\nparams:\n  - {name: title, type: string}\nsteps:\n"
	for name, steps := range map[string]string{
		"given": "  - op: Document.GetBlob\n    as: text\n  - op: Http.Request\n    params: {url: \"https://example.org\", text: \"@{text}\"}\n",
		"set for it, as chains of the platform do": "  - op: Context.SetVar\n    params: {name: text, value: x}\n  - op: Http.Request\n    params: {url: \"https://example.org\"}\n",
		"required":          "  - op: Document.GetBlob\n    as: url\n  - op: Http.Request\n",
		"before the name":   "  - op: Http.Request\n    params: {url: \"https://example.org\"}\n    as: text\n",
		"behind the loop":   "  - each: \"['a']\"\n    item: text\n    steps:\n      - op: Document.Lock\n  - op: Http.Request\n    params: {url: \"https://example.org\"}\n",
		"in another branch": "  - parallel:\n      a:\n        - op: Document.GetBlob\n          as: text\n      b:\n        - op: Http.Request\n          params: {url: \"https://example.org\"}\n",
	} {
		if _, err := w.run("Chain.Save", nil, map[string]any{"source": head + steps, "name": "c.yaml"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
