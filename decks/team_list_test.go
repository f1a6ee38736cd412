package decks

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/decks/deck"
	"catena/decks/listing"
	"catena/storage"
	"catena/storage/people"
)

// crowd is a team with decks, and what its list should have.
type crowd struct {
	*service
	decks map[int64]*crowdDeck
	team  map[string]int64 // of each user
	users []string
}

type crowdDeck struct {
	owner, visibility string
	trashed           bool
}

func newCrowd(t testing.TB, users int) *crowd {
	c := &crowd{newService(t), map[int64]*crowdDeck{}, map[string]int64{}, []string{"alice"}}
	c.admin("Team.Create", `{"name":"One"}`)
	c.admin("Team.Create", `{"name":"Two"}`)
	for i := range users + 1 {
		name := "alice"
		if i > 0 {
			name = fmt.Sprintf("user%d", i-1)
		}
		err := c.Repo().Update(context.Background(), c.System(), func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: name}, "")
		})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			c.users = append(c.users, name)
		}
	}
	return c
}

func (c *crowd) admin(op, params string) { c.do("Administrator", op, params) }

func (c *crowd) make(owner, visibility string) int64 {
	made := c.do(owner, "Deck.Create", fmt.Sprintf(`{"visibility":%q}`, visibility))
	id := made["data"].(map[string]any)["id"].(int64)
	c.decks[id] = &crowdDeck{owner: owner, visibility: visibility}
	return id
}

func (c *crowd) join(user string, team int64, role string) {
	if now := c.team[user]; now != 0 {
		c.admin("Team.RemoveMember", fmt.Sprintf(`{"id":%d,"username":%q}`, now, user))
		for _, d := range c.decks {
			if d.owner == user && d.visibility == "team" {
				d.visibility = "self"
			}
		}
	}
	if c.team[user] = team; team != 0 {
		c.admin("Team.SetMember", fmt.Sprintf(`{"id":%d,"username":%q,"role":%q}`, team, user, role))
	}
}

// want are the numbers of the decks that a team's list should have, the last first.
func (c *crowd) want(team int64) (ids []int64) {
	for id, d := range c.decks {
		if c.team[d.owner] == team && d.visibility != "self" && !d.trashed {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(b, a) })
	return ids
}

// check compares all pages of a team's list, and how far into the list each is walked to.
func (c *crowd) check(lead string, perPage int) {
	c.t.Helper()
	team := c.team[lead]
	want := c.want(team)
	c.lists(lead, "Deck.ListTeam", perPage, want)
	err := c.Repo().View(context.Background(), c.System(), func(tx *storage.Tx) error {
		l := listing.List{By: listing.ByTeam, Folder: deck.TeamGroup(team)}
		for offset := range int64(len(want)) {
			if _, rest, err := l.Seek(tx, int64(len(want)), offset); err != nil || rest > listing.MaxBlock+listing.SealEvery {
				return fmt.Errorf("offset %d: %d decks are walked over, %w", offset, rest, err)
			}
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
}

// TestTeamList compares every page of a team's list with the decks there are while people join,
// leave, share and trash.
func TestTeamList(t *testing.T) {
	c := newCrowd(t, 3)
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 600 { // before anybody but alice is in a team
		c.make(c.users[i%len(c.users)], []string{"all", "all", "self"}[i%3])
	}
	c.join("alice", 1, "owner")
	c.check("alice", 100)
	for _, user := range c.users[1:] {
		c.join(user, 1, "member")
	}
	c.check("alice", 100)
	for range 300 {
		c.make(c.users[rnd.IntN(len(c.users))], "team")
	}
	c.check("alice", 50)
	ids := make([]int64, 0, len(c.decks))
	for id := range c.decks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for round := range 3 {
		for range 100 {
			id := ids[rnd.IntN(len(ids))]
			switch d := c.decks[id]; {
			case d.trashed:
				c.do(d.owner, "Deck.Recover", fmt.Sprintf(`{"id":%d}`, id))
				d.trashed = false
			case rnd.IntN(2) == 0:
				c.do(d.owner, "Deck.Trash", fmt.Sprintf(`{"id":%d}`, id))
				d.trashed = true
			default:
				d.visibility = []string{"all", "self"}[rnd.IntN(2)]
				c.do(d.owner, "Deck.Update", fmt.Sprintf(`{"id":%d,"visibility":%q}`, id, d.visibility))
			}
		}
		c.check("alice", 70)
		c.join(c.users[1+round], []int64{2, 0, 2}[round], "owner")
		c.check("alice", 100)
		c.check("user0", 100)
	}
	c.admin("Team.Delete", `{"id":2}`)
	if _, err := c.try("user0", "Deck.ListTeam", `{}`); err == nil {
		t.Error("a team that has ended lists decks")
	}
	c.team["user0"], c.team["user2"] = 0, 0
	c.join("user0", 1, "member")
	c.check("alice", 100)
}

// TestTeamListOfOthers holds that what happens to a user besides the team's operations counts, and
// that a deck of another team does not exist.
func TestTeamListOfOthers(t *testing.T) {
	c := newCrowd(t, 2)
	c.join("alice", 1, "owner")
	c.join("user0", 1, "member")
	c.join("user1", 2, "owner")
	mine, theirs := c.make("user0", "team"), c.make("user1", "all")
	c.do("alice", "Deck.GetTeam", fmt.Sprintf(`{"id":%d}`, mine))
	for _, refused := range []struct{ who, params string }{
		{"alice", fmt.Sprintf(`{"id":%d}`, theirs)}, {"user1", fmt.Sprintf(`{"id":%d}`, mine)}, {"user0", fmt.Sprintf(`{"id":%d}`, mine)},
	} {
		if out, err := c.try(refused.who, "Deck.GetTeam", refused.params); err == nil {
			t.Errorf("%s reads %v", refused.who, out)
		}
	}
	as, err := c.PrincipalOf(context.Background(), "Administrator")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Repo().Update(context.Background(), as, func(tx *storage.Tx) error { return people.DeleteUser(tx, "user0") })
	if err != nil {
		t.Fatal(err)
	}
	delete(c.decks, mine)
	c.check("alice", 20)
	c.check("user1", 20)
}

// BenchmarkTeamPages reads the first page of a team's long list and one far down.
func BenchmarkTeamPages(b *testing.B) {
	c := newCrowd(b, 20)
	for _, user := range c.users[1:] {
		c.join(user, 1, "member")
	}
	c.join("alice", 1, "owner")
	for i := range 5000 {
		c.make(c.users[i%len(c.users)], "team")
	}
	for _, page := range []int{1, 125, 250} {
		b.Run(fmt.Sprint(page), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.do("alice", "Deck.ListTeam", fmt.Sprintf(`{"page":%d}`, page))
			}
		})
	}
}
