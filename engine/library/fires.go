package library

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/event"
)

// firing are the kinds of text that may fire events.
var firing = []string{"chain", "hook", "listener", "module", "schedule", "script"}

// awaiting are the keys of texts behind which names of events stand that are waited for, and not fired.
var awaiting = []string{"events", "wait"}

// CheckEvents looks at the names of events that a text waits for, and returns the problems by name. It refuses names that are like one of
// the server's events, and warns of others that neither the server nor a deployed text nor the text itself fires: Event.Fire fires events
// of any name, also when somebody calls it from elsewhere, so they may be right. The text has a name and a source, and takes the place of
// the one that is deployed. Where a problem is the caller says.
func CheckEvents(c *engine.Ctx, noun string, text Version, names []string) (map[string]Problem, error) {
	var open []string // nothing that fires them has been found
	for _, name := range names {
		if !event.Known(name) && !fires(noun, text.Source, name) && !slices.Contains(open, name) {
			open = append(open, name)
		}
	}
	for _, other := range firing {
		if len(open) == 0 {
			return nil, nil
		}
		all, err := Deployed(c, other)
		if err != nil {
			return nil, err
		}
		for _, v := range all {
			if other != noun || v.Name != text.Name {
				open = slices.DeleteFunc(open, func(name string) bool { return fires(other, v.Source, name) })
			}
		}
	}
	problems := make(map[string]Problem, len(open))
	for _, name := range open {
		if wrong := event.Check(name); wrong != nil {
			problems[name] = Problem{Message: wrong.Error()}
		} else {
			problems[name] = Problem{Message: "neither the server nor a deployed text fires the event " + strconv.Quote(name) + "; calls of Event.Fire may", Warning: true}
		}
	}
	return problems, nil
}

// fires reports whether a text has the name of an event as a word of its own, where it does not wait for it.
func fires(noun, source, name string) bool {
	if noun == "script" || noun == "module" || !Says(source, name) {
		return Says(source, name)
	}
	var root yaml.Node
	if yaml.Unmarshal([]byte(source), &root) != nil {
		return false
	}
	var said strings.Builder
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			said.WriteString(n.Value)
			said.WriteByte('\n')
		}
		for i, v := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 && !slices.Contains(awaiting, n.Content[i-1].Value) {
				walk(v)
			}
		}
	}
	walk(&root)
	return Says(said.String(), name)
}

// Says reports whether a text has a name that is no part of another one.
func Says(text, name string) bool {
	part := func(b byte) bool {
		return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !part(text[at-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
	}
}
