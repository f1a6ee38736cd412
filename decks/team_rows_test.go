package decks

import (
	"fmt"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage/people"
)

// table is the deck operations for tables of rows, with the users carol, dave and erin besides alice and bob.
func table(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, Ops())
	Listen(s.Repo)
	s.Do("Administrator", func(c *engine.Ctx) error {
		for _, name := range []string{"carol", "dave", "erin"} {
			if err := people.SaveUser(c.Tx, &people.User{Username: name}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// plan gives a user a plan.
func plan(s *opstest.Engine, user, account string) {
	s.Do("Administrator", func(c *engine.Ctx) error {
		u, err := people.Lookup(c.Tx, user)
		if err == nil {
			u.AccountType = account
			err = people.SaveUser(c.Tx, u, "")
		}
		return err
	})
}

// teamed is a team of alice, who owns it, carol, an admin, and bob, a member; dave and erin are in none.
func teamed(t *testing.T) *opstest.Engine {
	t.Helper()
	s := table(t)
	s.Play([]opstest.Row{
		{"admin", "Team.Create", "", `{"name": "One", "owner": "alice", "billing_period": "monthly"}`, `…"members":[{…"role":"owner","username":"alice"}]…`},
		{"", "Team.SetMember", "", `{"id": 1, "username": "carol", "role": "admin"}`, `…"role":"admin","username":"carol"…`},
		{"", "Team.SetMember", "", `{"id": 1, "username": "bob"}`, `…"role":"member","username":"bob"…`},
	})
	return s
}

// TestTeamRoles has every operation on a team called by every role.
func TestTeamRoles(t *testing.T) {
	const ok, absent, unknown, denied = `{"entity-type":"map","value":{"data":…`, "! notfound: team 1: does not exist", "! notfound unknown_operation: operation …", "! denied…"
	s := teamed(t)
	for _, row := range []struct {
		op, params                           string
		admin, owner, lead, member, outsider string
	}{
		{"Team.Get", `{"id": 1}`, ok, ok, ok, absent, absent},
		{"Team.Update", `{"id": 1, "name": "Two"}`, ok, ok, ok, absent, absent},
		{"Team.Update", `{"id": 1, "slug": "two"}`, ok, ok, ok, absent, absent},
		{"Team.Update", `{"id": 1, "billing_period": "monthly"}`, ok, ok, ok, absent, absent},
		{"Team.Update", `{"id": 1, "billing_period": "yearly"}`, ok, "! denied billing_period: billing_period: …", "! denied billing_period: …", absent, absent},
		{"Team.SetMember", `{"id": 1, "username": "bob", "role": "admin"}`, ok, ok, ok, absent, absent},
		{"Team.SetMember", `{"id": 1, "username": "bob", "role": "owner"}`, ok, ok, "! denied team_role_required: …only its owner may transfer it", absent, absent},
		{"Team.SetMember", `{"id": 1, "username": "alice", "role": "member"}`, ok, ok, "! denied team_role_required: …", absent, absent},
		{"Team.SetMember", `{"id": 1, "username": "erin"}`, ok, "! denied: user erin: …", "! denied: user erin: …", absent, absent},
		{"Team.RemoveMember", `{"id": 1, "username": "bob"}`, ok, ok, ok, absent, absent},
		{"Team.RemoveMember", `{"id": 1, "username": "carol"}`, ok, ok, ok, absent, absent},
		{"Team.RemoveMember", `{"id": 1, "username": "alice"}`, ok, ok, "! denied team_role_required: …", absent, absent},
		{"Team.RemoveMember", `{"id": 1, "username": "erin"}`, "! notfound: user erin: is not in team 1", "! notfound: user erin: …", "! notfound: user erin: …", absent, absent},
		{"Team.List", `{}`, ok, unknown, unknown, unknown, unknown},
		{"Team.Create", `{"name": "Two"}`, ok, unknown, unknown, unknown, unknown},
		{"Deck.ListTeam", `{}`, denied, ok, ok, "! denied team_role_required: …", "! denied team_role_required: …"},
		{"Deck.GetTeam", `{"id": 1}`, denied, "! notfound: deck 1: …", "! notfound: deck 1: …", denied, denied},
		{"Team.Delete", `{"id": 1}`, ok, unknown, unknown, unknown, unknown},
	} {
		for _, call := range [][2]string{{"dave", row.outsider}, {"bob", row.member}, {"carol", row.lead}, {"alice", row.owner}, {"admin", row.admin}} {
			s.Play([]opstest.Row{{call[0], row.op, "", row.params, call[1]}})
			for _, again := range []string{`"username": "alice", "role": "owner"`, `"username": "carol", "role": "admin"`, `"username": "bob"`} {
				s.Call("admin", "Team.SetMember", "", `{"id": 1, `+again+`}`)
			}
			s.Call("admin", "Team.RemoveMember", "", `{"id": 1, "username": "erin"}`)
		}
	}
}

// TestTeamOwner passes a team on: it has one owner at most, and may have none.
func TestTeamOwner(t *testing.T) {
	teamed(t).Play([]opstest.Row{
		{"alice", "Team.SetMember", "", `{"id": 1, "username": "bob", "role": "owner"}`, `…"role":"admin","username":"alice"…"role":"owner","username":"bob"…`},
		{"", "Team.SetMember", "", `{"id": 1, "username": "alice", "role": "owner"}`, "! denied team_role_required: team 1: only its owner may transfer it"},
		{"", "Team.RemoveMember", "", `{"id": 1, "username": "bob"}`, "! denied team_role_required: …"},
		{"bob", "Team.SetMember", "", `{"id": 1, "username": "bob", "role": "owner"}`, `…"role":"owner","username":"bob"…`},
		{"", "Team.RemoveMember", "", `{"id": 1, "username": "bob"}`, `…"members":[{…"alice"…"carol"}]…`},
		{"", "Team.Get", "", `{"id": 1}`, "! notfound: team 1: does not exist"},
		{"", "Deck.Account", "", "", `…"account":{"billing_period":"none","type":"free"}…"team":null…`},
		// A team without an owner is led by its admins, who cannot make one of them its owner.
		{"carol", "Team.SetMember", "", `{"id": 1, "username": "carol", "role": "owner"}`, "! denied team_role_required: …"},
		{"", "Team.Update", "", `{"id": 1, "name": "Orphan"}`, `…"name":"Orphan"…`},
		{"admin", "Team.SetMember", "", `{"id": 1, "username": "carol", "role": "owner"}`, `…"role":"owner","username":"carol"…`},
		{"", "Team.SetMember", "", `{"id": 1, "username": "carol", "role": "member"}`, `…"role":"member","username":"carol"…`},
		{"carol", "Team.Get", "", `{"id": 1}`, "! notfound: team 1: does not exist"},
	})
}

// TestTeamFields has names, slugs and periods at and beyond their bounds.
func TestTeamFields(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("%0*d", n, 7) }
	s := teamed(t)
	s.Play([]opstest.Row{
		{"admin", "Team.Create", "", `{"name": ""}`, "! invalid invalid_value name: name: has 0 characters…"},
		{"", "Team.Create", "", `{"name": "  "}`, "! invalid invalid_value name: …"},
		{"", "Team.Create", "", `{"name": "a\nb"}`, "! invalid invalid_value name: …"},
		{"", "Team.Create", "", `{"name": "` + long(200) + `"}`, `…"name":"` + long(200) + `"…`},
		{"", "Team.Create", "", `{"name": "` + long(201) + `"}`, "! invalid invalid_value name: name: has 201 characters, must have 1 to 200…"},
		{"", "Team.Create", "", `{"name": "x", "billing_period": "weekly"}`, `! invalid…"weekly" is not one of none, monthly, yearly`},
		{"", "Team.Create", "", `{"name": "x", "slug": "One"}`, `! exists slug: slug "One": is taken or invalid; one-2 is available`},
		{"", "Team.Create", "", `{"name": "x", "slug": "a b"}`, `! exists slug: slug "a b": is taken or invalid; a-b is available`},
		{"", "Team.Create", "", `{"name": "x", "slug": "a-b"}`, `…"slug":"a-b"…`},
		{"", "Team.Create", "", `{"name": "x", "owner": "nobody"}`, "! notfound: user does not exist: nobody"},
		{"", "Team.Create", "", `{"name": "x", "owner": "bob"}`, "! conflict: user bob: is already in team 1"},
		{"", "Team.Create", "", `{"name": "One"}`, `…"slug":"one-2"…`},
		{"", "Team.Create", "", `{"name": "one!"}`, `…"slug":"one-3"…`},
		{"", "Team.Update", "", `{"id": 1, "slug": "one-3"}`, `! exists slug: slug "one-3": …`},
		{"", "Team.Update", "", `{"id": 1, "slug": "one"}`, `…"slug":"one"…`},
		{"", "Team.Update", "", `{"id": 1, "slug": "uno"}`, `…"slug":"uno"…`},
		{"", "Team.Create", "", `{"name": "Next", "slug": "one"}`, `…"slug":"one"…`},
		{"", "Team.Update", "", `{"id": 1, "slug": "one"}`, `! exists slug: …`},
		{"", "Team.Update", "", `{"id": 1, "name": "Uno"}`, `…"name":"Uno","slug":"uno"…`},
		{"", "Team.Update", "", `{"id": 1, "name": "a\u0000b"}`, "! invalid invalid_value name: …"},
		{"", "Team.Update", "", `{"id": 1, "thumbnail_url": "https://x.example/p.png"}`, `…"thumbnail_url":"https://x.example/p.png"…`},
		{"", "Team.Update", "", `{"id": 1}`, `…"thumbnail_url":"https://x.example/p.png"…`},
		{"", "Team.Update", "", `{"id": 1, "thumbnail_url": ""}`, `…"thumbnail_url":""…`},
		{"", "Team.Update", "", `{"id": 99, "name": "x"}`, "! notfound: team 99: does not exist"},
		{"", "Team.Update", "", `{"id": 1, "billing_period": "yearly"}`, `…"billing_period":"yearly"…`},
		{"bob", "Deck.Account", "", "", `…"account":{"billing_period":"yearly","type":"team"}…"name":"Uno","role":"member","slug":"uno"…`},
		{"admin", "Team.SetMember", "", `{"id": 1, "username": "nobody"}`, "! notfound: user does not exist: nobody"},
		{"", "Team.SetMember", "", `{"id": 1, "username": ""}`, "! …"},
		{"", "Team.SetMember", "", `{"id": -1, "username": "bob"}`, "! notfound: team -1: does not exist"},
		{"", "Team.Delete", "", `{"id": 0}`, "! notfound: team 0: does not exist"},
	})
}

// TestTeamEnds deletes a team: its members and their decks are on their own, and its slug is free again.
func TestTeamEnds(t *testing.T) {
	s := teamed(t)
	s.Play([]opstest.Row{
		{"bob", "Deck.Create", "", `{"title": "For us", "visibility": "team"}`, `…"visibility":"team"…`},
		{"", "Deck.Create", "", `{"title": "For all", "visibility": "all"}`, `…"visibility":"all"…`},
		{"", "Deck.Create", "", `{"title": "For me"}`, `…"visibility":"self"…`},
		{"carol", "Deck.View", "", `{"username": "bob", "slug": "for-us"}`, `…"editable":false…`},
		{"", "Deck.ListTeam", "", `{"revision": "A"}`, `…"title":"For all"…"title":"For us"…"total":2}}}`},
		{"", "Deck.GetTeam", "", `{"id": 1}`, `…"title":"For us"…`},
		{"", "Deck.GetTeam", "", `{"id": 3}`, `! notfound: deck 3: does not exist`},
		{"dave", "Deck.View", "", `{"username": "bob", "slug": "for-us"}`, `! notfound: …`},
		{"admin", "Team.Delete", "", `{"id": 1}`, `…"data":{"deleted":true,"id":1}}}`},
		{"", "Team.Get", "", `{"id": 1}`, "! notfound: team 1: does not exist"},
		{"", "Team.SetMember", "", `{"id": 1, "username": "dave"}`, "! notfound: team 1: does not exist"},
		{"carol", "Deck.View", "", `{"username": "bob", "slug": "for-us"}`, `! notfound: …`},
		{"", "Deck.ListTeam", "", `{}`, `! denied team_role_required: …`},
		{"", "Deck.Account", "", "", `…"account":{"billing_period":"none","type":"free"}…`},
		{"bob", "Deck.Get", "", `{"id": 1}`, `…"visibility":"self"…`},
		{"", "Deck.Get", "", `{"id": 2}`, `…"visibility":"all"…`},
		{"", "Deck.Update", "", `{"id": 1, "visibility": "team"}`, `! …`},
		{"admin", "Team.Create", "", `{"name": "One", "owner": "bob"}`, `…"id":2,…"slug":"one"…`},
		// What was shared with the team of before stays private in the next.
		{"bob", "Deck.ListTeam", "", `{"revision": "A"}`, `…"title":"For all"…"total":1}}}`},
		{"carol", "Deck.View", "", `{"username": "bob", "slug": "for-us"}`, `! notfound: …`},
	})
}

// TestTeamTrash keeps decks in the trash out of a team's list, and private when their owner leaves meanwhile.
func TestTeamTrash(t *testing.T) {
	teamed(t).Play([]opstest.Row{
		{"bob", "Deck.Create", "", `{"title": "T", "visibility": "team"}`, `…"visibility":"team"…`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"total":1}}}`},
		{"bob", "Deck.Trash", "", `{"id": 1}`, `{…`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"data":[],…"total":0}}}`},
		{"", "Deck.GetTeam", "", `{"id": 1}`, `! notfound: deck 1: does not exist`},
		{"carol", "Deck.View", "", `{"username": "bob", "slug": "t"}`, `! notfound: …`},
		{"bob", "Deck.Recover", "", `{"id": 1}`, `{…`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"total":1}}}`},
		{"bob", "Deck.Trash", "", `{"id": 1}`, `{…`},
		{"alice", "Team.RemoveMember", "", `{"id": 1, "username": "bob"}`, `{…`},
		{"bob", "Deck.Recover", "", `{"id": 1}`, `{…`},
		{"", "Deck.Get", "", `{"id": 1}`, `…"visibility":"self"…`},
		{"carol", "Deck.View", "", `{"username": "bob", "slug": "t"}`, `! notfound: …`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"data":[],…"total":0}}}`},
	})
}

// TestTeamGroupOnly: who is merely listed in the group of a team is no member: neither shown nor billed, and free to join another.
func TestTeamGroupOnly(t *testing.T) {
	s := teamed(t)
	s.Do("Administrator", func(c *engine.Ctx) error {
		u, err := people.Lookup(c.Tx, "erin")
		if err != nil {
			return err
		}
		u.AccountType, u.BillingPeriod, u.Groups = "pro", "monthly", append(u.Groups, "team-1")
		return people.SaveUser(c.Tx, u, "")
	})
	s.Play([]opstest.Row{
		{"bob", "Deck.Create", "", `{"title": "T", "visibility": "team"}`, `…"visibility":"team"…`},
		{"admin", "Team.Get", "", `{"id": 1}`, `…"members":[{…"alice"},{…"bob"},{…"carol"}],"name"…`},
		{"", "Team.Update", "", `{"id": 1, "billing_period": "yearly"}`, `…"billing_period":"yearly"…`},
		{"carol", "Deck.Account", "", "", `…"account":{"billing_period":"yearly","type":"team"}…`},
		{"erin", "Deck.Account", "", "", `…"account":{"billing_period":"monthly","type":"pro"}…"team":null…`},
		{"", "Team.Get", "", `{"id": 1}`, "! notfound: team 1: does not exist"},
		{"", "Deck.ListTeam", "", `{}`, "! denied team_role_required: …"},
		{"admin", "Team.RemoveMember", "", `{"id": 1, "username": "erin"}`, "! notfound: user erin: is not in team 1"},
		{"", "Team.Create", "", `{"name": "Two", "owner": "erin", "billing_period": "none"}`, `…"id":2,"members":[{…"role":"owner","username":"erin"}]…`},
		{"", "Team.Delete", "", `{"id": 1}`, `…"deleted":true…`},
		{"erin", "Deck.Account", "", "", `…"account":{"billing_period":"none","type":"team"}…"team":{"id":2,…"role":"owner"…`},
		{"carol", "Deck.Account", "", "", `…"type":"free"}…`},
	})
}

// TestTeamLimit: a team has five hundred members, and their roles still change.
func TestTeamLimit(t *testing.T) {
	s := teamed(t)
	s.Do("Administrator", func(c *engine.Ctx) error {
		for i := range 497 {
			u := &people.User{Username: fmt.Sprintf("m%d", i), TeamID: 1, TeamRole: "member", AccountType: "team", Groups: []string{"team-1"}}
			if err := people.SaveUser(c.Tx, u, ""); err != nil {
				return err
			}
		}
		return nil
	})
	s.Play([]opstest.Row{
		{"admin", "Team.SetMember", "", `{"id": 1, "username": "dave"}`, "! limit: team 1: has 500 members, limit 500"},
		{"", "Team.SetMember", "", `{"id": 1, "username": "m7", "role": "admin"}`, `…"role":"admin","username":"m7"…`},
		{"m7", "Team.RemoveMember", "", `{"id": 1, "username": "m8"}`, `…"members":[…`},
		{"admin", "Team.SetMember", "", `{"id": 1, "username": "dave"}`, `…"role":"member","username":"dave"…`},
		{"", "Team.SetMember", "", `{"id": 1, "username": "erin", "role": "owner"}`, "! limit: team 1: has 500 members, limit 500"},
		{"alice", "Team.Get", "", `{"id": 1}`, `…"role":"owner","username":"alice"…`},
	})
}

// TestTeamPages reads a team's list page by page, to its end and beyond.
func TestTeamPages(t *testing.T) {
	s := teamed(t)
	for i := range 5 {
		s.Call([]string{"bob", "carol"}[i%2], "Deck.Create", "", fmt.Sprintf(`{"title": "d%d", "visibility": %q}`, i+1, []string{"team", "all", "self"}[i%3]))
	}
	s.Play([]opstest.Row{
		{"alice", "Deck.ListTeam", "", `{"revision": "A"}`, `…"id":5,…"id":4,…"id":2,…"id":1,…"total":4}}}`},
		{"", "Deck.ListTeam", "", `{"per_page": 3}`, `…"id":5,…"id":4,…"id":2,…"page":1,"per_page":3,"total":4}}}`},
		{"", "Deck.ListTeam", "", `{"per_page": 3, "page": 2}`, `…"data":[{…"id":1,…}],"meta":{"page":2,"per_page":3,"total":4}}}`},
		{"", "Deck.ListTeam", "", `{"per_page": 3, "page": 3}`, `…"data":[],"meta":{"page":3,"per_page":3,"total":4}}}`},
		{"", "Deck.ListTeam", "", `{"page": 9223372036854775807}`, `…"data":[],…"total":4}}}`},
		{"", "Deck.ListTeam", "", `{"page": 0}`, "! invalid out_of_range page: …"},
		{"", "Deck.ListTeam", "", `{"per_page": 101}`, "! invalid out_of_range per_page: …"},
		{"", "Deck.ListTeam", "", `{"revision": "C"}`, "! invalid…"},
		{"bob", "Deck.Update", "", `{"id": 3, "visibility": "team"}`, `…"visibility":"team"…`},
		{"", "Deck.Update", "", `{"id": 5, "visibility": "self"}`, `…"visibility":"self"…`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"id":4,…"id":3,…"id":2,…"id":1,…"total":4}}}`},
		{"", "Deck.GetTeam", "", `{"id": 5}`, "! notfound: deck 5: does not exist"},
		{"", "Team.SetMember", "", `{"id": 1, "username": "carol", "role": "member"}`, `{…`},
		{"", "Team.RemoveMember", "", `{"id": 1, "username": "carol"}`, `{…`},
		{"", "Deck.ListTeam", "", `{}`, `…"id":3,…"id":1,…"total":2}}}`},
		{"admin", "Team.SetMember", "", `{"id": 1, "username": "carol"}`, `{…`},
		// The deck that was for everybody is listed again; the others became private.
		{"carol", "Deck.Update", "", `{"id": 4, "title": "d4 again"}`, `{…`},
		{"alice", "Deck.ListTeam", "", `{}`, `…"id":3,…"id":2,…"id":1,…"total":3}}}`},
		{"", "Deck.GetTeam", "", `{"id": 2}`, `…"title":"d2"…`},
	})
}
