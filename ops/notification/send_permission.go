package notification

import (
	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/fault"
)

var sendPermission = engine.Op{
	Name:     "Document.SendNotificationEmailForPermission",
	Label:    "Send the notification email for a permission",
	Category: "Document",
	Doc:      "Sends the notification about a permission on the document again, by mail to its holder, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(permissionParams.run),
}

type permissionParams struct {
	ID string `json:"id" doc:"Identifier of the entry: user:permission:granted:creator:begin:end."`
}

func (p permissionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	lists, err := c.Tx.ACLs(d)
	if err != nil {
		return nil, err
	}
	if !c.Tx.Can(d, "WriteSecurity") {
		return nil, fault.Denied.Errorf("Privilege 'WriteSecurity' is not granted to '%s'", c.As.Name)
	}
	for _, list := range lists {
		for _, e := range list.Entries {
			if e.ID() == p.ID {
				return d, mail.TellOfPermission(c.Tx, d, e)
			}
		}
	}
	return nil, fault.NotFound.Errorf("permission %s", p.ID).In("id")
}
