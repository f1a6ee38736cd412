package ops_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/openapi"
	"catena/engine/scenario"
)

// results are compiled schemas by their text: servers of many scenarios have the same operations.
var results sync.Map

// mistyped returns an error if what an operation has returned is not what it declares: a value of another form, a member that the
// schema does not have, or a file.
func mistyped(set *engine.Set, c scenario.Command, out scenario.Outcome) error {
	d, ok := set.Op(c.Op)
	if !ok || out.Failure != nil {
		return nil
	}
	f := entity.FormOf(d, false)
	switch {
	case d.Version != 0:
		return nil // what a chain or a script declares is checked when it runs
	case f.Any:
		return fmt.Errorf("%s: the result has no type", d.Name)
	case out.Files != nil && !f.File:
		return fmt.Errorf("%s: returns a file, and declares %v", d.Name, f.Schemas)
	case out.Wire == nil:
		return nil
	case len(f.Schemas) == 0:
		return fmt.Errorf("%s: returns JSON, and declares none", d.Name)
	}
	s, err := compiledForm(f)
	if err == nil {
		err = s.Validate(out.Wire)
	}
	if err != nil {
		return fmt.Errorf("%s: the result is not what the operation declares: %w", d.Name, err)
	}
	return nil
}

func compiledForm(f entity.Form) (*jsonschema.Schema, error) {
	key, err := json.Marshal([]any{f.Schemas, f.Definitions})
	if err != nil {
		return nil, err
	}
	if s, ok := results.Load(string(key)); ok {
		return s.(*jsonschema.Schema), nil
	}
	schemas := openapi.Forms()
	maps.Copy(schemas, f.Definitions)
	text, err := json.Marshal(map[string]any{"anyOf": f.Schemas, "components": map[string]any{"schemas": schemas}})
	if err != nil {
		return nil, err
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("result.json", closed(whole)); err != nil {
		return nil, err
	}
	s, err := compiler.Compile("result.json")
	if err == nil {
		results.Store(string(key), s)
	}
	return s, err
}

// closed is a schema whose objects have the members that it lists and no others.
func closed(schema any) any {
	switch s := schema.(type) {
	case map[string]any:
		for name, item := range s {
			s[name] = closed(item)
		}
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
	case []any:
		for i := range s {
			s[i] = closed(s[i])
		}
	}
	return schema
}
