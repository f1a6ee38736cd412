package main

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"catena/rest"
)

// brokenFiles are data directories of which some file will not work, with what the check says about it.
var brokenFiles = map[string]struct {
	files map[string]string
	want  []string
}{
	"a variable":   {map[string]string{"chains/a.yaml": "name: A\ninput: document\nparams: [{name: title}]\nsteps:\n  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{titel}\"}\n"}, []string{"a.yaml:6:43: step 1: Document.SetProperty: expression: unknown variable \"titel\", perhaps title"}},
	"a helper":     {map[string]string{"schedules/a.yaml": "name: A\nas: Administrator\ncron: 0 7 * * *\nrun: Log\nparams: {level: info, message: \"@{Fn.padLef(1, 2)}\"}\n"}, []string{"a.yaml:5:23: step 1: Log: parameter \"message\": expression: unknown function Fn.padLef, perhaps Fn.padLeft"}},
	"a vocabulary": {map[string]string{"chains/a.yaml": "name: A\nsteps:\n  - op: Directory.Entries\n    params: {directoryName: natur}\n"}, []string{`a.yaml:4:29: step 1: Directory.Entries: parameter "directoryName": directory natur: does not exist, perhaps nature`}},
	"two files": {map[string]string{
		"chains/a.yaml": "name: A\nsteps:\n  - op: B\n", "chains/b.yaml": "name: B\ninput: document\nsteps:\n  - op: Document.Create\n    params: {type: Fiel, name: a}\n",
	}, []string{"a.yaml:3:5: step 1: B: unknown operation", `b.yaml:5:20: step 1: Document.Create: parameter "type": unknown document type "Fiel", perhaps File`}},
	"a text that is no YAML": {map[string]string{"chains/a.yaml": "name: [\n"}, []string{"a.yaml:"}},
	"a circle":               {map[string]string{"chains/a.yaml": "name: A\nsteps:\n  - op: RunOperation\n    params: {id: A}\n"}, []string{"the chain calls itself: A → A"}},
	"the input of a schedule": {map[string]string{
		"chains/a.yaml": "name: A\ninput: blob\nsteps:\n  - op: Blob.CreateZip\n", "schedules/s.yaml": "name: S\nas: Administrator\ncron: 0 7 * * *\ninput: /\nrun: A\n",
	}, []string{"s.yaml:5:6: step 1: A: input: must be of type blob or bloblist, not document; Document.GetBlob returns the file of a document"}},
	"no input of a schedule":      {map[string]string{"schedules/s.yaml": "name: S\nas: Administrator\ncron: 0 7 * * *\nrun: Document.Lock\n"}, []string{"s.yaml:4:6: step 1: Document.Lock: input: must be of type document or documents, not void"}},
	"the user of a schedule":      {map[string]string{"schedules/s.yaml": "name: S\nas: nobody\ncron: 0 7 * * *\nrun: Log\nparams: {level: info, message: a}\n"}, []string{"as: user nobody does not exist"}},
	"the input of a listener":     {map[string]string{"chains/a.yaml": "name: A\ninput: blob\nsteps:\n  - op: Blob.CreateZip\n", "listeners/l.yaml": "name: L\nevents: [documentCreated]\nrun: A\n"}, []string{"l.yaml:3:6: run: operation A takes blob or bloblist, not document"}},
	"the condition of a listener": {map[string]string{"listeners/l.yaml": "name: L\nevents: [documentCreated]\ncondition: Documnt.title == 'a'\nrun: Document.Lock\n"}, []string{"unknown variable \"Documnt\", perhaps Document"}},
	"the event of a listener":     {map[string]string{"listeners/l.yaml": "name: L\nevents: [documentCreated, documentModifid]\nrun: Document.Lock\n"}, []string{`l.yaml:2:27: events: unknown event "documentModifid", perhaps documentModified`}},
	"the input of a hook":         {map[string]string{"hooks/h.yaml": "name: H\nas: Administrator\nrun: Document.Lock\n"}, []string{"h.yaml:", "Document.Lock"}},
	"a call of a script":          {map[string]string{"scripts/s.js": "/**\n * @operation S\n * @input document\n */\nfunction run(input) {\n  return Document.Lok(input);\n}\n"}, []string{"s.js:6:", "Document.Lok"}},
	"a parameter of a script":     {map[string]string{"scripts/s.js": "/**\n * @operation S\n * @input document\n */\nfunction run(input) {\n  return Document.Lock(input, {onwer: 'bob'});\n}\n"}, []string{"s.js:6:", "onwer"}},
	"a module":                    {map[string]string{"modules/m.js": "/**\n * M.\n * @module m\n */\nexport const a = ;\n"}, []string{"m.js:5:"}},
	"the input of a workflow's node": {map[string]string{
		"chains/a.yaml": "name: A\ninput: blob\nsteps:\n  - op: Blob.CreateZip\n", "workflows/w.yaml": "workflows:\n  Short:\n    nodes:\n      one: {start: true, input: A, transitions: {go: {to: two}}}\n      two: {end: true}\n",
	}, []string{"w.yaml:4: workflow Short: node one: operation A takes blob or bloblist, not documents"}},
	"an operation of a workflow": {map[string]string{"workflows/w.yaml": "workflows:\n  Short:\n    nodes:\n      one: {start: true, input: Document.Lok, transitions: {go: {to: two}}}\n      two: {end: true}\n"}, []string{"w.yaml:4: workflow Short: node one: ", "Document.Lok"}},
	"a type":                     {map[string]string{"types/t.yaml": "types:\n  Paper:\n    parent: Fiel\n"}, []string{"t.yaml:", "Fiel"}},
	"a type that is no YAML":     {map[string]string{"types/t.yaml": "types: [\n"}, []string{"t.yaml:"}},
	"a schema":                   {map[string]string{"types/t.yaml": "schemas:\n  paper:\n    prefix: pp\n    fields:\n      n: {type: strng}\n"}, []string{"t.yaml:5:", "strng"}},
	"a directory":                {map[string]string{"directories/d.yaml": "directories:\n  color:\n    schema: vocabulry\n"}, []string{"d.yaml:", "perhaps vocabulary"}},
	"a page provider":            {map[string]string{"providers/p.yaml": "providers:\n  notes:\n    where: \"dc:titel = ?\"\n"}, []string{"p.yaml:3:", "perhaps dc:title"}},
	"an action":                  {map[string]string{"actions/a.yaml": "actions:\n  sign:\n    categories: [SIGN]\n    operation: Document.Lock\n    types: [Fil]\n"}, []string{"a.yaml:5:", "perhaps File"}},
	"an operation of an action":  {map[string]string{"actions/a.yaml": "actions:\n  sign:\n    categories: [SIGN]\n    operation: Document.Lok\n"}, []string{"a.yaml:4:", "perhaps Document.Lock"}},
	"a node of a workflow":       {map[string]string{"workflows/w.yaml": "workflows:\n  Ask:\n    nodes:\n      ask: {start: true, transitions: {on: {to: nd}}}\n      end: {end: true}\n"}, []string{"w.yaml:4:", "perhaps end"}},
	"a template":                 {map[string]string{"templates/t.ftl": "Hello\n<#if>"}, []string{"t.ftl:2:"}},
	"a template of mail":         {map[string]string{"mail/m.ftl": "Subject: News\n\n${x"}, []string{"m.ftl:3:"}},
	"a schedule":                 {map[string]string{"schedules/s.yaml": "name: S\nas: Administrator\ncron: 0 7 * *\nrun: Log\nparams: {level: info, message: a}\n"}, []string{"s.yaml:3:"}},
	"a key of a hook":            {map[string]string{"hooks/h.yaml": "name: H\nas: Administrator\nrn: Log\n"}, []string{"h.yaml:3:", "rn"}},
	"files of every kind":        {everyKind, []string{"c.yaml:", "s.js:", "m.js:", "l.yaml:", "h.yaml:", "e.yaml:"}},
	"a variable of a workflow":   {map[string]string{"workflows/w.yaml": "workflows:\n  Short:\n    nodes:\n      one: {start: true, transitions: {go: {to: two, when: WorkflowVariable.x}}}\n      two: {end: true}\n"}, []string{`unknown variable "WorkflowVariable", perhaps WorkflowVariables`}},
}

