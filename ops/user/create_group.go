package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var createGroup = engine.Op{
	Name:     "Group.Create",
	Label:    "Create Group",
	Category: "Users & Groups",
	Doc:      "Creates a group from an entity and returns it. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(createGroupParams.run),
}

type createGroupParams struct {
	Group map[string]any `json:"group" type:"object" blamed:"name=groupname" doc:"The group, with groupname, grouplabel, memberUsers, memberGroups and parentGroups."`
}

func (p createGroupParams) run(c *engine.Ctx, _ engine.Void) (*people.Group, error) {
	if !manages(c.As) {
		// The message is the platform's, and client programs compare it.
		return nil, fault.Denied.Errorf("Cannot create artifact")
	}
	name := groupName(p.Group)
	// Without a name the lookup reports a missing group, and SaveGroup refuses the empty name
	// afterwards.
	if _, err := people.LookupGroup(c.Tx, name); !fault.Is(err, fault.NotFound) {
		if err == nil {
			err = fault.Exists.Errorf("Group already exists")
		}
		return nil, err
	}
	return writeGroup(c, &people.Group{Name: name}, p.Group, true)
}

// writeGroup changes a group as an entity says and saves it.
// The group is saved before its parents, whose members would otherwise include a group that does
// not exist yet.
func writeGroup(c *engine.Ctx, g *people.Group, body map[string]any, fresh bool) (*people.Group, error) {
	parents, err := setGroup(g, body, fresh)
	if err != nil {
		return nil, err
	}
	if err := people.SaveGroup(c.Tx, g); err != nil {
		return nil, err
	}
	// An empty list takes the group out of all others; only a missing one leaves them.
	if parents != nil {
		if err := (saveGroupParams{Name: g.Name, Parents: parents}).into(c); err != nil {
			return nil, err
		}
	}
	return people.LookupGroup(c.Tx, g.Name)
}
