package publish_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/publish"
	"catena/ops/version"
)

// serve has a file /ws/a and the sections /s and /t, to which alice may publish and which bob may read.
func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, publish.Ops, document.Ops, property.Ops, version.Ops)
	s.Play([]opstest.Row{
		{"admin", "Document.Create", "/", `{"type": "Section", "name": "s"}`, "/s"},
		{"", "Document.Create", "/", `{"type": "Section", "name": "t"}`, "/t"},
		{"", "Document.AddPermission", `["/s", "/t"]`, `{"users": ["alice"], "permission": "Everything"}`, "/s /t"},
		{"", "Document.AddPermission", `["/s", "/t"]`, `{"users": ["bob"], "permission": "Read"}`, "/s /t"},
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "One"}}`, "/ws/a"},
		{"", "keep", "/ws/a", "", "a"},
		{"", "keep", "/s", "", "s"},
		{"", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"},
	})
	return s
}

// TestPublish: readers of a section see the version that was published, and not the document itself.
func TestPublish(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Publish", "/ws/a", `{"target": "/s"}`, "/s/a"},
		{"", "see", "/ws/a", "version", "0.1"}, // a version was created
		{"bob", "see", "/s/a", "title version", "One | 0.1"},
		{"", "see", "/ws/a", "title", "! notfound: /ws/a"},
		{"alice", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Two"}}`, "/ws/a"},
		{"bob", "see", "/s/a", "title", "One"}, // the version does not change
		{"alice", "Document.Publish", "/ws/a", `{"target": "$s"}`, "/s/a"},
		{"bob", "see", "/s/a", "title version", "Two | 0.2"},
		{"", "see", "/s", "children", "a"}, // in place of the one before
		{"alice", "Document.Publish", "/ws/a", `{"target": "/s", "override": false}`, "/s/a.1735689618000"},
		{"", "see", "/s", "children", "a a.1735689618000"},
		{"", "Document.Publish", "/ws/a", `{"target": "/s"}`, "/s/a"}, // in place of both
		{"", "see", "/s", "children", "a"},
		{"", "see", "/ws/a", "version", "0.2"}, // nothing had changed
		{"", "Proxy.GetSourceDocument", "/s/a", ``, "/ws/a"},
		{"bob", "Proxy.GetSourceDocument", "/s/a", ``, "! notfound: $a"},
		{"", "Document.Publish", "/s/a", `{"target": "/t"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"alice", "Document.Publish", "/s/a", `{"target": "/t"}`, "/t/a"}, // what is published is published again
		{"", "Document.Update", "/s/a", `{"properties": {"dc:title": "Never"}}`, "! conflict: document …: a version cannot be changed"},
	})
}

func TestPublishRefuses(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Publish", "/ws/a", `{"target": "/private"}`, "! notfound: /private"},
		{"", "Document.Publish", "/ws/a", `{"target": "/nowhere"}`, "! notfound: /nowhere"},
		{"", "Document.Publish", "/ws/a", `{"target": ""}`, "! notfound: "},
		{"", "Document.Publish", "/ws/a", `{}`, `! invalid missing_parameter target: parameter "target" is missing`},
		{"", "Document.Publish", "/ws", `{"target": "/s"}`, "/s/ws"}, // a workspace
		{"", "Document.Publish", "/ws/a", `{"target": "/ws/a"}`, "/ws/a/a"},
		{"", "Document.UnblockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"bob", "Document.Publish", "/ws/a", `{"target": "/s"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "Document.PublishToSection", "/ws/a", `{"target": "/s", "renditionName": "xmlExport"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "see", "/s", "children", "ws"}, // that of alice, who may publish folders too
		{"alice", "Document.AddPermission", "/ws", `{"username": "bob", "permission": "Write"}`, "/ws"},
		{"bob", "Document.Publish", "/ws/a", `{"target": "./.."}`, "/ws/a.…"}, // relative to the document
	})
}

func TestSeveralSections(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.PublishToSections", "/ws/a", `{"target": "/s,/t"}`, "/s/a /t/a"},
		{"", "Document.PublishToSections", "/ws/a", `{"target": ["/s", "$s"]}`, "/s/a /s/a"},
		{"", "see", "/s", "children", "a"},
		{"", "Document.PublishToSections", "/ws/a", `{"target": []}`, ""},
		{"", "Document.PublishToSections", "/ws/a", `{"target": "/s,/nowhere"}`, "! notfound: /nowhere"},
		{"", "Document.UnpublishAll", "/ws/a", ``, ""},
		{"", "see", "/s", "children", ""},
		{"", "see", "/t", "children", ""},
		{"", "see", "/ws/a", "title version", "One | 0.1"}, // the document and its versions stay
	})
}

// TestLiveProxies: they follow the document, and are for administrators to make.
func TestLiveProxies(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "/s"}`, "! notfound unknown_operation: operation Document.CreateLiveProxy"},
		{"admin", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "$s"}`, `! invalid Destination Path: Destination Path: must be a path, not "$s"`}, // a path only
		{"", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "/nowhere"}`, "! invalid Destination Path: Destination Path: document /nowhere does not exist"},
		{"", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "s"}`, `! invalid Destination Path: Destination Path: must be a path, not "s"`},
		{"", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "/s"}`, "/s/a"},
		{"alice", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Live"}}`, "/ws/a"},
		{"bob", "see", "/s/a", "title", "Live"},
		{"alice", "Document.Update", "/s/a", `{"properties": {"dc:title": "Through"}}`, "/s/a"},
		{"", "see", "/ws/a", "title", "Through"},
		{"", "Document.UnpublishAll", "/ws/a", ``, ""}, // only what shows a version
		{"", "see", "/s", "children", "a"},
		{"bob", "Document.RemoveProxies", "/s/a", ``, "! denied: Privilege 'Remove' is not granted to 'bob'"},
		{"alice", "Document.RemoveProxies", "/ws/a", ``, "/ws/a"},
		{"", "see", "/s", "children", ""},
		{"admin", "Document.CreateLiveProxy", "/ws/a", `{"Destination Path": "/s"}`, "/s/a"},
		{"alice", "Document.Delete", "/ws/a", ``, "! conflict: document /ws/a: proxy … refers to it"}, // a proxy would show nothing
		{"", "see", "/s/a", "title", "Through"},
		{"", "Document.RemoveProxies", "/ws/a", ``, "/ws/a"},
		{"", "Document.Delete", "/ws/a", ``, ""},
	})
}
