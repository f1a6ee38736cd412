package user

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// saveGroup is for administrators only, as in the platform, where it is bound to them by default.
var saveGroup = engine.Op{
	Name:     "Group.CreateOrUpdate",
	Label:    "Create or Update Group",
	Category: "Users & Groups",
	Doc:      "Creates or changes a group, and returns the input. Omitted fields are unchanged.",
	Callers:  engine.Admins,
	Run:      engine.On(saveGroupParams.run),
}

type saveGroupParams struct {
	Name        string        `json:"groupname" doc:"Name of the group."`
	Description string        `json:"description,omitzero" doc:"Description of the group."`
	Label       string        `json:"grouplabel,omitzero" doc:"Label of the group."`
	Members     []string      `json:"members,omitzero" doc:"All direct user members of the group."`
	Mode        string        `json:"mode,omitzero" enum:"createOrUpdate,create,update" doc:"Whether the group may already exist, or must exist."`
	Parents     []string      `json:"parentGroups,omitzero" doc:"All groups that directly contain the group."`
	Properties  storage.Props `json:"properties,omitzero" doc:"Other fields by name: grouplabel, description."`
	Subgroups   []string      `json:"subGroups,omitzero" doc:"All groups that the group directly contains."`
	Tenant      string        `json:"tenantId,omitzero" doc:"Must be empty: there is only one tenant."`
}

func (p saveGroupParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Tenant != "" {
		return engine.Void{}, fault.Invalid.Errorf("tenantId: there are no tenants").In("tenantId")
	}
	if p.Name == "" { // people calls the field name
		return engine.Void{}, fault.Invalid.Errorf("Group MUST have a name").In("groupname")
	}
	g, err := people.LookupGroup(c.Tx, p.Name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return engine.Void{}, err
	}
	if err := checkMode(p.Mode, err == nil, "group", p.Name); err != nil {
		return engine.Void{}, err
	}
	if err != nil {
		g = &people.Group{Name: p.Name}
	}
	if err := p.set(g); err != nil {
		return engine.Void{}, err
	}
	if err := people.SaveGroup(c.Tx, g); err != nil || p.Parents == nil {
		return engine.Void{}, err
	}
	return engine.Void{}, p.into(c)
}

func (p saveGroupParams) set(g *people.Group) error {
	// In order, so that of two names of a field the same one always counts.
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		text := expr.Text(p.Properties[name])
		switch strings.TrimPrefix(name, "group:") {
		case "grouplabel":
			g.Label = text
		case "description":
			g.Description = text
		default:
			return fault.Invalid.Errorf("properties: groups have no field %q%s", name, fault.Perhaps(name, slices.Values([]string{"grouplabel", "description"}))).In("properties")
		}
	}
	// A parameter of its own takes precedence over the property of the same name. It cannot clear a
	// field, which only an empty property does.
	if p.Label != "" {
		g.Label = p.Label
	}
	if p.Description != "" {
		g.Description = p.Description
	}
	// nil, an omitted list, leaves the members; an empty list removes them.
	if p.Members != nil {
		g.Users = p.Members
	}
	if p.Subgroups != nil {
		g.Groups = p.Subgroups
	}
	return nil
}

// into makes the group a member of the groups given and of no others.
func (p saveGroupParams) into(c *engine.Ctx) error {
	// Each parent is saved by itself, with its own check: a power user may not put a group into one
	// that leads to the administrators.
	now, err := people.GroupsOf(c.Tx, p.Name)
	if err != nil {
		return err
	}
	for _, name := range append(slices.Clone(now), p.Parents...) {
		wanted := slices.Contains(p.Parents, name)
		if wanted == slices.Contains(now, name) {
			continue
		}
		g, err := people.LookupGroup(c.Tx, name)
		if err != nil {
			return err
		}
		g.Groups = slices.DeleteFunc(g.Groups, func(sub string) bool { return sub == p.Name })
		if wanted {
			g.Groups = append(g.Groups, p.Name)
		}
		if err := people.SaveGroup(c.Tx, g); err != nil {
			return err
		}
	}
	return nil
}
