package workflow

import (
	"slices"
	"strings"
	"testing"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

// full is a model with everything that may be declared.
const full = `
workflows:
  W:
    title: wf.title
    startOn: {types: [File, Note], facets: [Versionable], states: [project, approved]}
    variables:
      count: {type: long, default: 3}
      names: "string[]"
      kind: {type: string, default: a, enum: [a, b]}
      day: date
    nodes:
      begin:
        title: wf.begin
        start: true
        input: First.Op
        output: Last.Op
        variables: {comment: string, many: "string[]"}
        task:
          assignees: ["user:ann", "group:staff", "@{workflowInitiator}"]
          due: now() + days(2)
          directive: wf.do
          each: true
          reassignable: true
          grants: Read
          asks: [names, kind]
          shows: [count]
          variables: {hint: "@{documents[0].title}", plain: text}
          buttons:
            no: {label: wf.no, validate: false}
            yes: {when: count > 0}
        transitions:
          yes: {to: join, when: NodeVariables.button == "yes", label: wf.yes, chain: Chain.onYes}
          no: {to: end}
      join: {merge: all, transitions: {on: {to: inner}}}
      inner: {merge: one, workflow: {name: Inner, variables: {x: "1"}}, transitions: {on: {to: end, chain: onEnd}}}
      end: {title: End, end: true}
  Inner: {variables: {x: string}, nodes: {a: {start: true, transitions: {on: {to: b}}}, b: {end: true}}}
mappings:
  review: {"nt:name": "dc:title", "nt:directive": "dc:description"}
steps: {RoutingTask: Chain.begin}
texts:
  wf.title: {en: Title, de: Titel}
  wf.yes: {de: Ja}
  wf.no: {en: "No"}
`

// TestModel reads a model with all of its parts.
func TestModel(t *testing.T) {
	m := load(t, full)
	if m.Name != "W" || m.Title != "wf.title" || len(m.Nodes) != 4 || len(m.Types) != 2 || m.Facets[0].Text != "Versionable" || m.States[1].Text != "approved" {
		t.Errorf("model: %+v", m)
	}
	n, err := m.Node("begin")
	if err != nil || n.Title != "wf.begin" || !n.Start || n.End || n.Merge != NoMerge || n.Input.Text != "First.Op" || n.Output.Text != "Last.Op" || len(n.Variables) != 2 || n.Sub != nil {
		t.Fatalf("node: %+v %v", n, err)
	}
	task := n.Task
	if !task.Each || !task.Reassignable || task.Grants.Text != "Read" || task.Due.Text != "now() + days(2)" || task.Directive != "wf.do" {
		t.Errorf("task: %+v", task)
	}
	if len(task.Assignees) != 3 || task.Assignees[1].Text != "group:staff" || task.Asks[1].Text != "kind" || task.Shows[0].Text != "count" || task.Variables["plain"].Text != "text" {
		t.Errorf("task: %+v", task)
	}
	if no, err := task.Button("no"); err != nil || no.Label != "wf.no" || no.Validate || no.When.Text != "" {
		t.Errorf("button no: %+v %v", no, err)
	}
	if yes, err := task.Button("yes"); err != nil || yes.Label != "yes" || !yes.Validate || yes.When.Text != "count > 0" {
		t.Errorf("button yes: %+v %v", yes, err)
	}
	yes, no := n.Transitions[0], n.Transitions[1]
	if yes.Name != "yes" || yes.Label != "wf.yes" || yes.To.Text != "join" || yes.Chain.Text != "Chain.onYes" || yes.When.Text == "" || no.Label != "no" || no.When.Text != "" {
		t.Errorf("transitions: %+v %+v", yes, no)
	}
	if join, _ := m.Node("join"); join.Merge != MergeAll || join.Title != "join" || join.Task != nil {
		t.Errorf("join: %+v", join)
	}
	if inner, _ := m.Node("inner"); inner.Merge != MergeOne || inner.Sub == nil || inner.Sub.Model.Text != "Inner" || inner.Sub.Variables["x"].Text != "1" {
		t.Errorf("inner: %+v", inner)
	}
	if end, _ := m.Node("end"); !end.End || len(end.Transitions) != 0 || end.Title != "End" {
		t.Errorf("end: %+v", end)
	}
}

// TestNames holds which names are found, and what is said of those that are not.
func TestNames(t *testing.T) {
	ms, err := loadFile(t, full)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ms.Model("W")
	if err != nil {
		t.Fatal(err)
	}
	begin, _ := m.Node("begin")
	_, model := ms.Model("Inne")
	_, node := m.Node("joinn")
	_, button := begin.Task.Button("yess")
	_, mapping := ms.Mapping("revew")
	for _, tt := range []struct {
		err  error
		kind fault.Kind
		text string
	}{
		{model, fault.NotFound, "perhaps Inner"},
		{node, fault.NotFound, "perhaps join"},
		{button, fault.Invalid, `action: unknown action "yess", perhaps yes`},
		{mapping, fault.NotFound, "perhaps review"},
	} {
		if fault.Of(tt.err) != tt.kind || !strings.Contains(tt.err.Error(), tt.text) {
			t.Errorf("got %v, want %s", tt.err, tt.text)
		}
	}
	if f := m.Variable("count"); f == nil || f.Default != int64(3) {
		t.Errorf("count: %+v", f)
	}
	if m.Variable("Count") != nil || m.Variable("comment") != nil {
		t.Error("variables that the workflow does not have")
	}
	if review, err := ms.Mapping("review"); err != nil || review["nt:name"] != "dc:title" || !slices.Equal(review.Targets(), []string{"nt:directive", "nt:name"}) {
		t.Errorf("mapping: %v %v", review, err)
	}
}

// TestTexts holds in which language labels are shown: the one asked for, English, or as they are.
func TestTexts(t *testing.T) {
	ms, err := loadFile(t, full)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ language, label, want string }{
		{"de", "wf.title", "Titel"},
		{"en", "wf.title", "Title"},
		{"fr", "wf.title", "Title"},
		{"", "wf.title", "Title"},
		{"de-CH,de;q=0.9", "wf.title", "Titel"},
		{"de", "wf.yes", "Ja"},
		{"en", "wf.yes", "wf.yes"},
		{"de", "wf.no", "No"},
		{"de", "wf.none", "wf.none"},
		{"de", "", ""},
	} {
		if got := ms.Text(tt.language, tt.label); got != tt.want {
			t.Errorf("%s in %q: got %q, want %q", tt.label, tt.language, got, tt.want)
		}
	}
	if all := ms.Texts("de"); all["wf.yes"] != "Ja" || all["wf.no"] != "No" || all["wf.none"] != nil {
		t.Errorf("all: %v", all)
	}
}

