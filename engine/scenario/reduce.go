package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
)

// document is the form of a document in a scenario.
type document struct {
	Path    string         `json:"path,omitempty"`
	Type    string         `json:"type,omitempty"`
	Title   string         `json:"title,omitempty"` // unless it is the name
	State   any            `json:"state,omitempty"` // unless it is project
	Trashed bool           `json:"trashed,omitempty"`
	Locked  any            `json:"locked,omitempty"` // who locked it
	Props   map[string]any `json:"props"`
	Context any            `json:"contextParameters,omitempty"`
}

// page is the form of a part of a list.
type page struct {
	Entries []any `json:"entries"`
	Total   any   `json:"total"`
	Next    any   `json:"next"`
}

// content is the form of a file.
type content struct {
	Name   string  `json:"name"`
	Type   string  `json:"type,omitempty"`
	Length any     `json:"length,omitempty"`
	Text   *string `json:"text,omitempty"`
}

// permissions is the form of a list of permissions: the identifiers of its entries say all.
type permissions struct {
	Name    string   `json:"name"`
	Entries []string `json:"ace"`
}

// dryRun is the form of the outcome of a dry run.
type dryRun struct {
	Value   any `json:"value"`
	Changes any `json:"changes"`
}

// unseen are the properties that the server sets on every document.
var unseen = map[string]bool{
	"dc:created": true, "dc:modified": true, "dc:creator": true, "dc:contributors": true, "dc:lastContributor": true,
}

// form returns the value of an outcome as scenarios write it.
func (o *Outcome) form(dry bool) any {
	var v any
	switch {
	case o.List:
		list := make([]any, len(o.Files))
		for i, f := range o.Files {
			list[i] = f.form()
		}
		v = list
	case len(o.Files) == 1:
		v = o.Files[0].form()
	default:
		v = reduce(o.Wire)
	}
	if !dry {
		return v
	}
	changes := o.Changes
	if changes == nil {
		changes = []any{}
	}
	return dryRun{v, changes}
}

func (f *File) form() content {
	c := content{Name: f.Name, Type: f.Type}
	switch {
	case f.Data != nil || f.Length == 0:
		text := string(f.Data)
		c.Text = &text
	case f.Length > 0:
		c.Length = f.Length
	}
	return c
}

// reduce turns the platform's JSON into the short form of scenarios.
func reduce(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = reduce(item)
		}
		return out
	case map[string]any:
		return reduceEntity(v)
	}
	return v
}

func reduceEntity(m map[string]any) any {
	switch m["entity-type"] {
	case "document":
		return reduceDocument(m)
	case "documents", "blobs":
		return reduceList(m)
	case "logEntry":
		return reduceRecord(m)
	case "acls":
		return reduceACLs(m)
	case "blob":
		return reduceFile(m)
	case "bulkStatus": // over REST, the status is also in a member of itself
		m = maps.Clone(m)
		delete(m, "value")
	case "string", "boolean", "number", "date", "list", "map", "orderedMap", "integer", "long", "float", "object":
		if value, ok := m["value"]; ok && len(m) == 2 {
			return reduce(value)
		}
	}
	switch {
	case isFile(m):
		return reduceFile(m)
	case m["isPaginable"] == true:
		return reduceList(m)
	}
	return reduceMap(m)
}

// reduceMap reduces what is in a map, and replaces the two values that are random: API keys and secrets of webhooks.
func reduceMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, item := range m {
		out[name] = reduce(item)
	}
	if _, text := m["key"].(string); text && m["scope"] != nil {
		out["key"] = "…"
	}
	if _, text := m["secret"].(string); text && m["url"] != nil {
		out["secret"] = "…"
	}
	return out
}

func reduceDocument(m map[string]any) any {
	text := func(name string) string { s, _ := m[name].(string); return s }
	d := document{Path: text("path"), Type: text("type"), Props: map[string]any{}, Context: reduce(m["contextParameters"])}
	if d.Title = text("title"); d.Title == path.Base(d.Path) {
		d.Title = ""
	}
	if d.State = m["state"]; d.State == "project" || d.State == "" {
		d.State = nil
	}
	d.Trashed, _ = m["isTrashed"].(bool)
	d.Locked = m["lockOwner"]
	props, _ := m["properties"].(map[string]any)
	for name, value := range props {
		if unseen[name] || name == "dc:title" && value == m["title"] {
			continue
		}
		if isVersionNumber(name) && value == json.Number("0") {
			continue
		}
		if value = reduceProperty(value); value != nil {
			d.Props[name] = value
		}
	}
	return d
}

func reduceACLs(m map[string]any) any {
	lists, _ := m["acl"].([]any)
	out := make([]permissions, len(lists))
	for i, list := range lists {
		acl, _ := list.(map[string]any)
		out[i].Name, _ = acl["name"].(string)
		entries, _ := acl["ace"].([]any)
		for _, entry := range entries {
			ace, _ := entry.(map[string]any)
			id, _ := ace["id"].(string)
			if status := ace["status"]; status != "effective" {
				id = fmt.Sprintf("%s (%v)", id, status)
			}
			out[i].Entries = append(out[i].Entries, id)
		}
	}
	return out
}

// reduceRecord leaves out of an audit record what says nothing.
func reduceRecord(m map[string]any) any {
	out := map[string]any{}
	for name, value := range m {
		if name == "entity-type" || name == "repositoryId" || name == "logDate" && value == m["eventDate"] {
			continue
		}
		if value = reduceProperty(value); value != nil {
			out[name] = value
		}
	}
	return out
}

func isVersionNumber(name string) bool {
	return strings.HasPrefix(name, "uid:") && strings.HasSuffix(name, "_version")
}

// reduceProperty leaves out of a property what is empty; nil is nothing.
func reduceProperty(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = reduceProperty(item)
		}
		return out
	case map[string]any:
		if isFile(v) {
			return reduceFile(v)
		}
		out := map[string]any{}
		for name, item := range v {
			if item = reduceProperty(item); item != nil {
				out[name] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return v
}

// isFile reports whether an object describes a file.
func isFile(m map[string]any) bool {
	_, digest := m["digest"]
	_, length := m["length"]
	_, name := m["name"]
	return digest && length && name
}

func reduceFile(m map[string]any) any {
	name, _ := m["name"].(string)
	typ, _ := m["mime-type"].(string)
	c := content{Name: name, Type: typ}
	if typ == "application/pdf" { // how it is packed may change, and what protects it is random
		return c
	}
	switch n := m["length"].(type) {
	case string:
		c.Length = n
		if i, err := strconv.ParseInt(n, 10, 64); err == nil {
			c.Length = i
		}
	case json.Number:
		c.Length = n
	}
	return c
}

func reduceList(m map[string]any) any {
	entries, _ := reduce(m["entries"]).([]any)
	if entries == nil {
		entries = []any{}
	}
	if m["isPaginable"] != true {
		return entries
	}
	return page{entries, m["resultsCount"], m["isNextPageAvailable"]}
}

// at returns a part of an answer by the names and numbers on the way to it. Not every entry point puts a result into a member of
// its own.
func at(v any, way string) (any, bool) {
	if inside, ok := strings.CutPrefix(way, "value."); ok && !hasValue(v) {
		way = inside
	}
	for name := range strings.SplitSeq(way, ".") {
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[name]
			if !ok {
				if in, ok = in["value"].(map[string]any); ok {
					inner, ok = in[name]
				}
			}
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func hasValue(v any) bool {
	m, ok := v.(map[string]any)
	_, has := m["value"]
	return ok && has
}
