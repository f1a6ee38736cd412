package comment_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/comment"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, comment.Ops, document.Ops, property.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "keep", "/ws/a", "", "a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b"}`, "/ws/b"},
	})
	return s
}

func TestCreate(t *testing.T) {
	s := serve(t)
	long := strings.Repeat("x", 100_000)
	s.Play([]opstest.Row{
		{"bob", "Comment.Create", "/ws/a", `{"comment": {"text": "Looks good"}}`, `…"author":"bob","creationDate":"2025-01-01T00:00:04.000Z"…"text":"Looks good"}`},
		{"", "see", "/ws/a/comment", "type comment:parentId comment:ancestorIds", `Comment | $a | ["$a"]`},
		{"", "Comment.Create", "/ws/a/comment", `{"comment": {"text": "A reply"}}`, `…"text":"A reply"}`},
		{"", "keep", "/ws/a/comment", "", "c"},
		{"", "see", "/ws/a/comment/comment", "comment:parentId comment:ancestorIds", `$c | ["$a","$c"]`},
		{"", "Comment.Create", "/ws/a", `{"comment": {}}`, "! invalid text: text: must not be empty"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": " \n\t"}}`, "! invalid text: text: must not be empty"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": 7}}`, "! invalid text: text: must not be empty"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": null}}`, "! invalid text: text: must not be empty"},
		{"", "Comment.Create", "/ws/a", `{}`, `! invalid missing_parameter comment: parameter "comment" is missing`},
		{"", "Comment.Create", "/ws/a", `{"comment": "text"}`, `! invalid comment: parameter "comment": properties: line 1: must be key=value, not "text"`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "` + long + `"}}`, `…x"}`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "` + long + `x"}}`, "! limit text: text: 100001 bytes, limit 100000"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "parentId": "$a"}}`, `…"parentId":"$a"…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "parentId": "$c"}}`, "! invalid parentId: parentId: $c is not the commented document"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "author": "alice"}}`, `…"author":"bob"…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "creationDate": "2001-02-03T04:05:06Z"}}`, `…"creationDate":"2001-02-03T04:05:06.000Z"…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "creationDate": "soon"}}`, "! invalid creationDate: creationDate: must be a date, not soon"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "modificationDate": 7}}`, "! invalid modificationDate: modificationDate: must be a date, not 7"},
		{"", "Comment.Create", "/private", `{"comment": {"text": "x"}}`, "! notfound: /private"},
		{"", "Comment.Create", "", `{"comment": {"text": "x"}}`, "! invalid input: input: is missing, must be of type document"},
		{"alice", "Document.Lock", "/ws/b", ``, "/ws/b"},
		{"bob", "Comment.Create", "/ws/b", `{"comment": {"text": "on what is locked"}}`, `…"text":"on what is locked"}`},
	})
}

func TestExternal(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{
			"bob", "Comment.Create", "/ws/a", `{"comment": {"text": "x", "entityId": "e1", "origin": "mail", "entity": {"a": [1]}}}`,
			`{"entity-type":"comment"…"entity":{"a":[1]},"entityId":"e1"…"origin":"mail"…`,
		},
		{"", "Comment.Read", "/ws/a", `{"entityId": "e1"}`, `…"text":"x"}`},
		{"", "Comment.Read", "/ws/b", `{"entityId": "e1"}`, "! notfound: e1"},
		{"", "Comment.Read", "/ws/a", `{"entityId": "e1", "annotation": true}`, "! notfound: e1"},
		{"", "Comment.Read", "/ws/a", `{"entityId": "e%"}`, "! notfound: e%"},
		{"", "Comment.Update", "/ws/a", `{"entityId": "e1", "comment": {"text": "y", "origin": "chat"}}`, `…"origin":"chat"…"text":"y"}`},
		{"", "Comment.Read", "/ws/a", `{"entityId": "e1"}`, `…"entity":{"a":[1]}…"modificationDate":"2025-01-01T00:00:09.000Z","origin":"chat"…`},
		{"alice", "Comment.Delete", "/ws/a", `{"entityId": "e1"}`, "/ws/a"}, // may do everything there
		{"", "Comment.Read", "/ws/a", `{"entityId": "e1"}`, "! notfound: e1"},
		{"", "see", "/ws/a", "children", ""},
	})
}

