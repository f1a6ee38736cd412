package engine

import (
	"slices"
	"strings"
)

// Registry is the list of operations as clients read it.
type Registry struct {
	Paths      map[string]string `json:"paths"`
	Codecs     []string          `json:"codecs"`
	Operations []OpDoc           `json:"operations"`
	Chains     []OpDoc           `json:"chains"`
}

// OpDoc is the documentation of one operation.
type OpDoc struct {
	ID          string     `json:"id"`
	Aliases     []string   `json:"aliases,omitempty"`
	Label       string     `json:"label"`
	Category    string     `json:"category"`
	Requires    *string    `json:"requires"`
	Description string     `json:"description"`
	Since       string     `json:"since,omitempty"`
	URL         string     `json:"url"`
	Signature   []string   `json:"signature"`
	Params      []ParamDoc `json:"params"`

	Effect     Effect      `json:"-"`
	Deprecated Deprecation `json:"-"` // clients print none
	AliasOf    string      `json:"-"` // the operation's name, for an entry that is an alias
}

// ParamDoc is the documentation of one parameter.
type ParamDoc struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Widget      *string  `json:"widget"`
	Order       int      `json:"order"`
	Values      []string `json:"values"`
	Secret      bool     `json:"secret,omitempty"`

	Default any  `json:"-"`
	Enum    bool `json:"-"`
}

// chainCategory marks operations made of steps.
const chainCategory = "Chain"

// Describe returns the documentation of what is visible, sorted by label. An alias is an
// entry of its own as well.
func (s *Set) Describe(visible func(name string) bool) Registry {
	r := Registry{Paths: map[string]string{"login": "login"}, Codecs: []string{}, Operations: []OpDoc{}, Chains: []OpDoc{}}
	for _, name := range s.names {
		if visible != nil && !visible(name) {
			continue
		}
		doc := s.ops[name].doc()
		if doc.Category == chainCategory {
			chain := doc
			chain.URL = "Chain." + doc.ID
			r.Chains = append(r.Chains, chain)
		}
		r.Operations = append(r.Operations, doc)
		for _, alias := range doc.Aliases {
			if s.ops[alias] != s.ops[name] {
				continue
			}
			other := doc
			other.ID, other.URL, other.AliasOf = alias, alias, doc.ID
			r.Operations = append(r.Operations, other)
		}
	}
	slices.SortStableFunc(r.Operations, func(a, b OpDoc) int {
		if n := strings.Compare(a.Label, b.Label); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return r
}

// List is the registry for those who choose an operation and ask for its documentation then: each has the first sentence of its
// documentation and no parameters, aliases have no entries of their own, and chains are among the operations.
func (r Registry) List() Registry {
	list := Registry{Paths: r.Paths, Codecs: r.Codecs, Operations: make([]OpDoc, 0, len(r.Operations)), Chains: []OpDoc{}}
	for _, doc := range r.Operations {
		if doc.AliasOf != "" {
			continue
		}
		doc.Description, doc.Params = Sentence(doc.Description), []ParamDoc{}
		list.Operations = append(list.Operations, doc)
	}
	return list
}

// NameList is the registry for editors that complete names and ask for the documentation of one when it is shown.
type NameList struct {
	Paths      map[string]string `json:"paths"`
	Codecs     []string          `json:"codecs"`
	Operations []NamedOp         `json:"operations"`
	Chains     []NamedOp         `json:"chains"`
}

// NamedOp is what an operation is called, with the types that it takes and gives in turn.
type NamedOp struct {
	ID        string   `json:"id"`
	Aliases   []string `json:"aliases,omitempty"`
	Signature []string `json:"signature"`
}

// Names is the list of names; chains are among the operations.
func (r Registry) Names() NameList {
	list := NameList{Paths: r.Paths, Codecs: r.Codecs, Operations: make([]NamedOp, 0, len(r.Operations)), Chains: []NamedOp{}}
	for _, doc := range r.Operations {
		if doc.AliasOf == "" {
			list.Operations = append(list.Operations, NamedOp{doc.ID, doc.Aliases, doc.Signature})
		}
	}
	return list
}

// Sentence is the first one of a text.
func Sentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if !more {
		return text
	}
	return first + "."
}

// DescribeOp returns the documentation of one operation, by name or alias.
func (s *Set) DescribeOp(name string) (OpDoc, bool) {
	d, ok := s.Op(name)
	if !ok {
		return OpDoc{}, false
	}
	return d.doc(), true
}

// toldWords are the type words of parameters that clients know; some fail on any other.
var toldWords = []string{
	"blob", "boolean", "date", "document", "documents", "int", "integer", "list", "long", "map", "object", "properties",
	"resource", "serializable", "string", "stringlist", "validationmethod",
}

// told is the word for a parameter's type in documentation: object where clients know none of its own.
func told(word string) string {
	if slices.Contains(toldWords, word) {
		return word
	}
	return words[kAny]
}

func (d *Def) doc() OpDoc {
	doc := OpDoc{
		ID: d.Name, Aliases: d.Aliases, Label: d.Label, Category: d.Category, Description: d.Doc, Since: d.Since,
		URL: d.Name, Signature: d.Signature(), Params: []ParamDoc{}, Effect: d.Effect, Deprecated: d.Deprecated,
	}
	if d.Requires != "" {
		doc.Requires = &d.Requires
	}
	for _, p := range d.Params() {
		param := ParamDoc{
			Name: p.Name, Description: p.Doc, Type: told(p.Type), Required: p.Required, Order: p.Order,
			Values: p.Values, Default: p.Default, Enum: p.Enum, Secret: p.Secret,
		}
		if p.Widget != "" {
			param.Widget = &p.Widget
		}
		if param.Values == nil {
			param.Values = []string{}
		}
		doc.Params = append(doc.Params, param)
	}
	return doc
}