// TestRefused has one mistake a row, and what is said of it.
func TestRefused(t *testing.T) {
	const end = "      e: {end: true}\n"
	for _, tt := range []struct{ source, want string }{
		{head + node("a", "start: true", "e") + node("b", "start: true", "e") + end, "w.yaml:2: workflow W: must have exactly 1 start node, not 2"},
		{head + node("a", "", "e") + end, "w.yaml:2: workflow W: must have exactly 1 start node, not 0"},
		{head + node("a", "start: true", "a"), "w.yaml:2: workflow W: has no end node"},
		{head + node("a", "start: true") + end, "w.yaml:4: workflow W: node a: must have transitions or end"},
		{head + node("a", "start: true, merge: both", "e") + end, "w.yaml:4: node a: merge: must be one or all"},
		{head + node("a", "start: true, task: {assignees: [x]}", "e") + end, "w.yaml:4: workflow W: node a: a task must have assignees and buttons"},
		{head + node("a", "start: true, task: {buttons: {ok: {}}}", "e") + end, "w.yaml:4: workflow W: node a: a task must have assignees and buttons"},
		{head + node("a", "start: true, "+task+", workflow: {name: W}", "e") + end, "w.yaml:4: workflow W: node a: must not have both a task and a workflow"},
		{head + node("a", "start: true, workflow: {name: W}", "e") + end, "w.yaml:2: workflow W: contains itself, through node a of W"},
		{head + node("a", "start: true, workflow: {name: V}", "e") + end, "w.yaml:4: workflow W: node a: unknown workflow V"},
		{head + node("a", "start: true", "e?(") + end, "w.yaml:4: expression: never ends"},
		{head + node("a", "start: true, task: {assignees: [x], due: (, buttons: {ok: {}}}", "e") + end, "w.yaml:4: expression: never ends"},
		{head + node("a", "start: true, task: {assignees: [x], buttons: {ok: {when: (}}}", "e") + end, "w.yaml:4: expression: never ends"},
		{head + node("a", "start: true", "e") + node("e", "end: true, "+task), "w.yaml:5: workflow W: node e: an end node must have neither a task nor transitions"},
		{head + node("a", "start: true, colour: red", "e") + end, "w.yaml:4: unknown key colour"},
		{head + node("a", "start: maybe", "e") + end, "w.yaml:4: "},
		{head + node("a", "start: true, task: {assignees: [x], buttons: {ok: {}}, shows: [v]}", "e") + end, "w.yaml:4: workflow W: node a: unknown variable v"},
		{"mappings: {m: {\"nt:nope\": \"dc:title\"}}\n", "w.yaml:1: mapping m: "},
		{"mappings: {m: {\"nt:name\": \"dc:nope\"}}\n", "w.yaml:1: mapping m: "},
		{"steps: {RoutingTas: x}\n", "w.yaml:1: steps: unknown type RoutingTas, perhaps RoutingTask"},
		{"workflow: {}\n", "w.yaml:1: unknown key workflow, perhaps workflows"},
		{"workflows: []\n", "w.yaml:1: "},
		{head + node("a", "start: true", "e") + node("a", "", "e") + end, "w.yaml:5: "},
		{"workflows:\n  W: {nodes: {}}\n  W: {nodes: {}}\n", "w.yaml:3: "},
	} {
		if _, err := loadFile(t, tt.source); err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return strings.HasPrefix(line, tt.want) }) {
			t.Errorf("%s\ngot  %v\nwant %s", tt.source, err, tt.want)
		}
	}
}

