package engine

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"catena/storage/fault"
)

// Schema returns the JSON Schema (2020-12) of an operation's parameters.
func (s *Set) Schema(name string) (json.RawMessage, error) {
	d, ok := s.Op(name)
	if !ok {
		return nil, fault.NotFound.Errorf("operation %s", name).WithCode(fault.CodeUnknownOperation)
	}
	return json.Marshal(d.Schema())
}

// reflector turns parameter structs into schemas. What a type accepts is the engine's to
// say, since it also decodes it.
var reflector = jsonschema.Reflector{
	Anonymous: true, DoNotReference: true, AllowAdditionalProperties: true,
	Mapper: func(t reflect.Type) *jsonschema.Schema {
		if k := kindOfType(t); k != kOther {
			return schemaOf(k)
		}
		return nil
	},
}

// Schema returns the JSON Schema of the operation's parameters: the reflected struct, or the
// declared parameters of a chain or script, with documentation, defaults and choices folded
// in from the table that decodes them.
func (d *Def) Schema() *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	if d.table.typ != nil {
		out = reflector.ReflectFromType(d.table.typ)
	}
	out.Version, out.Title, out.Description = jsonschema.Version, d.Name, d.Doc
	out.Required = nil
	for _, p := range d.Params() {
		one, reflected := out.Properties.Get(p.Name)
		if k := kindOfWord(p.Type); !reflected || k == kAny {
			one = schemaOf(k)
			out.Properties.Set(p.Name, one)
		}
		p.describe(one)
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	return out
}

// resultReflector turns the types of results into schemas, as encoding/json writes them. Structs are definitions with names of
// their own, such as ScheduleStatus.
var resultReflector = jsonschema.Reflector{
	Anonymous: true, AllowAdditionalProperties: true,
	Namer: resultName,
	Mapper: func(t reflect.Type) *jsonschema.Schema {
		switch {
		case t == reflect.TypeFor[jsonschema.Schema]():
			return &jsonschema.Schema{Type: "object", AdditionalProperties: jsonschema.TrueSchema}
		case t == reflect.TypeFor[netip.Addr]():
			return &jsonschema.Schema{Type: "string"}
		}
		return nil
	},
}

// resultName is the name of the definition of a type; lists and maps have none.
func resultName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	capital := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return capital(path.Base(t.PkgPath())) + capital(t.Name())
}

// componentsPath is openapi.RefPath, which this package does not import: operations know nothing of descriptions of addresses.
const componentsPath = "#/components/schemas/"

// Schema returns the JSON Schema of the value that the function returns, and the definitions that it refers to by their names
// below "#/components/schemas/". It is what the operation declares (Result), or follows from a Go type that encoding/json
// writes; nil: the word says what it is, or there may be anything.
func (o Outcome) Schema(d *Def) (schema, definitions map[string]any) {
	switch o.kind {
	case kAny, kList, kMap, kRaw:
		if o.each && d.Result != nil {
			return map[string]any{"type": "array", "items": d.Result}, nil
		}
		return d.Result, nil
	case kOther:
		return reflected(o.Type)
	}
	return nil, nil
}

// reflected is the schema of a Go type.
func reflected(t reflect.Type) (schema, definitions map[string]any) {
	raw, err := json.Marshal(resultReflector.ReflectFromType(t))
	if err == nil {
		err = json.Unmarshal(bytes.ReplaceAll(raw, []byte(`"#/$defs/`), []byte(`"`+componentsPath)), &schema)
	}
	if err != nil {
		panic(err) // a bug that every description meets
	}
	definitions, _ = schema["$defs"].(map[string]any)
	delete(schema, "$defs")
	delete(schema, "$schema")
	opened(schema)
	opened(definitions)
	return schema, definitions
}

// opened says of the maps in a schema that they have any members: generators of clients take an object that says no more for an
// empty one.
func opened(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if s["type"] == "object" && s["properties"] == nil && s["additionalProperties"] == nil {
			s["additionalProperties"] = true
		}
		for _, item := range s {
			opened(item)
		}
	case []any:
		for _, item := range s {
			opened(item)
		}
	}
}

// describe adds what is known of a parameter to its schema.
func (p Param) describe(s *jsonschema.Schema) {
	s.Description = p.Doc
	if p.Min != nil {
		s.Minimum = json.Number(strconv.FormatFloat(*p.Min, 'g', -1, 64))
	}
	if p.Max != nil {
		s.Maximum = json.Number(strconv.FormatFloat(*p.Max, 'g', -1, 64))
	}
	if p.Secret {
		s.WriteOnly = true
		if s.Type == "string" {
			s.Format = "password"
		}
	}
	if p.Enum {
		s.Enum = List(p.Values)
	}
	if t, ok := p.Default.(time.Time); !ok || !t.IsZero() {
		s.Default = p.Default
	}
}

// schemaOf is the schema of what a parameter of a kind accepts.
func schemaOf(k kind) *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	switch k {
	case kString:
		return text
	case kBool:
		return &jsonschema.Schema{Type: "boolean"}
	case kInt, kLong:
		return &jsonschema.Schema{Type: "integer"}
	case kFloat:
		return &jsonschema.Schema{Type: "number"}
	case kDate:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case kDoc, kRef:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, {Type: "object"}}}
	case kStrings, kDocs, kRefs:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "array", Items: text}, text}}
	case kProps:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, text}}
	case kList:
		return &jsonschema.Schema{Type: "array"}
	case kMap, kBlob, kBlobs:
		return &jsonschema.Schema{Type: "object"}
	}
	return &jsonschema.Schema{}
}