func TestWhoseComment(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Comment.Create", "/ws/a", `{"comment": {"text": "hers"}}`, `…`},
		{"", "keep", "/ws/a/comment", "", "hers"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "note", "xpath": "dc:title"}, "annotation": true}`, `…"xpath":"dc:title"}`},
		{"bob", "Comment.Update", "/ws/a", `{"id": "$hers", "comment": {"text": "his"}}`, "! denied: comment $hers: only its author may change it"},
		{"", "Comment.Delete", "/ws/a", `{"id": "$hers"}`, "! denied: comment $hers: only its author may change it"},
		{"", "Comment.Read", "/ws/a", `{"id": "$hers"}`, `…"author":"alice"…"text":"hers"}`},
		{"", "Comment.Read", "/ws/b", `{"id": "$hers"}`, "! notfound: $hers"},                     // about another document
		{"", "Comment.Read", "/ws", `{"id": "$hers"}`, `…"text":"hers"}`},                         // below it
		{"", "Comment.Read", "/ws/a", `{"id": "$a"}`, "! notfound: $a"},                           // not a comment
		{"", "Comment.Read", "/ws/a", `{"id": "$hers", "annotation": true}`, "! notfound: $hers"}, // not an annotation
		{"", "Comment.Read", "/ws/a", `{"id": "nonsense"}`, "! notfound: nonsense"},
		{"", "Comment.Read", "/ws/a", `{}`, "! invalid id: comment: neither id nor entityId given"},
		{"alice", "Comment.Update", "/ws/a", `{"id": "$hers", "comment": {"text": ""}}`, "! invalid text: text: must not be empty"},
		{"", "Comment.Update", "/ws/a", `{"id": "$hers", "comment": {"author": "bob", "creationDate": "2001-01-01"}}`, `…"author":"alice","creationDate":"2025-01-01T00:00:04.000Z"…"text":"hers"}`},
		{"", "Comment.Update", "/ws/a", `{"id": "$hers", "comment": {"xpath": "dc:title"}}`, `…`},
		{"", "Comment.Read", "/ws/a", `{"id": "$hers"}`, `…"text":"hers"}`},
		{"", "Comment.Create", "/ws/a/comment", `{"comment": {"text": "reply"}}`, `…`},
		{"", "keep", "/ws/a/comment/comment", "", "reply"},
		{"", "Comment.Delete", "/ws/a", `{"id": "$hers"}`, "/ws/a"},
		{"", "Comment.Read", "/ws/a", `{"id": "$reply"}`, "! notfound: $reply"}, // went with it
		{"", "Comment.Delete", "/ws/a", `{"id": "$hers"}`, "! notfound: $hers"},
	})
}

func TestList(t *testing.T) {
	s := serve(t)
	texts := func(total int, list ...string) string {
		out := fmt.Sprintf(`"totalSize":%d}`, total)
		for i := len(list) - 1; i >= 0; i-- {
			out = fmt.Sprintf(`"text":%q`, list[i]) + "…" + out
		}
		return "…" + out
	}
	s.Play([]opstest.Row{
		{"bob", "Comment.List", "/ws/a", `{}`, `{"entity-type":"comments","entries":[],"totalSize":0}`},
		{"bob", "Comment.Create", "/ws/a", `{"comment": {"text": "1"}}`, `…`},
		{"", "keep", "/ws/a/comment", "", "one"},
		{"alice", "Comment.Create", "/ws/a", `{"comment": {"text": "2"}}`, `…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "3"}}`, `…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "N", "xpath": "dc:title"}, "annotation": true}`, `…"entity-type":"annotation"…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "M", "xpath": "file:content"}, "annotation": true}`, `…`},
		{"", "Comment.Create", "/ws/a/comment", `{"comment": {"text": "r1"}}`, `…`},
		{"", "Comment.Create", "/ws/a/comment", `{"comment": {"text": "r2"}}`, `…`},
		{"bob", "Comment.List", "/ws/a", `{}`, texts(3, "3", "2", "1")}, // newest first, without replies and annotations
		{"", "Comment.List", "/ws/a", `{"pageSize": 2}`, texts(3, "3", "2")},
		{"", "Comment.List", "/ws/a", `{"pageSize": 2, "currentPageIndex": 1}`, texts(3, "1")},
		{"", "Comment.List", "/ws/a", `{"pageSize": 2, "currentPageIndex": 2}`, texts(3)},
		{"", "Comment.List", "/ws/a", `{"pageSize": -1, "currentPageIndex": -1}`, texts(3, "3", "2", "1")},
		{"", "Comment.List", "/ws/a", `{"pageSize": 1001}`, texts(3, "3", "2", "1")},
		{"", "Comment.List", "/ws/a", `{"pageSize": 9223372036854775807, "currentPageIndex": 9223372036854775807}`, "! invalid currentPageIndex: currentPageIndex: page 9223372036854775807 begins after entry 1073741824"},
		{"", "Comment.List", "/ws/a", `{"annotation": true}`, texts(2, "N", "M")}, // oldest first
		{"", "Comment.List", "/ws/a", `{"annotation": true, "xpath": "dc:title"}`, texts(1, "N")},
		{"", "Comment.List", "/ws/a", `{"annotation": true, "xpath": "dc:titl"}`, texts(0)},
		{"", "Comment.List", "/ws/a/comment", `{}`, texts(2, "r2", "r1")},
		{"", "Comment.List", "/ws/a", `{"under": ["$one"]}`, texts(2, "r2", "r1")},
		{"", "Comment.List", "/ws/b", `{"under": ["$one"]}`, texts(0)},
		{"", "Comment.List", "/ws/a", `{"repliesSummary": true, "currentPageIndex": 2, "pageSize": 1}`, `…"lastReplyDate":"2025-01-01T00:00:12.000Z"…"numberOfReplies":2…`},
		{"", "Comment.List", "/ws/b", `{}`, texts(0)},
		{"alice", "Document.Trash", "/ws/a/comment", ``, "/ws/a/comment"},
		{"", "Comment.List", "/ws/a", `{}`, texts(2, "3", "2")},
		{"", "Comment.List", "/ws/a", `{"under": [` + strings.Repeat(`"x",`, 1000) + `"x"]}`, "! limit under: under: 1001 ids, limit 1000"},
	})
}

func TestCount(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddFacet", "/ws/a", `{"facet": "CommentsInfoHolder"}`, "/ws/a"},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "1"}}`, `…`},
		{"", "Comment.Create", "/ws/a/comment", `{"comment": {"text": "a reply"}}`, `…`},
		{"", "Comment.Create", "/ws/a", `{"comment": {"text": "a note"}, "annotation": true}`, `…`},
		{"bob", "Document.Routing.UpdateCommentsInfoOnDocument", "", ``, ""}, // may not change it
		{"", "see", "/ws/a", "infocom:numberOfComments", "null"},
		{"alice", "Document.Routing.UpdateCommentsInfoOnDocument", "/ws/b", ``, "/ws/b"},
		{"", "see", "/ws/a", "infocom:numberOfComments dc:modified", "1 | 2025-01-01T00:00:04Z"}, // counting is no change
		{"", "Document.Trash", "/ws/a/comment", ``, "/ws/a/comment"},
		{"", "Document.Routing.UpdateCommentsInfoOnDocument", "", ``, ""},
		{"", "see", "/ws/a", "infocom:numberOfComments", "0"},
	})
}

