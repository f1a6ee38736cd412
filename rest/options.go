package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"catena/engine/entity"
)

// controls are what a request asks of its answer: the union of all spellings of all
// headers and query parameters.
type controls struct {
	properties []string
	enrichers  map[string][]string // by entity type
	fetch      map[string][]string
	translate  map[string][]string
	depth      string
}

// subjects are the entity types a control may name. Header names lose their case on the
// way, so the name is found again here.
var subjects = map[string]string{
	"acls": "acls", "annotation": "annotation", "blob": "blob", "comment": "comment",
	"directory": "directory", "directoryentry": "directoryEntry", "doctype": "docType",
	"document": "document", "facet": "facet", "group": "group", "logentry": "logEntry",
	"schema": "schema", "task": "task", "user": "user", "workflow": "workflow",
}

// Options are what the request asks of the entities in its answer.
func (x *Request) Options() *entity.Options {
	o := x.readOptions()
	return &o
}

func (x *Request) readOptions() entity.Options {
	c := readControls(x.HTTP.Header, x.Query())
	return entity.Options{
		Base: x.Base(), Repo: x.Repo, Depth: c.levels(), Language: x.HTTP.Header.Get("Accept-Language"),
		Codec:      x.Query().Get("URLCodecName"),
		Properties: c.properties, Enrichers: c.enrichers, Fetch: c.fetch, Translate: c.translate,
	}
}

// readControls collects the controls of a request.
func readControls(h http.Header, query url.Values) (c controls) {
	for name, values := range h {
		switch name {
		case "Accept", "Authorization", "Content-Length", "Content-Type", "User-Agent":
			continue
		case "X-Nxdocumentproperties", "X-Platform-Documentproperties":
			c.add("properties", values)
			continue
		case "X-Nxcontext-Category":
			c.add("enrichers.document", values)
			continue
		}
		c.add(strings.ToLower(bare(name)), values)
	}
	for name, values := range query {
		c.add(name, values)
	}
	return c
}

// bare takes the optional prefix off a header name.
func bare(name string) string {
	if s, ok := strings.CutPrefix(name, "X-Nx"); ok {
		return s
	}
	return strings.TrimPrefix(name, "X-Platform-")
}

// add takes the values of one spelling in, if it is a control at all.
func (c *controls) add(name string, values []string) {
	switch name {
	case "properties":
		c.properties = AppendItems(c.properties, values)
		return
	case "depth":
		if len(values) > 0 {
			c.depth = strings.TrimSpace(values[0])
		}
		return
	}
	i := strings.IndexAny(name, ".-")
	if i < 0 {
		return
	}
	var m *map[string][]string
	switch name[:i] {
	case "enrichers":
		m = &c.enrichers
	case "fetch":
		m = &c.fetch
	case "translate":
		m = &c.translate
	default:
		return
	}
	subject := name[i+1:]
	if s, ok := subjects[strings.ToLower(subject)]; ok {
		subject = s
	}
	if *m == nil {
		*m = map[string][]string{}
	}
	(*m)[subject] = AppendItems((*m)[subject], values)
}

// AppendItems adds the items of comma-separated lists that are not there yet.
func AppendItems(list, values []string) []string {
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			item = strings.TrimSpace(item)
			if item != "" && !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
	}
	return list
}

// levels says how many levels of nested documents the depth word means.
func (c *controls) levels() int {
	switch c.depth {
	case "children":
		return 2
	case "max":
		return 3
	}
	return 1
}
