package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/people"
)

var setAccount = engine.Op{
	Name:     "User.SetAccount",
	Label:    "Set Account",
	Category: "Users & Groups",
	Doc: "Sets the type and the billing period of a user's deck account, and returns both. The accounts of team members are " +
		"managed by the team: see Team.SetMember.",
	Callers: engine.Admins,
	Result:  openapi.Fields("username type billingPeriod", true),
	Run:     engine.On(setAccountParams.run).As("void", "object"),
}

type setAccountParams struct {
	Username string `json:"username" doc:"Name of the user."`
	Type     string `json:"type" enum:"free,lite,pro" doc:"Type of the account: free, lite or pro."`
	Period   string `json:"billingPeriod,omitzero" enum:"none,monthly,yearly" doc:"Billing period; none for free accounts, otherwise unchanged by default."`
}

func (p setAccountParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	u, err := people.Lookup(c.Tx, p.Username)
	if err != nil {
		return nil, err
	}
	// Otherwise the next change of the team would silently undo this one.
	if u.TeamID != 0 {
		return nil, fault.Conflict.Errorf("user %s: is in team %d, which manages its members' accounts", p.Username, u.TeamID)
	}
	// No password is given to SaveUser below, so it stays.
	u.AccountType, u.BillingPeriod = p.Type, cmp.Or(p.Period, u.BillingPeriod, "none")
	switch {
	case p.Type != "free":
	case p.Period != "" && p.Period != "none":
		return nil, fault.Invalid.Errorf("billingPeriod: free accounts are not billed").In("billingPeriod")
	default:
		u.BillingPeriod = "none"
	}
	if err := people.SaveUser(c.Tx, u, ""); err != nil {
		return nil, err
	}
	return map[string]any{"username": u.Username, "type": u.AccountType, "billingPeriod": u.BillingPeriod}, nil
}
