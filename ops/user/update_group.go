package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var updateGroup = engine.Op{
	Name:     "Group.Update",
	Label:    "Update Group",
	Category: "Users & Groups",
	Doc:      "Changes the given fields of a group and returns it; omitted member lists are unchanged. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(updateGroupParams.run),
}

type updateGroupParams struct {
	Name  string         `json:"name" doc:"Name of the group."`
	Group map[string]any `json:"group" type:"object" doc:"The group, with the changed fields."`
}

func (p updateGroupParams) run(c *engine.Ctx, _ engine.Void) (*people.Group, error) {
	if err := mayEdit(c); err != nil {
		return nil, err
	}
	g, err := people.LookupGroup(c.Tx, p.Name)
	if err != nil {
		return nil, err
	}
	// Names are identities: access control lists and memberships refer to them. The platform
	// ignores another name silently.
	if name := groupName(p.Group); name != "" && name != p.Name {
		return nil, fault.Invalid.Errorf("group %s: cannot be renamed to %s", p.Name, name).In("groupname")
	}
	return writeGroup(c, g, p.Group, false)
}
