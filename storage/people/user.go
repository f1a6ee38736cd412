// Package people keeps users, groups and their members, and personal workspaces.
//
// Users and groups are rows of two tables, which all repositories of a store share. Membership is kept in
// rows of its own, in both directions, so that neither a large group nor a user in many groups is one large
// row that every change rewrites. Each user has a number that is never used again: what belongs to a user
// names the number as well, so that somebody who gets the same name later does not inherit it
// (storage.Owned).
//
// Who may change whom is decided here: administrators everyone, power users all but administrators, everybody
// themselves. A change of memberships begins a new epoch, after which every transaction looks up the groups
// of its principal again.
package people

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/password"
)

// User is somebody who can sign in. The deck account's fields live here too.
type User struct {
	ID                                            int64
	Username, FirstName, LastName, Email, Company string
	Groups                                        []string `json:"-"` // direct ones
	Description, ThumbnailURL, WebsiteURL         string
	TwitterHandle                                 string
	AccountType, BillingPeriod                    string // free|lite|pro|team, none|monthly|yearly
	TeamID                                        int64
	TeamRole                                      string
	Created, Updated                              time.Time
}

// Group is a named set of users and groups.
type Group struct {
	Name, Label   string
	Description   string   `json:",omitempty"`
	Users, Groups []string `json:"-"`
}

// UserTable returns the users by name, to be searched; only administrators write there.
func UserTable(t *storage.Tx) (storage.Table, error) { return table(t, layout.UserTable) }

// GroupTable returns the groups by name, to be searched; only administrators write there.
func GroupTable(t *storage.Tx) (storage.Table, error) { return table(t, layout.GroupTable) }

func table(t *storage.Tx, name string) (storage.Table, error) {
	if t.Principal().Name == "" {
		return storage.Table{}, storage.ErrNobody
	}
	b := t.Table(name)
	if !t.Principal().Is() {
		b = b.ReadOnly()
	}
	return b, nil
}

// Lookup returns a user with the groups the user is in directly.
func Lookup(t *storage.Tx, name string) (*User, error) {
	if t.Principal().Name == "" {
		return nil, storage.ErrNobody
	}
	if name == "" {
		return nil, storage.ErrNoUser(name)
	}
	u := &User{}
	ok, err := t.Table(layout.UserTable).Get(name, u)
	if err != nil || !ok {
		return nil, cmp.Or(err, storage.ErrNoUser(name))
	}
	u.Groups, err = inside(t).Members(layout.MemberOf, name)
	return u, err
}

// LookupNamed is Lookup for the addresses of users, which name the user themselves: clients of the platform compare the words
// of its error.
func LookupNamed(t *storage.Tx, name string) (*User, error) {
	u, err := Lookup(t, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.NotFound.New("user does not exist")
	}
	return u, err
}

// SaveUser creates or changes a user, whose password becomes text unless that is empty. Administrators
// may, members of powerusers as far as administrators are not concerned, and everyone for themselves,
// except for their groups.
func SaveUser(t *storage.Tx, u *User, text string) error {
	if err := checkName("User", u.Username); err != nil {
		return err
	}
	old, err := Lookup(t, u.Username)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err := maySave(t, old, u); err != nil {
		return err
	}
	if text != "" {
		if err := setPassword(t, u.Username, text, "password"); err != nil {
			return err
		}
	}
	if old == nil {
		if u.ID, err = t.Next("users"); err != nil {
			return err
		}
		u.Created = t.Now()
	} else {
		u.ID, u.Created = old.ID, old.Created
	}
	u.Updated = t.Now()
	if err := setMembers(t, u.Username, old.groups(), u.Groups, layout.MemberOf, layout.MemberUser); err != nil {
		return err
	}
	if !sameSet(old.groups(), u.Groups) {
		if err := inside(t).Regrouped(); err != nil {
			return err
		}
	}
	if err := setNames(t, nameOfUser, u.Username, old.names(), u.names()); err != nil {
		return err
	}
	return cmp.Or(t.Table(layout.UserTable).Put(u.Username, u), tell(t, "user"+change(old != nil), u.Username))
}

func (u *User) groups() []string {
	if u == nil {
		return nil
	}
	return u.Groups
}

// CheckName refuses what cannot be the name of a user.
func CheckName(name string) error { return checkName("User", name) }

// checkName refuses what cannot be a name of a user or group.
func checkName(kind, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.Invalid.Errorf("%s MUST have a name", kind).In("name")
	case len(name) > 255:
		return fault.Limit.Errorf("%s name: %d bytes, limit 255", strings.ToLower(kind), len(name)).In("name")
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault.Invalid.Errorf("%s name %q: control characters are not allowed", strings.ToLower(kind), name).In("name")
	case !utf8.ValidString(name): // JSON would show another name than the one of the row
		return fault.Invalid.Errorf("%s name %q: is not valid UTF-8", strings.ToLower(kind), name).In("name")
	case name == storage.Everyone || name == storage.SystemName || name == storage.GuestName:
		return fault.Invalid.Errorf("%s name %s: is reserved", strings.ToLower(kind), name).In("name")
	}
	return nil
}