// TestOver holds that texts add models and replace built-in ones by their names.
func TestOver(t *testing.T) {
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	text := func(model, title string) declare.Source {
		return declare.Source{Name: title, Text: "workflows:\n  " + model + ":\n    title: " + title + "\n    nodes: {a: {start: true, transitions: {on: {to: b}}}, b: {end: true}}\n"}
	}
	if _, err := built(types, text("W", "one"), text("W", "two")); err == nil || !strings.Contains(err.Error(), "two:2: W: already declared at one:2") {
		t.Errorf("twice: %v", err)
	}
	ms, err := built(types, text("V", "two"), text("W", "three"), text("SerialDocumentReview", "own"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range ms.All() {
		got = append(got, m.Name+"="+m.Title)
	}
	const want = "ParallelDocumentReview=wf.parallelDocumentReview.ParallelDocumentReview SerialDocumentReview=own V=two W=three"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestCheck holds what is looked up before workflows run: chains and operations, and expressions, each with its line.
func TestCheck(t *testing.T) {
	ms, err := loadFile(t, full)
	if err != nil {
		t.Fatal(err)
	}
	var runs, takes, bare, texts []string
	note := func(into *[]string) func(string) error {
		return func(name string) error { *into = append(*into, name); return nil }
	}
	err = declare.ErrorOf(ms.Check(Checks{Runs: note(&runs), TakesDocs: note(&takes), Expression: func(text string, is bool) error {
		if is {
			return note(&bare)(text)
		}
		return note(&texts)(text)
	}}))
	if err != nil || !slices.Contains(runs, "Chain.begin") {
		t.Errorf("%v, runs %v", err, runs)
	}
	for name, list := range map[string][]string{
		"First.Op": takes, "Last.Op": takes, "Chain.onYes": takes, "onEnd": takes,
		"now() + days(2)": bare, "count > 0": bare, "user:ann": texts, "1": texts, "text": texts,
	} {
		if !slices.Contains(list, name) {
			t.Errorf("%s is not looked at", name)
		}
	}
	if slices.Contains(takes, "") || slices.Contains(bare, "") || slices.Contains(texts, "") {
		t.Error("names that are not given are looked at")
	}
	missing := func(name string) error {
		if name == "onEnd" || name == "Chain.begin" {
			return fault.NotFound.Errorf("no operation %s", name)
		}
		return nil
	}
	err = declare.ErrorOf(ms.Check(Checks{Runs: missing, TakesDocs: missing, Expression: func(string, bool) error { return nil }}))
	const want = "workflow W: node inner: no operation onEnd"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "steps: RoutingTask: no operation Chain.begin") {
		t.Errorf("got %v, want %s", err, want)
	}
	for operation, want := range map[string]string{"onYes": "W/begin ", "First.Op": "W/begin ", "onEnd": "W/inner ", "Nope": ""} {
		got := ""
		ms.Uses(operation, func(model, node string) { got += model + "/" + node + " " })
		if got != want {
			t.Errorf("%s: used by %q, want %q", operation, got, want)
		}
	}
}
