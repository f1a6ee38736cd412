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
// "x/..." stands for x and all below it. Everyone may import storage/fault, storage/limit and storage/lazy.
var imports = map[string][]string{
	"storage/fault":                  {},
	"storage/lazy":                   {},
	"storage/limit":                  {},
	"storage/kv":                     {"storage/kv/tree", "storage/work"},
	"storage/kv/tree":                {},
	"storage/kv/*":                   {"storage/kv", "storage/kv/tree"},
	"storage/badger":                 {"storage/kv", "storage/badger/values", "storage/disk"},
	"storage/badger/values":          {"storage/disk"},
	"storage/memory":                 {"storage/kv", "storage/kv/tree"},
	"storage/postgres":               {"storage/kv"},
	"storage/postgres/pgtest":        {}, // a server for tests
	"storage/postgres/pgtest/run":    {"storage/postgres/pgtest"},
	"storage/blob":                   {"storage/disk"},
	"storage/blob/bucket":            {}, // fits blob.Bucket without knowing it
	"storage/disk":                   {},
	"storage/disk/disktest":          {"storage/disk"}, // faults for tests
	"storage/declare":                {},
	"storage/jsontext":               {"storage/work"},
	"storage/schema":                 {"storage/blob", "storage/declare", "storage/jsontext"},
	"storage/query":                  {"storage/blob", "storage/schema"},
	"storage/text":                   {"storage/text/rfc822"},
	"storage/text/rfc822":            {},
	"storage/directory":              {"storage/declare", "storage/schema"},
	"storage":                        {"storage/kv", "storage/blob", "storage/jsontext", "storage/limit", "storage/schema", "storage/text", "storage/zone", "storage/internal/..."},
	"storage/zone":                   {},
	"storage/internal/*":             {"storage/internal/row"},
	"storage/internal/layout":        {"storage/kv", "storage/schema"},
	"storage/internal/prefetch":      {"storage/kv"},
	"storage/outbox":                 {"storage", "storage/kv", "storage/trace", "storage/internal/row"},
	"storage/trace":                  {},
	"storage/cluster":                {"storage", "storage/internal/row"},
	"storage/oauth":                  {"storage", "storage/directory/record", "storage/internal/..."},
	"storage/credential":             {"storage", "storage/people", "storage/internal/..."},
	"storage/history":                {"storage", "storage/schema", "storage/internal/row"},
	"storage/upload":                 {"storage", "storage/hold", "storage/blob", "storage/disk", "storage/internal/row"},
	"storage/uisession":              {"storage", "storage/hold", "storage/internal/row"},
	"storage/growth":                 {},
	"storage/work":                   {},
	"storage/archive":                {"storage", "storage/blob", "storage/schema", "storage/internal/row"},
	"storage/grant":                  {"storage", "storage/outbox", "storage/internal/row"},
	"storage/hold":                   {"storage", "storage/blob", "storage/internal/..."},
	"storage/importer":               {"storage", "storage/blob", "storage/search"},
	"storage/maintenance":            {"storage", "storage/blob", "storage/kv", "storage/internal/..."},
	"storage/owner":                  {"storage", "storage/grant", "storage/history", "storage/directory/record", "storage/outbox", "storage/oauth", "storage/people", "storage/credential", "storage/relation", "storage/retention", "storage/run", "storage/subscription", "storage/uisession", "storage/vault", "storage/webhook"},
	"storage/people":                 {"storage", "storage/kv", "storage/internal/..."},
	"storage/retention":              {"storage", "storage/internal/..."},
	"storage/relation":               {"storage", "storage/kv", "storage/internal/..."},
	"storage/run":                    {"storage", "storage/blob", "storage/cluster", "storage/hold", "storage/kv", "storage/internal/..."},
	"storage/typecheck":              {"storage", "storage/kv", "storage/schema", "storage/internal/..."},
	"storage/search":                 {"storage", "storage/blob", "storage/kv", "storage/query", "storage/schema", "storage/text", "storage/internal/..."},
	"storage/signin":                 {"storage", "storage/credential", "storage/oauth"},
	"storage/subscription":           {"storage", "storage/internal/..."},
	"storage/vault":                  {"storage", "storage/internal/..."},
	"storage/keyring":                {"storage", "storage/internal/..."},
	"storage/webhook":                {"storage", "storage/keyring", "storage/outbox", "storage/internal/..."},
	"engine/event":                   {},
	"engine/expr":                    {"engine/jsonpath"},
	"engine":                         {"storage", "storage/cluster", "storage/hold", "storage/jsontext", "storage/maintenance", "storage/people", "storage/search", "storage/directory/record", "storage/history", "storage/outbox", "engine/pdf", "engine/program", "storage/blob", "storage/query", "storage/schema", "storage/trace", "engine/expr", "engine/template", "engine/quoted", "engine/slots", "storage/work"},
	"engine/entity":                  {"engine", "engine/openapi", "engine/quoted", "storage", "storage/people", "storage/search", "storage/subscription", "storage/blob", "engine/convert", "storage/directory/record", "storage/schema", "engine/workflow"},
	"engine/find":                    {"engine", "storage/text"},
	"engine/lines":                   {"storage/jsontext"},
	"engine/library":                 {"engine", "engine/event", "storage", "storage/declare", "storage/schema"},
	"engine/declaration":             {"engine", "engine/library", "storage", "storage/declare", "storage/directory", "storage/directory/record", "storage/internal/...", "storage/schema", "storage/typecheck"},
	"engine/listener":                {"engine", "engine/library", "storage", "storage/outbox", "storage/schema"},
	"engine/schedule":                {"engine", "engine/library", "storage", "storage/outbox", "storage/schema"},
	"engine/hook":                    {"engine", "engine/library", "storage", "storage/hold", "storage/keyring", "storage/outbox", "storage/schema"},
	"engine/waiting":                 {"engine", "engine/openapi", "storage", "storage/hold", "storage/outbox"},
	"engine/mailbox":                 {},
	"engine/mail":                    {"storage", "engine/template", "storage/hold", "storage/people", "storage/subscription", "storage/declare", "storage/outbox", "storage/schema"},
	"engine/markdown":                {},
	"engine/metadata":                {"storage/blob", "storage/schema", "storage/text", "engine/pdf", "engine/program"},
	"engine/openapi":                 {},
	"engine/jsonpath":                {},
	"engine/sheet":                   {},
	"engine/spreadsheet":             {"engine/worker"},
	"engine/quoted":                  {"storage/schema"},
	"engine/slots":                   {},
	"engine/template":                {"engine/expr", "storage/declare"},
	"engine/egress":                  {"storage/trace"},
	"engine/patch":                   {"storage/declare"},
	"engine/pdf":                     {"storage/blob", "engine/worker"},
	"engine/convert":                 {"storage/blob", "storage/text", "storage/work", "engine/markdown", "engine/pdf", "engine/program"},
	"engine/program":                 {"storage/blob", "storage/work", "engine/worker"},
	"engine/program/programtest":     {"engine/program", "engine/worker"}, // for tests
	"engine/worker":                  {},
	"engine/workflow":                {"storage", "storage/people", "storage/search", "storage/declare", "storage/directory", "storage/schema"},
	"engine/delivery":                {"storage", "storage/keyring", "storage/outbox", "storage/webhook"},
	"engine/scenario":                {"engine", "engine/entity", "storage", "storage/..."},
	"ops":                            {"ops/...", "engine", "engine/declaration", "engine/library", "engine/mail", "engine/workflow", "storage", "storage/declare", "storage/directory", "storage/schema", "engine/template"},
	"storage/storagetest":            {"..."}, // a repository for tests
	"ops/opstest":                    {"..."}, // a repository for tests
	"ops/*":                          {"engine", "engine/openapi", "storage/archive", "storage/hold", "storage/importer", "storage/maintenance", "storage/people", "storage/relation", "storage/retention", "storage/search", "storage/subscription", "engine/expr", "engine/entity", "engine/mail", "engine/jsonpath", "engine/lines", "engine/sheet", "engine/spreadsheet", "engine/template", "storage", "storage/blob", "engine/convert", "storage/cluster", "storage/credential", "storage/declare", "storage/directory", "ops/drive", "engine/egress", "engine/mailbox", "engine/metadata", "storage/directory/record", "storage/oauth", "storage/outbox", "engine/pdf", "engine/program", "storage/query", "storage/schema", "storage/uisession", "storage/text", "storage/text/rfc822", "storage/upload", "storage/vault", "storage/webhook", "storage/work", "engine/workflow", "storage/zone"},
	"decks":                          {"engine", "engine/openapi", "storage", "storage/people", "storage/search", "storage/blob", "decks/..."},
	"decks/asset":                    {"engine/egress", "storage", "storage/blob", "storage/outbox", "decks/deck", "decks/file", "decks/html", "decks/style"},
	"decks/convert":                  {"decks/field", "engine/markdown", "storage/work"},
	"decks/deck":                     {"engine", "engine/quoted", "storage", "storage/people", "storage/search", "decks/field", "decks/file", "decks/html", "decks/render", "decks/style"},
	"decks/decktest":                 {}, // attacks and large decks for tests
	"decks/export":                   {"engine", "storage/hold", "storage", "storage/people", "storage/credential", "storage/outbox", "decks/deck", "decks/file", "decks/format", "decks/render"},
	"decks/field":                    {"decks/theme"}, // a table without operations: for decks, models and pages in the same way
	"decks/file":                     {"storage", "storage/hold"},
	"decks/format":                   {}, // as decks/field
	"decks/html":                     {"storage/work"},
	"decks/listing":                  {"engine", "storage", "storage/people", "storage/search", "decks/deck", "decks/field"},
	"decks/render":                   {"decks/html", "decks/style", "decks/theme", "engine/markdown", "storage/blob", "engine/convert", "engine/pdf"},
	"decks/route":                    {"decks/field"}, // as decks/field
	"decks/share":                    {"engine", "storage", "storage/people", "storage/credential", "engine/mail", "decks/deck", "decks/field"},
	"decks/slide":                    {"engine", "storage", "decks/deck", "decks/html"},
	"decks/style":                    {},
	"decks/team":                     {"engine", "storage", "storage/people", "storage/search", "decks/deck", "decks/field", "decks/listing"},
	"decks/theme":                    {}, // files for browsers, no operations: for decks and pages in the same way
	"chains":                         {"engine", "engine/find", "engine/library", "engine/openapi", "engine/patch", "storage/schema"},
	"scripts/charclass":              {},
	"scripts/locale":                 {},
	"scripts/web":                    {},
	"scripts":                        {"scripts/charclass", "scripts/locale", "scripts/web", "engine", "engine/openapi", "storage/jsontext", "storage/people", "engine/entity", "engine/expr", "engine/library", "engine/slots", "engine/worker"},
	"rest":                           {"engine", "storage/jsontext", "engine/entity", "engine/lines", "rest/web", "storage", "storage/cluster", "storage/credential", "storage/run", "storage/signin"},
	"rest/automation":                {"engine", "engine/hook", "rest"},
	"rest/deck":                      {"decks/route", "engine", "engine/entity", "rest"},
	"rest/document":                  {"engine", "engine/lines", "rest", "storage/upload"},
	"rest/frontend":                  {},
	"rest/page":                      {"decks/field", "engine", "rest", "rest/web", "rest/web/docs", "storage/cluster", "storage/credential"},
	"rest/people":                    {"engine", "rest", "rest/web", "storage/credential", "storage/oauth"},
	"rest/server":                    {"engine", "engine/entity", "engine/lines", "engine/openapi", "rest", "rest/..."},
	"rest/mcp":                       {"engine", "engine/entity", "engine/find", "engine/openapi", "decks/field", "storage/jsontext"},
	"rest/web":                       {"decks/field", "decks/format", "decks/theme", "rest/web/docs"},
	"rest/web/docs":                  {"storage/text"},
	"rest/resttest":                  {"..."}, // a server for tests
	"cmd/catena":                     {"..."},
	"cmd/catena/host":                {},
	"cmd/catena/startup":             {},
	"cmd/catena/figures":             {"ops/service"},
	"cmd/catena/telemetry":           {"engine", "storage/trace"},
	"cmd/catena/telemetry/otlptest":  {}, // a collector for tests
	"cmd/questions":                  {}, // tests only
	"cmd/simulation":                 {}, // tests only
	"cmd/survey":                     {},
	"storage/blob/blobtest":          {}, // names for tests
	"storage/disk/mounttest":         {}, // a file system for tests
	"storage/blob/bucket/buckettest": {}, // an object store for tests
	"storage/directory/record":       {"storage", "storage/directory", "storage/internal/...", "storage/kv", "storage/query", "storage/schema"},
	"engine/mail/mailtest":           {}, // a mail server for tests
}

// programs are the packages that start other programs, or look for one: the workers, and the browser, whose
// arguments are the same whatever is printed. What users write is never an argument.
var programs = map[string]bool{"cmd/catena": true, "decks/render": true, "engine/worker": true, "storage/postgres/pgtest": true, "storage/postgres/pgtest/run": true, "storage/disk/mounttest": true}

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
		if ours && to != "storage/fault" && to != "storage/lazy" && to != "storage/limit" && !mayImport(allowed, to) {
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