// A task is a document of the server's; that alice made one of a comment does not let her decide about it.
func TestModerate(t *testing.T) {
	s := serve(t)
	variables := func(more string) string {
		return `{"properties": {"nt:actors": "user:alice", "nt:initiator": "bob", "nt:task_variables": "[{\"key\": \"commentId\", \"value\": \"$c\"}` + more + `]"}}`
	}
	const ended = `, {\"key\": \"status\", \"value\": \"reject\"}`
	s.Play([]opstest.Row{
		{"bob", "Comment.Create", "/ws/a", `{"comment": {"text": "Looks good"}}`, `…`},
		{"", "keep", "/ws/a/comment", "", "c"},
		{"admin", "Document.FollowLifecycleTransition", "/ws/a/comment", `{"value": "moderation_hold"}`, "/ws/a/comment"},
		{"", "Document.Create", "/", `{"type": "TaskRoot", "name": "task-root"}`, "/task-root"},
		{"", "Document.AddPermission", "/task-root", `{"users": ["bob", "alice"], "permission": "Read"}`, "/task-root"},
		{"", "Document.Create", "/task-root", `{"type": "TaskDoc", "name": "t"}`, "/task-root/t"},
		{"", "keep", "/task-root/t", "", "t"},
		{"", "Document.Update", "/task-root/t", variables(""), "/task-root/t"},
		{"bob", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:$t"}`, "! denied: task $t: bob is not one of its actors"},
		{"", "see", "/ws/a/comment", "state", "pending"},
		{"bob", "Comment.Moderate", "/ws/a", `{"accept": true}`, "! invalid taskDocument: variable taskDocument: does not hold a task"},
		{"", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:/ws/a"}`, "! invalid taskDocument: variable taskDocument: does not hold a task"},
		{"", "Comment.Moderate", "/ws/a", `{} {"taskDocument": "doc:$t"}`, `! invalid missing_parameter accept: parameter "accept" is missing`},
		{"alice", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:$t"}`, "/ws/a"},
		{"", "see", "/ws/a/comment", "state", "published"},
		{"", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:$t"}`, "! conflict: document /ws/a/comment: transition moderation_publish is not allowed in state published"},
		{"", "Comment.Moderate", "/ws/a", `{"accept": false} {"taskDocument": "doc:$t"}`, "/ws/a"},
		{"", "see", "/ws/a/comment", "state", "rejected"},

		// What an ended task was ended with is also carried out as its initiator, and nothing else.
		{"admin", "Document.Update", "/task-root/t", variables(ended), "/task-root/t"},
		{"", "Document.FollowLifecycleTransition", "/task-root/t", `{"value": "end"}`, "/task-root/t"},
		{"alice", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:$t"}`, "/ws/a"},
		{"bob", "Comment.Moderate", "/ws/a", `{"accept": true} {"taskDocument": "doc:$t"}`, "! denied: task $t: bob is not one of its actors"},
		{"", "Comment.Moderate", "/ws/a", `{"accept": false} {"taskDocument": "doc:$t"}`, "/ws/a"},
		{"", "see", "/ws/a/comment", "state", "rejected"},
	})
}
