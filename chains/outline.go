package chains

import (
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
	"catena/engine/patch"
)

// Outline is a chain as editors show it: its steps as a tree, with the place of everything in the text and what is wrong
// there. It is made of any text that is YAML, a chain or not.
type Outline struct {
	Members    []Member             `json:"members"` // of the chain besides its steps
	Path       string               `json:"path"`    // of the list of steps
	Steps      []*Card              `json:"steps"`
	Problems   []library.Problem    `json:"problems"` // of no step
	Operations map[string]Operation `json:"operations"`
	Offered    []string             `json:"offered"` // what every expression may read besides the variables of its step
}

// Card is a step.
type Card struct {
	Path     string            `json:"path"` // JSON Pointer into the text
	Kind     string            `json:"kind"` // "operation", or a kind of block
	Op       string            `json:"op,omitempty"`
	Line     int               `json:"line"`
	Column   int               `json:"column"`
	Members  []Member          `json:"members"`
	Params   []Member          `json:"params"`
	Branches []Lane            `json:"branches"`
	Problems []library.Problem `json:"problems"`
	Vars     []string          `json:"variables"` // that its expressions may read

	end *yaml.Node // the last node within it
}

// Member is a value with its place.
type Member struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Value  any    `json:"value"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Lane is a list of steps within a step.
type Lane struct {
	Name  string  `json:"name"`
	Path  string  `json:"path"`
	Named bool    `json:"named"` // by the author, who can rename and remove it
	Steps []*Card `json:"steps"`
}

// Operation is what a form of a step is made of.
type Operation struct {
	Name        string             `json:"name"`
	Label       string             `json:"label"`
	Description string             `json:"description"`
	Signature   []string           `json:"signature"`
	Effect      string             `json:"effect"`
	Chain       bool               `json:"chain,omitempty"` // it is a chain
	Schema      *jsonschema.Schema `json:"schema"`
	Names       map[string]string  `json:"names"`  // what the texts of parameters name, such as type or xpath
	Types       map[string]string  `json:"types"`  // type words of parameters
	Values      map[string]any     `json:"values"` // suggested values of parameters
}

// outline reads a text.
func (ch *Chains) outline(c *engine.Ctx, source string) (*Outline, error) {
	problems, err := ch.kind.Problems(c, "", source)
	if err != nil {
		return nil, err
	}
	o := &Outline{Members: []Member{}, Path: "/steps", Steps: []*Card{}, Problems: []library.Problem{}, Operations: map[string]Operation{}, Offered: engine.Offered()}
	chain, root, _ := read("", []byte(source))
	if root != nil {
		w := &outliner{set: c.Set(), out: o}
		o.Steps = w.steps(o.Path, member(root, "steps"), 0)
		o.Members = members("", root, []string{"steps"})
		w.scopes(chain)
		for _, p := range problems {
			if card := w.at(p); card != nil {
				card.Problems = append(card.Problems, p)
			} else {
				o.Problems = append(o.Problems, p)
			}
		}
		return o, c.Err()
	}
	o.Problems = problems
	return o, nil
}

// outliner makes an outline.
// Steps are told apart by line and column, which are those of the same YAML nodes in the chain and
// in the outline; no two steps begin at the same place.
type outliner struct {
	set *engine.Set
	out *Outline
	all []*Card // in the order of the text
}

// steps makes cards of a list of steps.
func (w *outliner) steps(path string, n *yaml.Node, depth int) []*Card {
	cards := []*Card{}
	// What is not a list has been reported by Problems; the outline shows the rest of the text.
	if n == nil || n.Kind != yaml.SequenceNode || depth > maxNesting {
		return cards
	}
	for i, v := range n.Content {
		if v.Kind == yaml.MappingNode {
			cards = append(cards, w.step(patch.Join(path, strconv.Itoa(i)), v, depth))
		}
	}
	return cards
}

func (w *outliner) step(path string, n *yaml.Node, depth int) *Card {
	card := &Card{
		Path: path, Kind: "operation", Line: n.Line, Column: n.Column, end: last(n),
		Params: []Member{}, Branches: []Lane{}, Problems: []library.Problem{}, Vars: []string{},
	}
	w.all = append(w.all, card)
	inner := []string{"params"}
	for _, form := range engine.Blocks {
		if member(n, form.Kind) != nil {
			card.Kind = form.Kind
		}
	}
	if form, ok := engine.BlockOf(card.Kind); ok {
		inner = slices.Concat(form.Lists, []string{form.Maps})
		w.branches(card, n, form, depth)
	} else if op := member(n, "op"); op != nil {
		card.Op = op.Value
		w.describe(op.Value)
	}
	if params := member(n, "params"); params != nil {
		card.Params = members(patch.Join(path, "params"), params, nil)
	}
	card.Members = members(path, n, inner)
	return card
}

// branches makes the lanes of a block: those that it can have, also where the text has none, and those with names.
func (w *outliner) branches(card *Card, n *yaml.Node, form engine.BlockForm, depth int) {
	if named := member(n, form.Maps); form.Maps != "" && named != nil && named.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(named.Content); i += 2 {
			name := named.Content[i].Value
			path := patch.Join(card.Path, form.Maps, name)
			card.Branches = append(card.Branches, Lane{name, path, true, w.steps(path, named.Content[i+1], depth+1)})
		}
	}
	for _, key := range form.Lists {
		path := patch.Join(card.Path, key)
		card.Branches = append(card.Branches, Lane{key, path, false, w.steps(path, member(n, key), depth+1)})
	}
}

// members are those of a map but for some.
func members(path string, n *yaml.Node, but []string) []Member {
	out := []Member{}
	if n.Kind != yaml.MappingNode {
		return out
	}
	var p library.Parser
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !slices.Contains(but, k.Value) {
			out = append(out, Member{k.Value, patch.Join(path, k.Value), p.Value(v), v.Line, v.Column})
		}
	}
	return out
}

// describe notes an operation that a step runs.
func (w *outliner) describe(name string) {
	d, ok := w.set.Op(name)
	if _, known := w.out.Operations[name]; known || !ok {
		return
	}
	o := Operation{
		Name: d.Name, Label: d.Label, Description: d.Doc, Signature: d.Signature(), Effect: d.Effect.String(), Chain: d.Category == "Chain",
		Schema: d.Schema(), Names: map[string]string{}, Types: map[string]string{}, Values: map[string]any{},
	}
	for _, p := range d.Params() {
		o.Types[p.Name] = p.Type
		if p.Names != "" {
			o.Names[p.Name] = p.Names
		}
		if len(p.Values) > 0 {
			o.Values[p.Name] = p.Values
		}
	}
	w.out.Operations[name] = o
}

// scopes notes what the expressions of the steps may read.
func (w *outliner) scopes(chain *Chain) {
	_, _ = w.set.Plan(chain.Steps, chain.Input, engine.PlanOptions{ // what is wrong has been found before
		Trusted: true, Params: chain.Params, Vars: chain.Variables, Name: chain.Name,
		InScope: func(s *engine.Step, vars []string) {
			for _, card := range w.all {
				if card.Line == s.Line && card.Column == s.Column {
					card.Vars = append(card.Vars, vars...)
					return
				}
			}
		},
	})
}

// at is the innermost step at the place of a problem, nil if there is none.
func (w *outliner) at(p library.Problem) (found *Card) {
	before := func(line, column, line2, column2 int) bool { return line < line2 || line == line2 && column <= column2 }
	for _, card := range w.all {
		if before(card.Line, card.Column, p.Line, p.Column) && before(p.Line, p.Column, card.end.Line, max(card.end.Column, p.Column)) {
			found = card
		}
	}
	return found
}

// last is the last node within one.
func last(n *yaml.Node) *yaml.Node {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n
}