// everyKind has a file with a mistake in each folder of what comes and goes while a server runs.
var everyKind = map[string]string{
	"chains/c.yaml":    "name: C\nsteps:\n  - op: Document.Lok\n",
	"scripts/s.js":     "/**\n * @operation S\n * @input document\n */\nfunction run(input) {\n  return Document.Lok(input);\n}\n",
	"modules/m.js":     "/**\n * M.\n * @module m\n */\nexport const a = ;\n",
	"listeners/l.yaml": "name: L\nevents: [documentCreatd]\nrun: Document.Lock\n",
	"hooks/h.yaml":     "name: H\nas: Administrator\nrun: Document.Lock\n",
	"schedules/e.yaml": "name: E\nas: nobody\nevery: 1h\nrun: Log\nparams: {level: info, message: a}\n",
}

// degrades are the files that do not keep a server from starting, but make it degraded.
var degrades = map[string]bool{
	"the input of a workflow's node": true, "an operation of a workflow": true, "a variable of a workflow": true,
}

// problems are the lines of texts in order.
func problems(texts ...string) []string {
	all := strings.Split(strings.TrimSpace(strings.Join(texts, "\n")), "\n")
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(line string) bool { return line == "" })
}

// TestConfigCheckAsServe has the check say of each directory what serve says of it, no more and no less, before and after serve has
// made a store in it; a server with a workflow that cannot run is degraded.
func TestConfigCheckAsServe(t *testing.T) {
	made := store(t)
	for _, name := range slices.Sorted(maps.Keys(brokenFiles)) {
		t.Run(name, func(t *testing.T) {
			c := brokenFiles[name]
			data := t.TempDir()
			write(t, data, c.files)
			check := func(data string) []string {
				code, _, errs := line(t, "config", "check", "--data", data)
				if code != 2 {
					t.Errorf("code %d", code)
				}
				return problems(strings.TrimPrefix(errs, "catena: "))
			}
			before := check(data)
			for _, want := range c.want {
				if !strings.Contains(strings.Join(before, "\n"), want) {
					t.Errorf("got %q, want %s", before, want)
				}
			}
			first := served(t, data, degrades[name])
			if !slices.Equal(before, first) {
				t.Errorf("check %q\nserve %q", before, first)
			}
			if after := check(data); !slices.Equal(after, first) {
				t.Errorf("check of a store %q\nserve %q", after, first)
			}
			data = filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(data, os.DirFS(filepath.Join(made, "data"))); err != nil {
				t.Fatal(err)
			}
			write(t, data, c.files)
			if before, later := check(data), served(t, data, degrades[name]); !slices.Equal(before, later) {
				t.Errorf("of files that come later: check %q\nserve %q", before, later)
			}
		})
	}
}

