package simulation

import (
	"fmt"
	"maps"

	"catena/engine"
	"catena/storage/people"
)

// hire makes a user.
type hire struct {
	user   string
	groups []string
	number int64
}

func (a *hire) String() string { return fmt.Sprintf("create user %s in %v", a.user, a.groups) }

func (a *hire) request() (string, string, map[string]any) {
	return "User.CreateOrUpdate", "", map[string]any{"username": a.user, "groups": a.groups, "mode": "create"}
}

func (a *hire) seen(c *engine.Ctx, _ any) error {
	u, err := people.Lookup(c.Tx, a.user)
	if err == nil {
		a.number = u.ID
	}
	return err
}

func (a *hire) expect(m *model, by *person) answer {
	return when(by.admin() && m.people[a.user] == nil)
}

func (a *hire) apply(m *model, _ *person) error {
	groups := map[string]bool{}
	for _, g := range a.groups {
		groups[g] = true
	}
	m.people[a.user] = &person{name: a.user, number: a.number, groups: groups}
	return nil
}

// fire removes a user.
type fire struct {
	plain
	user string
}

func (a *fire) String() string { return "delete user " + a.user }

func (a *fire) request() (string, string, map[string]any) {
	return "User.Delete", "", map[string]any{"username": a.user}
}

func (a *fire) expect(m *model, by *person) answer {
	return when(by.admin() && m.people[a.user] != nil)
}

func (a *fire) apply(m *model, _ *person) error {
	delete(m.people, a.user)
	return nil
}

// join puts a user into a group, or takes the user out of it.
type join struct {
	plain
	user, group string
	leave       bool
}

func (a *join) String() string { return fmt.Sprintf("%s in %s: %t", a.user, a.group, !a.leave) }

func (a *join) request() (string, string, map[string]any) {
	params := map[string]any{"name": a.user, "group": a.group}
	if a.leave {
		return "User.RemoveFromGroup", "", params
	}
	return "User.AddToGroup", "", params
}

func (a *join) expect(m *model, by *person) answer {
	return when(by.admin() && m.people[a.user] != nil)
}

func (a *join) apply(m *model, _ *person) error {
	p := *m.people[a.user]
	p.groups = maps.Clone(p.groups)
	p.groups[a.group] = !a.leave
	m.people[a.user] = &p
	return nil
}

// design makes a deck of slides.
type design struct {
	title  string
	number int64
}

func (a *design) String() string { return fmt.Sprintf("create deck %q", a.title) }

func (a *design) request() (string, string, map[string]any) {
	return "Deck.Create", "", map[string]any{"title": a.title}
}

func (a *design) seen(_ *engine.Ctx, v any) (err error) {
	a.number, _, err = deckIn(v)
	return err
}

func (a *design) expect(*model, *person) answer { return granted }

func (a *design) apply(m *model, by *person) error {
	if m.decks[a.number] != nil {
		return fmt.Errorf("number %d has been given before", a.number)
	}
	m.decks[a.number] = &deck{number: a.number, owner: by.number, title: a.title}
	return nil
}

// deckIn returns the number and the title of the deck that an answer shows.
func deckIn(v any) (number int64, title string, err error) {
	out, _ := v.(map[string]any)
	data, _ := out["data"].(map[string]any)
	switch n := data["id"].(type) {
	case int64:
		number = n
	case int:
		number = int64(n)
	}
	if title, _ = data["title"].(string); number == 0 {
		err = fmt.Errorf("no deck: %v", v)
	}
	return number, title, err
}

// redesign changes the title of a deck.
type redesign struct {
	plain
	number int64
	title  string
}

func (a *redesign) String() string { return fmt.Sprintf("title of deck %d %q", a.number, a.title) }

func (a *redesign) request() (string, string, map[string]any) {
	return "Deck.Update", "", map[string]any{"id": a.number, "title": a.title}
}

func (a *redesign) expect(m *model, by *person) answer { return when(m.shows(a.number, by)) }

func (a *redesign) apply(m *model, _ *person) error {
	m.decks[a.number].title = a.title
	return nil
}

// shows reports whether a deck is there and somebody's.
func (m *model) shows(number int64, by *person) bool {
	d := m.decks[number]
	return d != nil && !d.trashed && d.owner == by.number
}

// present reads a deck.
type present struct {
	number int64
	title  string
}

func (a *present) String() string { return fmt.Sprintf("read deck %d", a.number) }

func (a *present) request() (string, string, map[string]any) {
	return "Deck.Get", "", map[string]any{"id": a.number}
}

func (a *present) seen(_ *engine.Ctx, v any) (err error) {
	_, a.title, err = deckIn(v)
	return err
}

func (a *present) expect(m *model, by *person) answer { return when(m.shows(a.number, by)) }

func (a *present) apply(m *model, _ *person) error {
	if want := m.decks[a.number].title; a.title != want {
		return fmt.Errorf("title %q instead of %q", a.title, want)
	}
	return nil
}

// discard puts a deck into the trash.
type discard struct {
	plain
	number int64
}

func (a *discard) String() string { return fmt.Sprintf("trash deck %d", a.number) }

func (a *discard) request() (string, string, map[string]any) {
	return "Deck.Trash", "", map[string]any{"id": a.number}
}

func (a *discard) expect(m *model, by *person) answer {
	d := m.decks[a.number]
	return when(d != nil && d.owner == by.number)
}

func (a *discard) apply(m *model, _ *person) error {
	m.decks[a.number].trashed = true
	return nil
}
