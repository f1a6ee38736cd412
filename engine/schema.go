package engine

import (
	"encoding/json"
	"reflect"
	"strconv"
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
