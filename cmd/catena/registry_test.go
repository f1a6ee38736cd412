package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/engine"
	"catena/storage/fault"
)

var update = flag.Bool("update", false, "write the registry as it is into testdata/registry.golden.json")

// fresh makes a data directory with the content of a first start.
func fresh(t *testing.T) *global {
	t.Helper()
	g := &global{data: filepath.Join(t.TempDir(), "data"), logLevel: "error", logFormat: "text"}
	if err := g.initialize(t.Context(), &bytes.Buffer{}, adminPassword, false); err != nil {
		t.Fatal(err)
	}
	return g
}

// freshApp is the server of a fresh data directory, for as long as the test runs.
func freshApp(t *testing.T) *app {
	t.Helper()
	a, err := fresh(t).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestGolden holds the operations as the outside sees them: a change of them shows in review.
func TestGolden(t *testing.T) {
	g := fresh(t)
	var got, errs bytes.Buffer
	if code := run(t.Context(), []string{"ops", "--json", "--data", g.data}, nil, &got, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	golden := filepath.Join("testdata", "registry.golden.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	a, b := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	line := 0
	for line < min(len(a), len(b)) && a[line] == b[line] {
		line++
	}
	a, b = a[line:min(line+8, len(a))], b[line:min(line+8, len(b))]
	t.Errorf("%s:%d: the registry differs; if it should, make golden\ngot:\n%s\nwant:\n%s",
		golden, line+1, strings.Join(a, "\n"), strings.Join(b, "\n"))
}

// compiled returns the JSON Schema of every operation.
func compiled(t *testing.T, set *engine.Set) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	out := map[string]*jsonschema.Schema{}
	for _, name := range set.Names() {
		raw, err := set.Schema(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.AddResource("op:"+name, doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if out[name], err = c.Compile("op:" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return out
}

// TestSchemas compiles the schemas of all operations and compares what they let pass with
// what the operations take.
func TestSchemas(t *testing.T) {
	a := freshApp(t)
	schemas := compiled(t, a.engine.Set())
	if len(schemas) < 150 {
		t.Errorf("only %d operations", len(schemas))
	}
	samples := []struct {
		op, params string
		good       bool
	}{
		{"Document.Create", `{"type":"File"}`, true},
		{"Document.Create", `{"type":"File","name":"a","properties":{"dc:title":"x"}}`, true},
		{"Document.Create", `{"type":"File","unknown":[1]}`, true},
		{"Document.Create", `{"name":"a"}`, false},
		{"Document.Create", `{"type":["File"]}`, false},
		{"Document.Create", `{"type":{"name":"File"}}`, false},
		{"Document.Create", `{"type":"File","properties":[1]}`, false},
		{"Document.AddPermission", `{"permission":"Read","users":["Administrator"],"begin":"2025-01-01T00:00:00Z"}`, true},
		{"Document.AddPermission", `{"permission":"Read","users":["Administrator"],"begin":"soon"}`, false},
		{"Document.AddPermission", `{"permission":"Read","users":["Administrator"],"begin":[]}`, false},
		{"Document.AddPermission", `{"permission":"Read","users":["Administrator"],"notify":[true]}`, false},
		{"Document.AddPermission", `{"permission":"Read","users":["Administrator"],"notify":true}`, true},
		{"Repository.Query", `{"query":"SELECT * FROM Document","pageSize":5}`, true},
		{"Repository.Query", `{"query":"SELECT * FROM Document","pageSize":1.5}`, false},
		{"Repository.Query", `{"query":"SELECT * FROM Document","pageSize":"many"}`, false},
		{"Repository.Query", `{"query":"SELECT * FROM Document","queryParams":["a","b"]}`, true},
		{"Context.SetVar", `{"name":"a","value":{"b":[1,null]}}`, true},
		{"Context.SetVar", `{"value":1}`, false},
	}
	for _, s := range samples {
		sch := schemas[s.op]
		if sch == nil {
			t.Errorf("%s: no schema", s.op)
			continue
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(s.params))
		if err != nil {
			t.Fatal(err)
		}
		if err := sch.Validate(value); (err == nil) != s.good {
			t.Errorf("%s %s: schema: %v", s.op, s.params, err)
		}
		if err := decodes(t, a, s.op, s.params); (err == nil) != s.good {
			t.Errorf("%s %s: operation: %v", s.op, s.params, err)
		}
	}
	for name, sch := range schemas {
		if bare := sch.Validate(map[string]any{}); bare == nil {
			continue
		}
		err := decodes(t, a, name, `{}`)
		var f *fault.Error
		if !errors.As(err, &f) || !slices.Contains(sch.Required, f.Field) {
			t.Errorf("%s: the schema demands %v, the operation without says %v", name, sch.Required, err)
		}
	}
}

// decodes makes a dry call on the root and returns what was wrong with the parameters.
func decodes(t *testing.T, a *app, op, params string) error {
	t.Helper()
	def, _ := a.engine.Set().Op(op)
	call := engine.Call{Op: op, As: a.repo.System(), EntryPoint: engine.Server, RawParams: json.RawMessage(params), DryRun: true}
	switch in := def.Signature()[0]; in {
	case "void":
	case "blob", "bloblist":
		call.Input = engine.NewBlob("a.txt", "text/plain", []byte("a"))
	case "businessadapter":
		call.Input = map[string]any{}
	default:
		call.Input = "/"
	}
	_, err := a.engine.Run(t.Context(), call)
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Invalid && f.Field != "" && f.Field != "input" {
		return err
	}
	return nil
}
