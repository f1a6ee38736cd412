package notification_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/notification"
	"catena/ops/opstest"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, notification.Ops(notification.Config{}), document.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A"}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b"}`, "/ws/b"},
		{"", "keep", "/ws/a", "", "a"},
	})
	return s
}

func TestSubscribe(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.Subscribe", "/ws/a", ``, "/ws/a"},
		{"", "Document.Subscribe", "/ws/a", `{"notifications": "Comment,Move"}`, "/ws/a"},
		{"", "Document.Subscribe", "/ws/a", `{"notifications": ["Workflow Change"]}`, "/ws/a"},
		{"", "Document.Subscribe", "/ws/a", `{"notifications": ["Nope"]}`, `! invalid notifications: notification "Nope": must be one of Approval, Comment, Creation, Modification, Move, Publication, Removal, Workflow Change`},
		{"", "Document.Subscribe", "/ws/a", `{"notifications": ["comment"]}`, `! invalid notifications: notification "comment": must be one of Approval, Comment, Creation, Modification, Move, Publication, Removal, Workflow Change`},
		{"", "Document.Subscribe", "/ws/a", `{"notifications": []}`, "/ws/a"},
		{"", "Document.Subscribe", `["/ws/a", "/ws/b"]`, ``, "/ws/a /ws/b"},
		{"", "see", "/ws/a", "dc:modified", "2025-01-01T00:00:01Z"}, // is no change
		{"", "Document.Unsubscribe", "/ws/a", `{"notifications": ["Comment"]}`, "/ws/a"},
		{"", "Document.Unsubscribe", "/ws/a", ``, "/ws/a"},
		{"", "Document.Unsubscribe", "/ws/a", ``, "/ws/a"}, // again: nothing
		{"", "Document.Unsubscribe", "/ws/a", `{"notifications": ["Nope"]}`, `! invalid notifications: notification "Nope": must be one of Approval, Comment, Creation, Modification, Move, Publication, Removal, Workflow Change`},
		{"", "Document.Subscribe", "/private", ``, "! notfound: /private"},
		{"", "Document.Subscribe", "", ``, "! invalid input: input: is missing, must be of type document or documents"},
	})
}

func TestMailRefuses(t *testing.T) {
	s := serve(t)
	mail := func(more string) string {
		return `{"from": "a@example.org", "subject": "S", "message": "M"` + more + `}`
	}
	s.Play([]opstest.Row{
		{"alice", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org"`), "! notfound unknown_operation: operation Document.Mail: does not exist, perhaps Document.Move"}, // for administrators
		{"admin", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org"`), "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "not an address"`), `! invalid to: mail: "not an address" is not an email address`},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org\nBcc: c@example.org"`), `! invalid to: mail: "b@example.org\nBcc: c@example.org" is not an email address`},
		{"", "Document.Mail", "/ws/a", mail(``), "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "alice"`), `! invalid to: mail: "alice" is not an email address`}, // plain names only if not strict
		{"", "Document.Mail", "/ws/a", mail(`, "to": "user:nobody"`), "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "nobody", "Strict User Resolution": false`), `! notfound to: to: no user or group "nobody"`},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "nobody", "rollbackOnError": false`), "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org", "files": "dc:nope"`), "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org", "files": "file:content"`), "/ws/a"},
		{"", "Document.Mail", "/ws/a", `{"from": "a@example.org", "subject": "S", "message": "template:nope", "to": "b@example.org"}`, `! notfound message: mail: unknown template "nope"`},
		{"", "Document.Mail", "/ws/a", `{"from": "a@example.org", "subject": "S\nX: y", "message": "M", "to": "b@example.org"}`, "! invalid subject: mail: the subject contains control characters"},
		{"", "Document.Mail", "/ws/a", `{"from": "nonsense", "subject": "S", "message": "M", "to": "b@example.org"}`, `! invalid from: mail: "nonsense" is not an email address`},
		{"", "Document.Mail", "/ws/a", `{"from": "a@example.org", "subject": "S", "message": "${1/", "to": "b@example.org"}`, "/ws/a"},
		{"", "Document.Mail", "/ws/a", mail(`, "cc": "nonsense"`), `! invalid cc: mail: "nonsense" is not an email address`},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org", "bcc": "nonsense"`), `! invalid bcc: mail: "nonsense" is not an email address`},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org", "replyto": "nonsense"`), `! invalid replyto: mail: "nonsense" is not an email address`},
		{"", "Document.Mail", "/ws/a", mail(`, "to": "b@example.org", "cc": "nobody", "bcc": "none", "Strict User Resolution": false`), `! notfound cc: cc: no user or group "nobody"`},
		{"", "Document.Mail", "/ws/a", `{"subject": "S", "message": "M"}`, "/ws/a"},
	})
}

func TestPermissionMail(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Read"}`, "/ws/a"},
		{"", "Document.SendNotificationEmailForPermission", "/ws/a", `{"id": "bob:Read:true:alice::"}`, "/ws/a"},
		{"", "Document.SendNotificationEmailForPermission", "/ws/a", `{"id": "bob:Write:true:alice::"}`, "! notfound id: permission bob:Write:true:alice::"},
		{"", "Document.SendNotificationEmailForPermission", "/ws/a", `{"id": "nonsense"}`, "! notfound id: permission nonsense"},
		{"", "Document.SendNotificationEmailForPermission", "/ws/a", `{}`, `! invalid missing_parameter id: parameter "id" is missing`},
		{"bob", "Document.SendNotificationEmailForPermission", "/ws/a", `{"id": "bob:Read:true:alice::"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
	})
}