// MayCreate returns why the principal may not create a user, or nil.
func MayCreate(t *storage.Tx, u *User) error { return maySave(t, nil, u) }

func maySave(t *storage.Tx, old, u *User) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if t.Principal().Is() {
		return groupsExist(t, old.groups(), u.Groups)
	}
	if old != nil && u.Username == t.Principal().Name && sameSet(old.Groups, u.Groups) {
		if u.AccountType == old.AccountType && u.BillingPeriod == old.BillingPeriod && u.TeamID == old.TeamID && u.TeamRole == old.TeamRole {
			return nil
		}
	}
	if err := mayEdit(t, append(slices.Clone(old.groups()), u.Groups...)); err != nil {
		return err
	}
	return groupsExist(t, old.groups(), u.Groups)
}

// mayEdit checks that the principal may change users and groups that are in the groups given.
func mayEdit(t *storage.Tx, groups []string) error {
	if t.Principal().Is() {
		return nil
	}
	refused := fault.Denied.Errorf("User is not allowed to edit users")
	if !slices.Contains(t.Principal().Groups, storage.PowerUsers) {
		return refused
	}
	all, err := inside(t).GroupsAbove(groups)
	if err != nil {
		return err
	}
	if slices.Contains(all, storage.Administrators) {
		return refused
	}
	return nil
}

