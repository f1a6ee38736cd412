package mail

import (
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// TellOfPermission sends a message to whom an entry of a document's permissions is for.
func TellOfPermission(tx *storage.Tx, d *storage.Doc, e storage.ACE) error {
	to := "user:" + e.User
	if !strings.HasPrefix(e.User, "transient/") {
		if _, err := people.Lookup(tx, e.User); fault.Is(err, fault.NotFound) {
			to = "group:" + e.User
		} else if err != nil {
			return err
		}
	}
	data := map[string]any{
		"user": tx.Actor(), "permission": e.Permission, "comment": e.Comment, "id": d.ID(), "path": d.Path(), "title": d.Title(),
	}
	if !e.Begin.IsZero() {
		data["begin"] = e.Begin.Format(time.DateOnly)
	}
	if !e.End.IsZero() {
		data["end"] = e.End.Format(time.DateOnly)
	}
	_, err := Send(tx, Mail{To: []string{to}, Template: "permission", Data: data})
	return err
}
