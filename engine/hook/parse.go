package hook

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine/library"
)

// Hook is a hook as written.
type Hook struct {
	library.Task
	File   bool   // the body of a request is a file, which is the input
	Input  string // instead: path of the document that is the input; "": none
	Waits  bool   // the sender waits for the result
	Verify string // how a request shows that its sender knows the secret
	Rate   int    // requests a minute; 0: as many as the server permits a user
}

// maxRate is the highest rate that a hook may name, in requests a minute.
const maxRate = 1_000_000

// How a request shows that its sender knows the secret.
const (
	bearer   = "bearer"   // it sends it, as a token or as a password
	standard = "standard" // it signs id, time and body, as Standard Webhooks say
	github   = "github"   // it signs the body, as GitHub does
)

// variable is the variable that holds what a request says.
const variable = "Hook"

// Parse reads a hook from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Hook, []library.Problem) {
	p := &library.Parser{File: file}
	root := p.Root(src, "hook")
	if root == nil {
		return nil, p.Problems
	}
	h := &Hook{Verify: bearer}
	h.read(p, root)
	if len(p.Problems) > 0 {
		return nil, p.Problems
	}
	return h, nil
}

func (h *Hook) read(p *library.Parser, root *yaml.Node) {
	h.Read(p, root, "hook", map[string]func(*yaml.Node){
		"input":    func(v *yaml.Node) { h.readInput(p, v) },
		"response": func(v *yaml.Node) { h.Waits = choice(p, v, "response", "accepted", "result") == "result" },
		"rate": func(v *yaml.Node) {
			n, err := strconv.Atoi(v.Value)
			if err != nil || n < 1 || n > maxRate {
				p.At(v, "rate must be a number of requests a minute, from 1 to %d", maxRate)
			}
			h.Rate = n
		},
		"verify": func(v *yaml.Node) { h.Verify = choice(p, v, "verify", bearer, standard, github) },
	})
}

func (h *Hook) readInput(p *library.Parser, v *yaml.Node) {
	switch {
	case strings.HasPrefix(v.Value, "/"):
		h.Input = v.Value
	case v.Value == "file":
		h.File = true
	case v.Value != "none":
		p.At(v, "input must be none, file or the path of a document")
	}
}

// choice reads one of a few words.
func choice(p *library.Parser, v *yaml.Node, field string, words ...string) string {
	for _, w := range words {
		if v.Value == w {
			return w
		}
	}
	p.At(v, "%s must be %s or %s", field, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
	return ""
}

// in is the type of the input.
func (h *Hook) in() string {
	switch {
	case h.File:
		return "blob"
	case h.Input != "":
		return "document"
	}
	return "void"
}
