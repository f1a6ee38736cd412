package scripts

import (
	"strings"
	"testing"
)

// TestCheckCalls checks what scripts write about the operations that they call.
func TestCheckCalls(t *testing.T) {
	w := newWorld(t, Options{})
	const head = "/**\n * @operation Test.X\n * @description Does it.\n * @param title\n * @param {document} at\n */\n"
	for _, c := range []struct{ body, want string }{
		{`function run(i, p) { return Document.Create(i, {type: "File", name: p.title}) }`, ""},
		{`function run(i, p) { return Document.Create(i, {typ: "File"}) }`, `7:29: Document.Create: parameter "type" is missing` + "\n" + `7:49: Document.Create: unknown parameter "typ", perhaps type`},
		{`function run(i) { return Document.Create(i, {type: "Fil"}) }`, `7:52: Document.Create: parameter "type": unknown document type "Fil", perhaps File`},
		{`function run(i) { return Document.Create(i) }`, `7:26: Document.Create: parameter "type" is missing`},
		{`function run(i) { const p = {type: "File"}; return Document.Create(i, p) }`, ""},
		{`function run(i) { const p = {type: "File"}; return Document.Create(i, {...p, nam: "x"}) }`, `7:78: Document.Create: unknown parameter "nam", perhaps name`},
		{`function run(i, p) { return Document.Create(i, {type: "File", properties: {"dc:titel": p.title}}) }`, `7:88: Document.Create: parameter "properties": xpath "dc:titel": no such property, perhaps dc:title`},
		{`function run(i) { return Document.Create(i, {type: "File", properties: {"dc:issued": "soon"}}) }`, `7:86: Document.Create: parameter "properties": property dc:issued: must be of type date, not "soon"`},
		{`function run(i) { return Repository.Query(null, {query: "SELECT * FORM Document"}) }`, `7:57: Repository.Query: parameter "query": query: line 1, column 10: expected FROM, found "FORM", perhaps FROM`},
		{`function run(i) { return Repository.Query(null, {query: "SELECT * FROM Document", pageSize: "many"}) }`, `7:83: Repository.Query: parameter "pageSize": must be of type integer, not text "many"`},
		{`function run(i) { return Document.GetChildren() }`, `7:26: Document.GetChildren: input: is missing, must be of type document or documents`},
		{`function run(i) { return Document.GetChildren(...i) }`, ""},
		{`function run(i) { return Document.SetProperty(i, {xpath: "dc:title", value: -1}) }`, ""},
		{`function run(i) { ctx.type = "File"; return Document.Create(i) }`, ""},
		{`function run(i, p) { return p.titel + p.title + p.toString() }`, "7:31: unknown parameter p.titel; declare it with @param, perhaps title"},
		{`function run(i, p) { return [i].map(p => p.titel) }`, ""},
		{`function run(i, p) { p = i; return p.titel }`, ""},
		{"function run(i) {\n  return Document.Create(i, {\n    type: `Nope`,\n  })\n}", `9:11: Document.Create: parameter "type": unknown document type "Nope", perhaps Note`},
	} {
		problems := w.must("Script.Check", nil, map[string]any{"source": head + c.body}).([]Problem)
		got := make([]string, len(problems))
		for i, p := range problems {
			got[i] = strings.TrimPrefix(p.Error(), "script:")
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, strings.Join(got, "\n"), c.want)
		}
	}
}
