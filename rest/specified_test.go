package rest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are operations whose outcome is asserted outside of the files of testdata/wire: over HTTP by scenarios, which run
// through the engine, HTTP and MCP, or by tests that send requests. Each file calls the operation by name.
var elsewhere = map[string]string{
	"Blob.CreateFromURL":                            "../ops/blob/testdata/create_from_url.txtar",
	"Blob.ExportToFS":                               "../ops/blob/testdata/export_to_fs.txtar",
	"Context.RestoreDocumentInputFromScript":        "../ops/context/testdata/restore_from_script.txtar",
	"Document.Routing.UpdateCommentsInfoOnDocument": "../ops/comment/testdata/count.txtar",
	"Document.Save":                                 "../ops/document/testdata/save.txtar",
	"PlatformDrive.CreateTestDocuments":             "../ops/drive/drive_test.go",
	"PlatformDrive.SetActiveFactories":              "../ops/drive/drive_test.go",
	"PlatformDrive.SetVersioningOptions":            "../ops/drive/drive_test.go",
	"PlatformDrive.SetupIntegrationTests":           "../ops/drive/drive_test.go",
	"PlatformDrive.TearDownIntegrationTests":        "../ops/drive/drive_test.go",
	"PlatformDrive.WaitForAsyncCompletion":          "../ops/drive/drive_test.go",
	"PlatformDrive.WaitForElasticsearchCompletion":  "../ops/drive/drive_test.go",
	"RunInputScript":                                "../scripts/testdata/run_script.txtar",
	"RunScript":                                     "../scripts/testdata/run_script.txtar",
	"updateCommentsOnDoc":                           "../ops/comment/testdata/count.txtar",
	"NRD-AC-PR-force-validate":                      "../ops/workflow/testdata/chains.txtar",
	"notifyInitiatorEndOfWorkflow":                  "../ops/workflow/testdata/chains.txtar",
}

// TestSpecifiedOperations checks that an outcome is asserted of every operation that the specification names
// (testdata/operations.txt): what it returns if that is not its input, or what is different afterwards. A status, a refusal, and
// the input as it was are none.
func TestSpecifiedOperations(t *testing.T) {
	text, err := os.ReadFile("testdata/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	asserted := assertedOperations(t)
	names := strings.Fields(string(text))
	if len(names) != 268 {
		t.Errorf("%d operations, want 268", len(names))
	}
	for _, name := range names {
		file := elsewhere[name]
		switch {
		case file == "" && !asserted[name]:
			t.Errorf("%s: no outcome is asserted", name)
		case file != "" && asserted[name]:
			t.Errorf("%s: is asserted here and in %s", name, file)
		case file != "" && !called(t, file, name):
			t.Errorf("%s: %s does not call it", name, file)
		}
	}
	for name := range elsewhere {
		if !slices.Contains(names, name) {
			t.Errorf("%s: the specification does not name it", name)
		}
	}
}

// called reports whether a file calls an operation: the synchronizer's by the name that its client uses.
func called(t *testing.T, file, name string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	short, ok := strings.CutPrefix(name, "PlatformDrive.")
	return strings.Contains(string(text), name) || ok && strings.Contains(string(text), "NuxeoDrive."+short)
}

// assertedOperations are the operations with an outcome in the files 3…-operations-….txt of testdata/wire, which TestWire plays,
// or in the tables of outcome_test.go.
func assertedOperations(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("testdata/wire/3*-operations-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	out := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		w := wireReader{chains: map[string][]string{}, found: out}
		for line := range strings.SplitSeq(string(text), "\n") {
			w.line(line)
		}
	}
	text, err := os.ReadFile("outcome_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		for _, name := range append(m[1:2:2], idOf.FindStringSubmatch(m[0])...) {
			out[name] = true
		}
	}
	return out
}

// tableRow is a row of outcome_test.go: who, operation, input, parameters. Those are outcomes as a whole: rows that look follow.
var (
	tableRow = regexp.MustCompile(`(?m)^\s*\{?\s*"(?:|admin|alice|bob)", "([A-Za-z][\w.-]+)", .*$`)
	idOf     = regexp.MustCompile(`"id": "([\w.-]+)"`)
)

// wireReader reads a file of testdata/wire.
type wireReader struct {
	chains map[string][]string // the operations of chains that the file saves, by name
	names  []string            // the operations that the lines now are about
	input  string
	looks  bool // the request only looks at what others have done
	found  map[string]bool
}

var (
	looking = regexp.MustCompile(`^(Workflow\.GetOpenTasks|Repository\.\w+|Document\.Get\w+|Collection\.GetDocumentsFromCollection|PlatformDrive\.(GetRoots|FileSystemItemExists|GetChildren|GetFileSystemItem)|Seam\.(Fetch|Get)\w+|Favorite\.GetDocuments|Audit\.Query|Directory\.ReadEntries|Task\.GetAssigned|Job\.List)$`)
	saved   = regexp.MustCompile(`"source":"name: ([\w.]+)\\n`)
	stepOp  = regexp.MustCompile(`- op: ([\w.-]+)`)
	runIn   = regexp.MustCompile(`"params":\{"id":"([\w.]+)"`)
	inputIn = regexp.MustCompile(`"input":"(?:docs?:)?([^"]*)"`)
)

func (w *wireReader) line(line string) {
	if m := isRequest.FindStringSubmatch(line); m != nil {
		w.request(m[1], m[2], line)
		return
	}
	if !isOutcome(line) || !w.looks && w.input != "" && (line == `.uid "`+w.input+`"` || line == `.path "`+w.input+`"`) {
		return
	}
	for _, name := range w.names {
		w.found[name] = true
	}
}

func (w *wireReader) request(method, path, line string) {
	op, call := strings.CutPrefix(path, "/automation/")
	if w.input = ""; method != "GET" {
		if m := inputIn.FindStringSubmatch(line); m != nil {
			w.input = m[1]
		}
	}
	if m := saved.FindStringSubmatch(line); m != nil {
		for _, s := range stepOp.FindAllStringSubmatch(line, -1) {
			w.chains[m[1]] = append(w.chains[m[1]], s[1])
		}
	}
	switch w.looks = method == "GET" || call && looking.MatchString(op); {
	case w.looks && call: // is about itself, too
		w.names = append(slices.Clone(w.names), op)
	case w.looks:
	case call:
		w.names = append([]string{op}, w.chains[op]...)
		if m := runIn.FindStringSubmatch(line); m != nil {
			w.names = append(w.names, w.chains[m[1]]...)
		}
	default:
		w.names = nil
	}
}

// isOutcome reports whether a line asserts more than that a request went well, or badly.
func isOutcome(line string) bool {
	if strings.HasPrefix(line, `.entity-type "exception"`) {
		return false
	}
	return line != "" && strings.ContainsAny(line[:1], ".~<") || strings.HasPrefix(line, "==")
}