func groupsExist(t *storage.Tx, old, groups []string) error {
	for _, g := range groups {
		if g == storage.Members || slices.Contains(old, g) {
			continue
		}
		v, err := t.Table(layout.GroupTable).Row(g)
		if err != nil || v == nil {
			return cmp.Or[error](err, fault.Denied.Errorf("group does not exist: %s%s", g, storage.PerhapsGroup(g)))
		}
	}
	return nil
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// SetPassword gives a user another password: everyone themselves, and others as SaveUser does.
func SetPassword(t *storage.Tx, name, text string) error {
	u, err := Lookup(t, name)
	if err != nil {
		return err
	}
	if err := maySave(t, u, u); err != nil {
		return err
	}
	return setPassword(t, name, text, "newPassword")
}

// setPassword gives a user a password that came in a field. It is hashed once: that takes so long that a transaction that
// did it again after each race that it lost would lose the next one, too.
func setPassword(t *storage.Tx, user, text, field string) error {
	if len(text) > password.MaxLength {
		return fault.Limit.Errorf("password: %d bytes, limit %d", len(text), password.MaxLength).In(field)
	}
	if n, least := utf8.RuneCountInString(text), t.Repo().Limits().Password; n < least {
		return fault.Invalid.Errorf("password: %d characters, at least %d are required", n, least).In(field).WithCode(fault.CodeTooShort)
	}
	c := password.Of(t.Repo().Memory())
	hash, err := storage.Once(t, chosen{user, text}, func(ctx context.Context) (any, error) { return c.Hash(ctx, text) })
	if err != nil {
		return err
	}
	t.AfterCommit(func() { c.Forget(user) })
	storage.Ends(t)
	return t.Secret(password.Users).Put(user, password.Row{Hash: hash.(string)})
}

// chosen is a password that a user is given.
type chosen struct{ user, text string }

// DeleteUser removes a user, with what the owners of data keep about the user.
func DeleteUser(t *storage.Tx, name string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	u, err := LookupNamed(t, name)
	if err != nil {
		return err
	}
	if err := mayEdit(t, u.Groups); err != nil {
		return err
	}
	if err := cmp.Or(setMembers(t, name, u.Groups, nil, layout.MemberOf, layout.MemberUser), vacateHome(t, name), inside(t).Depart(u.Username, u.ID)); err != nil {
		return err
	}
	t.AfterCommit(func() { password.Of(t.Repo().Memory()).Forget(name) })
	if err := cmp.Or(
		t.Secret(password.Users).Delete(name),
		setNames(t, nameOfUser, name, u.names(), nil),
		t.Table(layout.UserTable).Delete(name),
		inside(t).Regrouped(),
	); err != nil {
		return err
	}
	return cmp.Or(inside(t).Leave(name), tell(t, "user_deleted", name))
}

// LookupGroup returns a group with its direct members.
func LookupGroup(t *storage.Tx, name string) (*Group, error) {
	if t.Principal().Name == "" {
		return nil, storage.ErrNobody
	}
	missing := fault.NotFound.Errorf("group does not exist")
	if name == "" {
		return nil, missing
	}
	g := &Group{}
	ok, err := t.Table(layout.GroupTable).Get(name, g)
	if err != nil || !ok {
		return nil, cmp.Or[error](err, missing)
	}
	if g.Users, err = inside(t).Members(layout.MemberUser, name); err != nil {
		return nil, err
	}
	g.Groups, err = inside(t).Members(layout.Subgroup, name)
	return g, err
}

// GroupLabel returns how a group is called for people, "" if nothing says that.
func GroupLabel(t *storage.Tx, name string) (string, error) {
	if t.Principal().Name == "" || name == "" {
		return "", nil
	}
	var g Group
	_, err := t.Table(layout.GroupTable).Get(name, &g)
	return g.Label, err
}

// SaveGroup creates or changes a group and its members, who need not exist.
func SaveGroup(t *storage.Tx, g *Group) error {
	if err := checkName("Group", g.Name); err != nil {
		return err
	}
	if err := t.MayWrite(); err != nil {
		return err
	}
	old, err := LookupGroup(t, g.Name)
	there := err == nil
	if fault.Is(err, fault.NotFound) {
		old, err = &Group{}, nil
	}
	if err != nil {
		return err
	}
	if err := mayEdit(t, append(append([]string{g.Name}, g.Groups...), old.Groups...)); err != nil {
		return err
	}
	if err := noCircle(t, g); err != nil {
		return err
	}
	if err := setMembers(t, g.Name, old.Users, g.Users, layout.MemberUser, layout.MemberOf); err != nil {
		return err
	}
	if err := setMembers(t, g.Name, old.Groups, g.Groups, layout.Subgroup, layout.Supergroup); err != nil {
		return err
	}
	if err := setNames(t, nameOfGroup, g.Name, old.names(), g.names()); err != nil {
		return err
	}
	return cmp.Or(t.Table(layout.GroupTable).Put(g.Name, g), inside(t).Regrouped(), tell(t, "group"+change(there), g.Name))
}

// noCircle refuses a group that would contain itself.
func noCircle(t *storage.Tx, g *Group) error {
	above, err := inside(t).GroupsAbove([]string{g.Name})
	if err != nil {
		return err
	}
	for _, sub := range g.Groups {
		if slices.Contains(above, sub) {
			return fault.Conflict.Errorf("group %s: cannot contain %s, which contains it", g.Name, sub)
		}
	}
	return nil
}

// DeleteGroup removes a group. Its members stay.
func DeleteGroup(t *storage.Tx, name string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	g, err := LookupGroup(t, name)
	if err != nil {
		return err
	}
	if err := mayEdit(t, []string{name}); err != nil {
		return err
	}
	if name == storage.Administrators {
		return fault.Conflict.Errorf("group %s: cannot be deleted", name)
	}
	above, err := inside(t).Members(layout.Supergroup, name)
	if err != nil {
		return err
	}
	err = cmp.Or(
		setMembers(t, name, g.Users, nil, layout.MemberUser, layout.MemberOf),
		setMembers(t, name, g.Groups, nil, layout.Subgroup, layout.Supergroup),
		setMembers(t, name, above, nil, layout.Supergroup, layout.Subgroup),
		setNames(t, nameOfGroup, name, g.names(), nil),
	)
	if err != nil {
		return err
	}
	return cmp.Or(t.Table(layout.GroupTable).Delete(name), inside(t).Regrouped(), tell(t, "group_deleted", name))
}

// GroupsOf returns the groups that contain a group directly.
func GroupsOf(t *storage.Tx, group string) ([]string, error) {
	return inside(t).Members(layout.Supergroup, group)
}

// setMembers writes both sides of a membership where old and new differ. The lists come from callers and may be long.
func setMembers(t *storage.Tx, of string, old, new []string, kind, back byte) error {
	change := func(names, others []string, write func(key []byte) error) error {
		done := map[string]bool{"": true} // no name is empty
		for _, name := range others {
			done[name] = true
		}
		for _, name := range names {
			if done[name] {
				continue
			}
			done[name] = true
			err := cmp.Or(t.Context().Err(), write(layout.MemberKey(kind, of, name)), write(layout.MemberKey(back, name, of)), inside(t).FeedMembers(of, name, kind))
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := change(old, new, inside(t).KV().Delete); err != nil {
		return err
	}
	return change(new, old, func(key []byte) error { return inside(t).KV().Set(key, nil) })
}

// userCategory is that of events about users and groups.
const userCategory = "userGroup"

// tell fires what happened to a user or group: user_created, group_modified and so on. What
// the system does of itself, as in setting up a repository, is nobody's doing and not told.
func tell(t *storage.Tx, event, name string) error {
	if t.Principal().System && t.Principal().Actor == "" {
		return nil
	}
	return inside(t).Fire(storage.Event{Name: event, Category: userCategory, Extra: map[string]any{"id": name}})
}

// change is the end of an event's name: whether something was there before.
func change(there bool) string {
	if there {
		return "_modified"
	}
	return "_created"
}
