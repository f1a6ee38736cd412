package mcp

import (
	"context"
	"regexp"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// A model that makes a mistake reads the error, and needs to know what to do instead.

// next are what to do about errors that people understand but that do not lead a model further, by what they say. The first counts.
var next = []struct {
	kind fault.Kind
	says *regexp.Regexp
	text string
}{
	{fault.NotFound, regexp.MustCompile(`(^|: )run \S+$`), "Run.List lists the runs that are kept, with their ids."},
	{fault.NotFound, regexp.MustCompile(`(^|: )run \S+: does not wait$`), "Run.Waiting lists the runs that wait; Run.Get shows how this one ended."},
	{fault.NotFound, regexp.MustCompile(`has no file$`), "The input must have a file, as documents of the type File do; Blob.AttachOnDocument attaches one."},
	{fault.NotFound, regexp.MustCompile(`(^|: )(chain|script|module|schedule|hook|listener) \S+$`), "The operation List of the same family, such as Chain.List, lists the names."},
	{fault.NotFound, regexp.MustCompile(`(^|: )[^\s:]+$`), "No document has this path or id, or you may not read it. Document.GetChildren lists a folder; Repository.Query finds documents."},
	{fault.Invalid, regexp.MustCompile(`input: is missing`), "Give the argument input: the path or id of a document, or a list of them."},
	{fault.Invalid, regexp.MustCompile(`query: line 1, column 1: `), "A query is NXQL, such as SELECT * FROM Document WHERE ecm:fulltext = 'plan' AND ecm:isVersion = 0 AND ecm:isTrashed = 0 ORDER BY dc:modified DESC."},
	{fault.Invalid, regexp.MustCompile(`unknown parameter "`), "describe_operation returns the parameters."},
}

// nextOf is what to do about an error, "" if the error says it.
func (c *Config) nextOf(ctx context.Context, asked string, err error) string {
	if fault.CodeOf(err) == fault.CodeUnknownOperation {
		return c.similar(ctx, asked)
	}
	kind, text := fault.Of(err), err.Error()
	for _, n := range next {
		if n.kind == kind && n.says.MatchString(text) {
			return n.text
		}
	}
	return ""
}

// similar names operations that a name which is none may have meant.
func (c *Config) similar(ctx context.Context, name string) string {
	set, as := c.Engine.Set(), c.As(ctx)
	words := strings.NewReplacer("_", " ", ".", " ", "-", " ").Replace(name)
	found := c.find.Search(words, func(name string) bool { return set.Allowed(name, as, engine.MCP) })
	if len(found) == 0 {
		return "Find operations with search_operations."
	}
	var names []string
	for _, doc := range found[:min(3, len(found))] {
		names = append(names, doc.ID)
	}
	return "Similar operations: " + strings.Join(names, ", ") + ". Find others with search_operations."
}
