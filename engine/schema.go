package engine

import (
	"encoding/json"
	"time"

	"catena/storage/fault"
)

// Schema is a JSON Schema (2020-12), as far as parameters need one.
type Schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Type        any                `json:"type,omitempty"` // a name or a list of them
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Format      string             `json:"format,omitempty"`
	Default     any                `json:"default,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Additional  any                `json:"additionalProperties,omitempty"`
}

// Schema returns the JSON Schema of an operation's parameters. It is made of the same table
// that decodes them.
func (s *Set) Schema(name string) (json.RawMessage, error) {
	d, ok := s.Op(name)
	if !ok {
		return nil, fault.NotFound.Errorf("operation %s", name).WithCode("unknown_operation")
	}
	return json.Marshal(d.Schema())
}

// Schema returns the JSON Schema of the operation's parameters.
func (d *Def) Schema() *Schema {
	out := &Schema{
		Dialect: "https://json-schema.org/draft/2020-12/schema", Type: "object", Title: d.Name, Description: d.Doc,
		Properties: map[string]*Schema{},
	}
	for _, p := range d.Params() {
		one := schemaOf(p.Type)
		one.Description, one.Minimum, one.Maximum = p.Doc, p.Min, p.Max
		if p.Enum {
			one.Enum = p.Values
		}
		one.Default = schemaDefault(p.Default)
		out.Properties[p.Name] = one
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	return out
}

func schemaDefault(v any) any {
	if t, ok := v.(time.Time); ok && t.IsZero() {
		return nil
	}
	return v
}

// schemaOf is the schema of what a parameter of a type accepts.
func schemaOf(word string) *Schema {
	text := &Schema{Type: "string"}
	switch kindOfWord(word) {
	case kString:
		return text
	case kBool:
		return &Schema{Type: "boolean"}
	case kInt, kLong:
		return &Schema{Type: "integer"}
	case kFloat:
		return &Schema{Type: "number"}
	case kDate:
		return &Schema{Type: "string", Format: "date-time"}
	case kDoc, kRef:
		return &Schema{Type: []string{"string", "object"}}
	case kStrings, kDocs, kRefs:
		return &Schema{Type: []string{"array", "string"}, Items: text}
	case kList:
		return &Schema{Type: "array"}
	case kMap, kProps:
		return &Schema{Type: "object"}
	case kBlob, kBlobs:
		return &Schema{Type: "object"}
	}
	return &Schema{}
}
