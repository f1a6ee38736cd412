package chains

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// Use is a place where a chain is used.
type Use struct {
	Kind string `json:"kind"` // chain, hook, listener, schedule, script, workflow
	Name string `json:"name"`
	Line int    `json:"line,omitempty"`
	Node string `json:"node,omitempty"` // of a workflow
}

// callers are the kinds of texts that call operations.
var callers = []string{"chain", "hook", "listener", "schedule", "script"}

// maxUses bounds the answer.
const maxUses = 500

type usesParams struct {
	Name string `json:"name" doc:"Name of the chain."`
}

func (p usesParams) run(ch *Chains, c *engine.Ctx) ([]Use, error) {
	if _, ok, err := ch.kind.Source(c, p.Name); err != nil || !ok && !builtin()[p.Name] {
		if err == nil {
			err = fault.NotFound.Errorf("chain %.100s", p.Name)
		}
		return nil, err
	}
	uses := []Use{}
	for _, noun := range callers {
		texts, err := library.Deployed(c, noun)
		if err != nil {
			return nil, err
		}
		for _, v := range texts {
			if err := c.Err(); err != nil {
				return nil, err
			}
			for _, line := range mentions(noun, v.Source, p.Name) {
				uses = append(uses, Use{Kind: noun, Name: v.Name, Line: line})
			}
		}
	}
	if ch.Workflows != nil {
		uses = append(uses, ch.Workflows(p.Name)...)
	}
	return uses[:min(len(uses), maxUses)], nil
}

// mentions are the lines at which a text names an operation: as a value, or in a script as a word.
// It reads the text and not the compiled form, because texts with mistakes and names in unused
// branches count too: the answer is for somebody who is about to rename or delete the chain. In a
// script a name in a comment counts as well.
func mentions(noun, source, name string) (lines []int) {
	if noun == "script" {
		n := 0
		for line := range strings.Lines(source) {
			if n++; library.Says(line, name) || library.Says(line, "Chain."+name) {
				lines = append(lines, n)
			}
		}
		return lines
	}
	var root yaml.Node
	if yaml.Unmarshal([]byte(source), &root) != nil {
		return nil
	}
	var walk func(n *yaml.Node, key string, depth int)
	walk = func(n *yaml.Node, key string, depth int) {
		if n.Kind == yaml.ScalarNode && slices.Contains([]string{"op", "chain", "run", "id", "operation", "fallback"}, key) && strings.TrimPrefix(n.Value, "Chain.") == name {
			lines = append(lines, n.Line)
		}
		for i, v := range n.Content {
			switch {
			case depth > 2*maxNesting:
			case n.Kind != yaml.MappingNode:
				walk(v, key, depth+1)
			case i%2 == 1:
				walk(v, n.Content[i-1].Value, depth+1)
			}
		}
	}
	walk(&root, "", 0)
	return lines
}