// write puts files into a data directory.
func write(t *testing.T, data string, files map[string]string) {
	t.Helper()
	for file, text := range files {
		file = filepath.Join(data, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// store has serve make a store, in the folder data of the one returned, without any file of users.
func store(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if found := served(t, filepath.Join(dir, "data"), false); len(found) > 0 {
		t.Fatalf("an empty data directory: %q", found)
	}
	return dir
}

// served are the problems that serve has with a data directory: why it does not start, or what will not work.
func served(t *testing.T, data string, workflow bool) []string {
	t.Helper()
	g := &global{}
	g.flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	g.data = data
	s := &serve{}
	s.accept(&cobra.Command{Use: "serve"})
	a, err := s.open(t.Context(), g, io.Discard)
	if err != nil {
		return problems(err.Error())
	}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	a.log = slog.New(slog.DiscardHandler)
	answer := httptest.NewRecorder()
	a.handler(rest.Config{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/readyz", nil))
	if degraded := strings.Contains(answer.Body.String(), `"workflowStatus":"ok"`); degraded == workflow {
		t.Errorf("readyz: %s", answer.Body)
	}
	var texts []string
	for _, d := range a.deployFiles(t.Context()) {
		texts = append(texts, d.err.Error())
	}
	return problems(texts...)
}
