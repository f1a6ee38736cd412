package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
)

// grant gives somebody a permission on a document, takes all of a user's away, or ends or renews inheritance.
type grant struct {
	plain
	id, what, user, permission string
}

// What a grant does.
const (
	grantIt  = "AddPermission"
	revokeIt = "RemovePermission"
	block    = "BlockPermissionInheritance"
	unblock  = "UnblockPermissionInheritance"
)

func (a *grant) String() string {
	return fmt.Sprintf("%s %s %s %s", a.what, a.id, a.user, a.permission)
}

func (a *grant) request() (string, string, map[string]any) {
	switch a.what {
	case grantIt:
		return "Document." + a.what, a.id, map[string]any{"username": a.user, "permission": a.permission}
	case revokeIt:
		return "Document." + a.what, a.id, map[string]any{"user": a.user}
	}
	return "Document." + a.what, a.id, nil
}

func (a *grant) expect(m *model, by *person) answer {
	known := m.people[a.user] != nil || a.user == "" || strings.HasPrefix(a.user, "group")
	return when(m.docs[a.id] != nil && (known || a.what != grantIt) && m.edits(by, a.id, "WriteSecurity"))
}

func (a *grant) apply(m *model, by *person) error {
	d := m.docs[a.id]
	d.entries = m.current(d.entries)
	switch a.what {
	case grantIt:
		m.add(d, a.user, a.permission, by)
	case revokeIt:
		kept := d.entries[:0]
		for _, e := range d.entries {
			if e.user != a.user {
				kept = append(kept, e)
			}
		}
		d.entries = kept
	case block:
		if !d.blocked {
			m.add(d, by.name, "Everything", by)
			d.blocked = true
		}
	case unblock:
		d.blocked = false
	}
	return nil
}

// add adds an entry, unless it is there.
func (m *model) add(d *document, user, permission string, by *person) {
	e := entry{user: user, permission: permission, creator: by.name}
	if p := m.people[user]; p != nil {
		e.number = p.number
	}
	for _, have := range d.entries {
		if have == e {
			return
		}
	}
	d.entries = append(d.entries, e)
}

// attach gives a document a file.
type attach struct {
	plain
	id      string
	content []byte
}

func (a *attach) digest() string {
	sum := sha256.Sum256(a.content)
	return hex.EncodeToString(sum[:])
}

func (a *attach) String() string {
	return fmt.Sprintf("file of %d bytes, %.8s, on %s", len(a.content), a.digest(), a.id)
}

func (a *attach) request() (string, string, map[string]any) {
	return "Blob.AttachOnDocument", "", map[string]any{"document": a.id}
}

func (a *attach) file() *engine.Blob {
	return engine.NewBlob("file.bin", "application/octet-stream", a.content)
}

func (a *attach) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	return when(d != nil && d.typ == "File" && m.edits(by, a.id, "WriteProperties"))
}

func (a *attach) apply(m *model, by *person) error {
	if d := m.docs[a.id]; d.digest != a.digest() {
		m.saved(d, by)
		d.digest = a.digest()
		m.files[d.digest] = true
	}
	return nil
}

// fetch reads the file of a document.
type fetch struct {
	id     string
	digest string
}

func (a *fetch) String() string { return "read file of " + a.id }

func (a *fetch) request() (string, string, map[string]any) { return "Document.GetBlob", a.id, nil }

func (a *fetch) seen(_ *engine.Ctx, v any) error {
	data, err := v.(*engine.Blob).Bytes(1 << 20)
	if err != nil || len(data) == 0 {
		a.digest = ""
		return err
	}
	a.digest = (&attach{content: data}).digest()
	return nil
}

func (a *fetch) expect(m *model, by *person) answer {
	return when(m.docs[a.id] != nil && m.may(by, a.id, "Read"))
}

func (a *fetch) apply(m *model, _ *person) error {
	if want := m.docs[a.id].digest; a.digest != want {
		return fmt.Errorf("content %.8s instead of %.8s", a.digest, want)
	}
	return nil
}

// start starts a review of a document, which waits for its initiator.
type start struct{ id, instance, task string }

func (a *start) String() string { return "review of " + a.id }

func (a *start) request() (string, string, map[string]any) {
	return "Workflow.Start", a.id, map[string]any{"workflow": map[string]any{"workflowModelName": "SerialDocumentReview"}}
}

func (a *start) seen(c *engine.Ctx, v any) error {
	a.instance = v.(*workflow.Instance).ID()
	tasks, err := workflow.Tasks(c.Tx.As(c.Tx.Repo().System()), workflow.Filter{Instance: a.instance}, storage.PageOptions{CountLimit: -1})
	if err == nil && len(tasks.Docs) != 1 {
		err = fmt.Errorf("%d tasks", len(tasks.Docs))
	}
	if err == nil {
		a.task = tasks.Docs[0].ID()
	}
	return err
}

func (a *start) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	return when(d != nil && m.may(by, a.id, "Read") && m.may(by, a.id, "ManageWorkflows"))
}

func (a *start) apply(m *model, by *person) error {
	m.reviews[a.instance] = &review{task: a.task, doc: a.id, initiator: by.number}
	return nil
}

// finish cancels a review, which its initiator is asked about.
type finish struct {
	plain
	instance, task string
}

func (a *finish) String() string { return "cancel review " + a.instance }

func (a *finish) request() (string, string, map[string]any) {
	return "Task.End", "", map[string]any{"taskId": a.task, "action": "cancel"}
}

func (a *finish) expect(m *model, by *person) answer {
	r := m.reviews[a.instance]
	switch {
	case r == nil || r.over || !by.admin() && by.number != r.initiator:
		return refused
	case m.docs[r.doc] == nil || by.admin():
		return either
	}
	return granted
}

func (a *finish) apply(m *model, _ *person) error {
	m.reviews[a.instance].over = true
	return nil
}
