package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"catena/storage"
)

// concealed stands in traces for a secret.
const concealed = "***"

// shortestHidden is how many bytes a secret has at least that is looked for in other texts, too: shorter ones are
// part of too much that is none.
const shortestHidden = 4

var secretWords = []string{"password", "passwd", "pwd", "secret", "token", "key", "credential", "authorization"}

// SecretName reports whether a name is one that secrets usually have. It judges what nobody has declared: members of
// objects, variables, and parameters of texts that do not say.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	return name != "changetoken" && slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// secret reports whether a member of an object is to be taken for a secret: by its name, or because an operation of
// the set has a parameter of that name which is one.
func (s *Set) secret(name string) bool { return s.secrets[name] || SecretName(name) }

// indexSecrets finds the names of all parameters that are secrets.
func (s *Set) indexSecrets() {
	s.secrets = map[string]bool{}
	for _, d := range s.ops {
		for i := range d.table.fields {
			if p := &d.table.fields[i]; p.Secret {
				for _, name := range append([]string{p.Name}, p.Aliases...) {
					s.secrets[name] = true
				}
			}
		}
	}
}

// secret reports whether what is given for a parameter is a secret: as declared, by its name if it is not declared.
func (d *Def) secret(s *Set, name string) bool {
	if p := d.declared(name); p != nil {
		return p.Secret
	}
	return s.secret(name)
}

// declared is the parameter of a name or alias; nil if the operation declares none.
func (d *Def) declared(name string) *Param {
	if d.table == nil { // work of the server, which only has a name
		return nil
	}
	if i, _ := d.table.find([]byte(name)); i >= 0 {
		return &d.table.fields[i].Param
	}
	return nil
}

// hide notes the secrets among parameters, which steps made of them must not show either.
func (r *running) hide(d *Def, params map[string]any) {
	for name, v := range params {
		p := d.declared(name)
		text, ok := asText(v)
		if p == nil || !p.Secret || !ok {
			continue
		}
		inJSON, _ := json.Marshal(text)
		for _, form := range []string{text, string(inJSON[1 : len(inJSON)-1])} {
			if len(form) >= shortestHidden && !slices.Contains(r.hidden, form) {
				r.hidden = append(r.hidden, form)
			}
		}
	}
}

// hideAsked notes the secrets among the parameters of the call itself. Those of an operation that declares none need not be
// read again.
func (r *running) hideAsked() {
	if r.def.table == nil || !slices.ContainsFunc(r.def.table.fields, func(f field) bool { return f.Secret }) {
		return
	}
	r.hide(r.def, given(r.call.Params, r.call.RawParams))
}

// given are parameters by name, however they were given.
func given(params map[string]any, raw json.RawMessage) map[string]any {
	if params == nil && raw != nil {
		if v, err := ParseJSON(raw); err == nil {
			params, _ = v.(map[string]any)
		}
	}
	return params
}

// shown is a text without the secrets of the call, cut.
func (r *running) shown(text string, most int) string {
	for _, h := range r.hidden {
		text = strings.ReplaceAll(text, h, concealed)
	}
	return cut(text, most)
}

// withoutSecrets takes the secrets out of JSON and returns where they were; d is the operation whose parameters it is,
// nil: it is anything else.
func (s *Set) withoutSecrets(d *Def, raw json.RawMessage, at string) (json.RawMessage, []string) {
	// Most calls have no members that could be secret.
	if string(raw) == "{}" || !bytes.ContainsAny(raw, "{[") && json.Valid(raw) {
		return bytes.Clone(raw), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, []string{at}
	}
	left := s.strip(d, v, at, nil)
	if left == nil {
		return bytes.Clone(raw), nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, []string{at}
	}
	return out, left
}

// redacted copies objects without the secrets in them.
func (s *Set) redacted(v any, depth int) any {
	var m map[string]any
	switch v := v.(type) {
	case map[string]any:
		m = v
	case storage.Props:
		m = v
	case []any:
		if depth > 8 {
			return "…"
		}
		out := make([]any, min(len(v), 32))
		for i := range out {
			out[i] = s.redacted(v[i], depth+1)
		}
		return out
	default:
		if s.strip(nil, objectIn(v), "", nil) == nil {
			return v
		}
		return s.redacted(objectIn(v), depth+1)
	}
	if depth > 8 {
		return "…"
	}
	out := make(map[string]any, len(m))
	for name, item := range m {
		if s.secret(name) {
			out[name] = concealed
		} else {
			out[name] = s.redacted(item, depth+1)
		}
	}
	return out
}

// objectIn is the JSON object that a text is, as some parameters want it; nil if it is none.
func objectIn(v any) any {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	object, err := ParseJSON([]byte(text))
	if err != nil {
		return nil
	}
	return object
}

// strip takes the secrets out of a JSON value and adds where they were to left; d is the operation whose parameters
// it is, nil: it is anything else.
func (s *Set) strip(d *Def, v any, at string, left []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			if d != nil && d.secret(s, name) || d == nil && s.secret(name) || s.strip(nil, objectIn(v[name]), "", nil) != nil {
				delete(v, name)
				left = append(left, at+"/"+name)
			} else {
				left = s.strip(nil, v[name], at+"/"+name, left)
			}
		}
	case []any:
		for _, item := range v {
			left = s.strip(nil, item, at, left)
		}
	}
	return left
}
