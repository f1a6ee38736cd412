package user

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// saveUser is for administrators only, as in the platform, where it is bound to them by default.
// User.Update is the operation for power users.
var saveUser = engine.Op{
	Name:     "User.CreateOrUpdate",
	Aliases:  []string{"Services.CreateUser"},
	Label:    "Create or Update User",
	Category: "Users & Groups",
	Doc: "Creates or changes a user, and returns the input. Omitted fields are unchanged; an empty text in properties clears a field. " +
		"In addition to the user's fields, properties accepts those of the deck account: accountType, billingPeriod, teamId, teamRole, description, " +
		"thumbnailUrl, websiteUrl and twitterHandle.",
	Callers: engine.Admins,
	Run:     engine.On(saveUserParams.run),
}

type saveUserParams struct {
	Username   string        `json:"username" blamed:"name" doc:"Name of the user."`
	Company    string        `json:"company,omitzero" doc:"Company."`
	Email      string        `json:"email,omitzero" doc:"Address."`
	FirstName  string        `json:"firstName,omitzero" doc:"First name."`
	Groups     []string      `json:"groups,omitzero" doc:"All groups that directly contain the user."`
	LastName   string        `json:"lastName,omitzero" doc:"Last name."`
	Mode       string        `json:"mode,omitzero" enum:"createOrUpdate,create,update" doc:"Whether the user may already exist, or must exist."`
	Password   string        `json:"password,omitzero" secret:"true" doc:"The password."`
	Properties storage.Props `json:"properties,omitzero" doc:"Other fields by name."`
	Tenant     string        `json:"tenantId,omitzero" doc:"Must be empty: there is only one tenant."`
}

func (p saveUserParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Tenant != "" {
		return engine.Void{}, fault.Invalid.Errorf("tenantId: there are no tenants").In("tenantId")
	}
	u, err := people.Lookup(c.Tx, p.Username)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return engine.Void{}, err
	}
	if err := checkMode(p.Mode, err == nil, "user", p.Username); err != nil {
		return engine.Void{}, err
	}
	if err != nil {
		u = &people.User{Username: p.Username}
	}
	// In order, so that of two names of a field the same one always counts.
	for _, xpath := range slices.Sorted(maps.Keys(p.Properties)) {
		if err := setField(u, xpath, p.Properties[xpath]); err != nil {
			return engine.Void{}, err
		}
	}
	// These take precedence over properties, and an empty text counts as omitted.
	for into, given := range map[*string]string{&u.Company: p.Company, &u.Email: p.Email, &u.FirstName: p.FirstName, &u.LastName: p.LastName} {
		if given != "" {
			*into = given
		}
	}
	if p.Groups != nil {
		u.Groups = p.Groups
	}
	// An empty password leaves the old one.
	return engine.Void{}, people.SaveUser(c.Tx, u, p.Password)
}
