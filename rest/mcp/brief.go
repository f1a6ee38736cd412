package mcp

import (
	"encoding/json"
	"slices"
	"strings"
)

// brief is a document as models are shown it, and a page of them: what names it, and the properties that were asked for.
type (
	brief struct {
		Entity     string                     `json:"entity-type,omitempty"`
		UID        string                     `json:"uid"`
		Path       string                     `json:"path,omitempty"`
		Type       string                     `json:"type,omitempty"`
		Title      string                     `json:"title,omitempty"`
		State      string                     `json:"state,omitempty"`
		Properties map[string]json.RawMessage `json:"properties,omitempty"`
	}
	briefs struct {
		Entity  string            `json:"entity-type"`
		Total   json.RawMessage   `json:"resultsCount,omitempty"`
		Index   json.RawMessage   `json:"currentPageIndex,omitempty"`
		Size    json.RawMessage   `json:"pageSize,omitempty"`
		More    json.RawMessage   `json:"isNextPageAvailable,omitempty"`
		Entries []json.RawMessage `json:"entries"`
	}
)

// wrappers are the types of entities that only hold a value.
var wrappers = []string{"boolean", "date", "list", "map", "number", "object", "string"}

// shortenDocs leaves out of a result what models seldom need of documents: all but what names them, and the properties
// given by their xpaths. With "*" among these, documents stay as they are. A value that is wrapped, as programs get it, is shown
// without what is around it. Of a page, what exceeds the size of a result becomes null, for fit to leave out.
func shortenDocs(body []byte, properties []string, size int) []byte {
	var head [2]json.RawMessage
	if !some(body, head[:], "entity-type", "value") {
		return body
	}
	entity := strings.Trim(string(head[0]), `"`)
	if head[1] != nil && slices.Contains(wrappers, entity) {
		return head[1]
	}
	if slices.Contains(properties, "*") {
		return body
	}
	switch entity {
	case "document":
		return shortenDoc(body, properties, entity)
	case "documents":
		var all briefs
		if json.Unmarshal(body, &all) != nil {
			return body
		}
		for i, entry := range all.Entries {
			if size < 0 {
				all.Entries[i] = json.RawMessage("null")
				continue
			}
			all.Entries[i] = shortenDoc(entry, properties, "")
			size -= len(all.Entries[i])
		}
		return orWhole(all, body)
	}
	return body
}

// shortenDoc shortens one document; entity says what it is, where the page around it does not.
func shortenDoc(body []byte, properties []string, entity string) []byte {
	var d brief
	if json.Unmarshal(body, &d) != nil {
		return body
	}
	d.Entity = entity
	known := d.Properties
	d.Properties = map[string]json.RawMessage{}
	for _, xpath := range properties {
		if v, ok := known[xpath]; ok {
			d.Properties[xpath] = v
		}
	}
	return orWhole(d, body)
}

// orWhole is the JSON of a value, or what it was made of.
func orWhole(v any, body []byte) []byte {
	short, err := encode(v)
	if err != nil {
		return body
	}
	return short
}
