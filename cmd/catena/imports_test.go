package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// imports lists, for every package of catena, which packages of catena it may import;
// "x/..." stands for x and all below it. Everyone may import storage/fault.
var imports = map[string][]string{
	"storage/fault":         {},
	"storage/kv":            {"storage/kv/tree"},
	"storage/kv/tree":       {},
	"storage/kv/*":          {"storage/kv", "storage/kv/tree"},
	"storage/badger":        {"storage/kv", "storage/badger/values", "storage/disk"},
	"storage/badger/values": {"storage/disk"},
	"storage/memory":        {"storage/kv", "storage/kv/tree"},
	"storage/blob":          {"storage/bucket", "storage/disk"},
	"storage/bucket":        {},
	"storage/convert":       {"storage/blob"},
	"storage/disk":          {},
	"storage/egress":        {"storage/trace"},
	"storage/declare":       {},
	"storage/schema":        {"storage/blob", "storage/declare"},
	"storage/query":         {"storage/blob", "storage/schema"},
	"storage/pdf":           {"storage/blob", "storage/worker"},
	"storage/text":          {},
	"storage/directory":     {"storage/declare", "storage/schema"},
	"storage":               {"storage/kv", "storage/blob", "storage/schema", "storage/query", "storage/text", "storage/directory", "storage/pdf", "storage/outbox", "storage/trace", "storage/internal/..."},
	"storage/internal/*":    {"storage/internal/row"},
	"storage/outbox":        {"storage/kv", "storage/trace"},
	"storage/trace":         {},
	"storage/entry":         {"storage", "storage/directory", "storage/internal/...", "storage/kv", "storage/query", "storage/schema"},
	"storage/message":       {"storage", "storage/outbox"},
	"storage/oauth":         {"storage", "storage/entry", "storage/internal/..."},
	"storage/credential":    {"storage", "storage/internal/...", "storage/message", "storage/oauth"},
	"storage/failure":       {"storage", "storage/internal/row"},
	"storage/upload":        {"storage", "storage/blob", "storage/internal/row"},
	"storage/uisession":     {"storage", "storage/internal/row"},
	"storage/worker":        {},
	"storage/webhook":       {"storage", "storage/outbox", "storage/trace", "storage/internal/..."},
	"storage/drive":         {"storage"},
	"storage/workflow":      {"storage", "storage/declare", "storage/directory", "storage/schema"},
	"engine/expr":           {},
	"engine":                {"storage", "storage/credential", "storage/entry", "storage/failure", "storage/oauth", "storage/outbox", "storage/upload", "storage/blob", "storage/schema", "storage/trace", "engine/expr", "engine/template"},
	"engine/entity":         {"engine", "storage", "storage/blob", "storage/convert", "storage/entry", "storage/schema", "storage/workflow"},
	"engine/find":           {"engine", "storage/text"},
	"engine/library":        {"engine", "storage/declare"},
	"engine/listener":       {"engine", "engine/expr", "engine/library", "storage", "storage/outbox"},
	"engine/mail":           {"storage", "storage/declare", "storage/message", "storage/outbox"},
	"engine/openapi":        {},
	"engine/sheet":          {},
	"engine/template":       {"engine/expr", "storage/declare"},
	"engine/webhook":        {"storage", "storage/outbox", "storage/webhook"},
	"engine/scenario":       {"engine", "engine/entity", "storage", "storage/..."},
	"ops":                   {"ops/...", "engine"},
	"storage/storagetest":   {"..."}, // a repository for tests
	"ops/opstest":           {"..."}, // a repository for tests
	"ops/*":                 {"engine", "engine/expr", "engine/entity", "engine/mail", "engine/sheet", "engine/template", "storage", "storage/blob", "storage/convert", "storage/credential", "storage/declare", "storage/directory", "storage/drive", "storage/egress", "storage/entry", "storage/message", "storage/oauth", "storage/outbox", "storage/pdf", "storage/query", "storage/schema", "storage/uisession", "storage/upload", "storage/webhook", "storage/workflow"},
	"decks":                 {"engine", "engine/openapi", "storage", "storage/blob", "decks/convert", "decks/export", "decks/file", "decks/html", "decks/render", "decks/slide", "decks/style", "storage/credential", "storage/egress", "storage/message"},
	"decks/convert":         {"storage/fault"},
	"decks/decktest":        {}, // attacks and large decks for tests
	"decks/export":          {"storage", "storage/credential", "storage/outbox", "decks/file", "decks/render", "decks/style"},
	"decks/file":            {"storage"},
	"decks/html":            {},
	"decks/render":          {"decks/theme", "storage/blob", "storage/convert", "storage/pdf"},
	"decks/slide":           {"storage/fault"},
	"decks/style":           {},
	"decks/theme":           {}, // files for browsers, no operations: for decks and pages alike
	"chains":                {"engine", "engine/expr", "engine/library"},
	"scripts":               {"engine", "engine/entity", "engine/expr", "engine/library", "storage/worker"},
	"rest":                  {"engine", "engine/entity", "engine/openapi", "rest/..."},
	"rest/mcp":              {"engine", "engine/entity", "engine/find"},
	"rest/web":              {"decks/theme"},
	"rest/resttest":         {"..."}, // a server for tests
	"cmd/catena":            {"..."},

	"storage/blob/blobtest":     {}, // names for tests
	"storage/bucket/buckettest": {}, // an object store for tests
	"engine/mail/mailtest":      {}, // a mail server for tests
}

// programs are the packages that start other programs, or look for one: the workers, and the browser, whose
// arguments are the same whatever is printed. What users write is never an argument.
var programs = map[string]bool{"cmd/catena": true, "decks/render": true, "storage/worker": true}

// TestImports holds the picture of the architecture: imports point down.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err == nil {
			checkImports(t, file, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, file, rel string) {
	t.Helper()
	from := path.Dir(rel)
	allowed, ok := imports[from]
	if !ok {
		allowed, ok = imports[path.Dir(from)+"/*"]
	}
	if !ok {
		t.Errorf("%s: package %s is not in the picture", rel, from)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, s := range f.Imports {
		name, _ := strconv.Unquote(s.Path.Value)
		to, ours := strings.CutPrefix(name, "catena/")
		if name == "os/exec" && !programs[from] {
			t.Errorf("%s: %s may not start programs", rel, from)
		}
		if ours && to != "storage/fault" && !mayImport(allowed, to) {
			t.Errorf("%s: %s may not import %s", rel, from, to)
		}
	}
}

func mayImport(allowed []string, to string) bool {
	for _, a := range allowed {
		below, wide := strings.CutSuffix(a, "...")
		if a == to || wide && (strings.HasPrefix(to, below) || to == strings.TrimSuffix(below, "/")) {
			return true
		}
	}
	return false
}
