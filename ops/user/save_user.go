package user

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var saveUser = engine.Op{
	Name:     "User.CreateOrUpdate",
	Aliases:  []string{"Services.CreateUser"},
	Label:    "Create or Update User",
	Category: "Users & Groups",
	Doc: "Creates a user or changes one, and keeps the input. What is not given stays as it is; an empty text in properties clears a field. " +
		"Besides the user's fields properties takes those of the deck account: accountType, billingPeriod, teamId, teamRole, description, " +
		"thumbnailUrl, websiteUrl and twitterHandle.",
	Run: engine.On(saveUserParams.run),
}

type saveUserParams struct {
	Username   string        `json:"username" doc:"Name of the user."`
	Company    string        `json:"company,omitzero" doc:"Company."`
	Email      string        `json:"email,omitzero" doc:"Address."`
	FirstName  string        `json:"firstName,omitzero" doc:"First name."`
	Groups     []string      `json:"groups,omitzero" doc:"All groups the user is in directly."`
	LastName   string        `json:"lastName,omitzero" doc:"Last name."`
	Mode       string        `json:"mode,omitzero" enum:"createOrUpdate,create,update" doc:"Whether the user may exist already, or has to."`
	Password   string        `json:"password,omitzero" secret:"true" doc:"The password."`
	Properties storage.Props `json:"properties,omitzero" doc:"Further fields by name."`
	Tenant     string        `json:"tenantId,omitzero" doc:"There is one tenant only: not to be given."`
}

func (p saveUserParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Tenant != "" {
		return engine.Void{}, fault.Invalid.Errorf("tenantId: there are no tenants").In("tenantId")
	}
	u, err := c.Tx.User(p.Username)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return engine.Void{}, err
	}
	if err := checkMode(p.Mode, err == nil, "user", p.Username); err != nil {
		return engine.Void{}, err
	}
	if err != nil {
		u = &storage.User{Username: p.Username}
	}
	for xpath, v := range p.Properties {
		if err := setField(u, xpath, v); err != nil {
			return engine.Void{}, err
		}
	}
	for into, given := range map[*string]string{&u.Company: p.Company, &u.Email: p.Email, &u.FirstName: p.FirstName, &u.LastName: p.LastName} {
		if given != "" {
			*into = given
		}
	}
	if p.Groups != nil {
		u.Groups = p.Groups
	}
	return engine.Void{}, c.Tx.SaveUser(u, p.Password)
}
