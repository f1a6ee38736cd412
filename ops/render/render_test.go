package render_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/render"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, render.Ops(nil), document.Ops, property.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A <ü>"}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "Note", "name": "b", "properties": {"dc:title": "B"}}`, "/ws/b"},
		{"admin", "Document.Create", "/private", `{"type": "Note", "name": "n", "properties": {"dc:title": "Hidden"}}`, "/private/n"},
	})
	return s
}

func TestRenderedDocuments(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Render.Document", "/ws/a", `{"template": "${Document.title}"}`, "A <ü>"},
		{"", "Render.Document", "/ws/a", `{"template": "${Document.title?html}"}`, "A &lt;ü&gt;"},
		{"", "Render.Document", "/ws/a", `{"template": ""}`, ""},
		{"", "Render.Document", "/ws/a", `{"template": "no expression"}`, "no expression"},
		{"", "Render.Document", "/ws/a", `{"template": "${who}"} {"who": "ÿ"}`, "ÿ"},
		{"", "Render.Document", "/ws/a", `{"template": "${who}"} {"who": 12}`, "12"},
		{"", "Render.Document", "/ws/a", `{"template": "${CurrentUser.name}"}`, "bob"},
		{"", "Render.Document", "/ws/a", `{"template": "${who}"}`, "! invalid expression: template inline:1:3: who is missing: give it a default with !, or test it with ??"},
		{"", "Render.Document", "/ws/a", `{"template": "${"}`, "! invalid expression template: template inline:1:3: the template ends within a tag or an interpolation"},
		{"", "Render.Document", "/ws/a", `{}`, `! invalid missing_parameter template: parameter "template" is missing`},
		{"", "Render.Document", "/ws/a", `{"template": "@{1}", "type": "mvel"}`, "! denied template: template: expressions are not accepted from clients; use type ftl"},
		{"", "Render.Document", "/ws/a", `{"template": "@{1}", "type": "other"}`, "@{1}"}, // anything else is FTL
		{"", "Render.Document", "/ws/a", `{"template": "template:none"}`, "! notfound template: template none"},
		{"", "Render.Document", "/ws/a", `{"template": "template:"}`, "! notfound template: template …"},
		{"", "Render.Document", "/ws/a", `{"template": "template:../render"}`, "! notfound template: template ../render"},
		{"", "Render.Document", "/private/n", `{"template": "${Document.title}"}`, "! notfound: /private/n"},
		{"", "Render.Document", "", `{"template": "x"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"admin", "Render.Document", "/ws/a", `{"template": "@{1 + 1}", "type": "mvel"}`, "2"},
		{"", "Render.Document", "/private/n", `{"template": "${Document.title}"}`, "Hidden"},
	})
}

func TestRenderedFeeds(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Render.DocumentFeed", "/ws/a", `{"template": "<#list Documents as d>${d.name};</#list>"}`, "a;"},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "ü", "charset": "ISO-8859-1"}`, "\xfc"},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "ü", "charset": "utf-8"}`, "ü"},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "日", "charset": "ISO-8859-1"}`, "! invalid charset: charset: ISO-8859-1 does not have all characters of the text"},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "x", "charset": "klingon"}`, `! invalid charset: charset: unknown character set "klingon"`},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "x", "charset": ""}`, `! invalid charset: charset: unknown character set ""`},
		{"", "Render.DocumentFeed", "/ws/a", `{"template": "@{1}", "type": "mvel"}`, "! denied template: template: expressions are not accepted from clients; use type ftl"},
		{"", "Render.DocumentFeed", "/private/n", `{"template": "x"}`, "! notfound: /private/n"},
	})
}

func TestBoundTemplates(t *testing.T) {
	s := serve(t)
	const file = `{"entity-type": "blob", "name": "t.ftl", "mime-type": "text/plain", "data": "Dear ${who!Document.title}"}`
	const data = `<nxdt:templateParams xmlns:nxdt=\"http://www.nuxeo.org/DocumentTemplate\"><nxdt:field name=\"who\" type=\"String\" value=\"Ann\"/></nxdt:templateParams>`
	s.Play([]opstest.Row{
		{"alice", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter"}`, ""}, // neither template nor file
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "attach": true}`, "! notfound templateName: template letter"},
		{"", "Document.Create", "/ws", `{"type": "TemplateSource", "name": "t", "properties": {"dc:title": "T", "tmpl:templateName": "letter", "tmpl:templateType": "Freemarker"}}`, "/ws/t"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "attach": true}`, "! invalid templateName: template letter: has no file"},
		{"", "Document.SetBlob", "/ws/t", `{"file": ` + file + `}`, "/ws/t"},
		{"bob", "TemplateProcessor.Render", "/ws/b", `{"templateName": "letter", "attach": true}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"}, // a reader binds nothing
		{"alice", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "attach": true}`, "Dear A <ü>"},
		{"", "TemplateProcessor.Render", "/ws/a", `{}`, "Dear A <ü>"}, // the first that is bound
		{"bob", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter"}`, "Dear A <ü>"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "templateData": "` + data + `"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "store": true}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"alice", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "templateData": "` + data + `"}`, "Dear Ann"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter"}`, "Dear Ann"}, // it is kept
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "templateData": "<open"}`, "! invalid templateData: templateData: …"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "store": true}`, "Dear Ann"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "other"}`, "Dear Ann"}, // none of the name: its own file
		{"bob", "TemplateProcessor.Detach", "/ws/a", `{"templateName": "letter"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"alice", "TemplateProcessor.Detach", "/ws/a", `{"templateName": "other"}`, ""},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter", "templateData": "` + data + `"}`, "Dear Ann"}, // still bound
		{"", "TemplateProcessor.Detach", "/ws/a", `{"templateName": "letter"}`, ""},
		{"", "Document.SetBlob", "/ws/a", `{"file": {"entity-type": "blob", "name": "own.txt", "mime-type": "text/plain", "data": "Own"}}`, "/ws/a"},
		{"", "TemplateProcessor.Render", "/ws/a", `{"templateName": "letter"}`, "Own"},
		{"", "TemplateProcessor.Detach", "/ws/b", `{"templateName": "letter"}`, ""},
	})
}
