package context

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// maxGrantees bounds how many users the groups of a document may come to.
const maxGrantees = 10_000

// grantees collects who is granted a permission on a document: users, and groups or those
// in them. Denials and dates do not count.
type grantees struct {
	c             *engine.Ctx
	users, groups []string
	seen          map[string]bool
}

// Like the platform, it reads entries rather than rights: somebody may be listed whom a denial or
// an end date keeps out. Callers use the result to inform people, never to decide on access.
func granteesOf(c *engine.Ctx, d *storage.Doc, permission string, ignore, expand bool) (*grantees, error) {
	// Storage checks that the caller may read the permissions of the document.
	lists, err := c.Tx.ACLs(d)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range lists {
		for _, e := range l.Entries {
			names = append(names, e.User)
		}
	}
	if err := people.Ahead(c.Tx, names); err != nil {
		return nil, err
	}
	g := &grantees{c: c, seen: map[string]bool{}}
	for _, l := range lists {
		for _, e := range l.Entries {
			if !e.Granted || !storage.Implies(e.Permission, permission) {
				continue
			}
			group, err := g.isGroup(e.User)
			switch {
			case err != nil:
				return nil, err
			case !group:
				g.add(&g.users, "user:"+e.User, e.User)
			case ignore:
			case expand:
				err = g.expand(e.User)
			default:
				g.add(&g.groups, "group:"+e.User, e.User)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

func (g *grantees) add(to *[]string, key, name string) {
	if !g.seen[key] {
		g.seen[key] = true
		*to = append(*to, name)
	}
}

// Entries do not say which of the two they name. A user takes precedence over a group of the same
// name, and an unknown name counts as a user.
func (g *grantees) isGroup(name string) (bool, error) {
	if _, err := people.Lookup(g.c.Tx, name); !fault.Is(err, fault.NotFound) {
		return false, err
	}
	_, err := people.LookupGroup(g.c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// expand adds all users of a group, of groups within it too.
func (g *grantees) expand(name string) error {
	// Several entries may lead to the same group, and groups may contain each other.
	if g.seen["expanded:"+name] {
		return nil
	}
	g.seen["expanded:"+name] = true
	group, err := people.LookupGroup(g.c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, user := range group.Users {
		g.add(&g.users, "user:"+user, user)
	}
	if len(g.users) > maxGrantees {
		return fault.Limit.Errorf("group %s: has more than %d users", name, maxGrantees)
	}
	for _, sub := range group.Groups {
		if err := g.expand(sub); err != nil {
			return err
		}
	}
	return nil
}

var emailsOf = engine.Op{
	Name:     "Context.GetEmailsWithPermissionOnDoc",
	Aliases:  []string{"Document.GetPrincipalEmails"},
	Label:    "Get Principal Emails",
	Category: "Users & Groups",
	Doc:      "Stores the email addresses of those who have a permission on the document in a context variable, and returns the document.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(emailsOfParams.run),
}

type emailsOfParams struct {
	Permission string `json:"permission" names:"permission" doc:"The permission; permissions that imply it count too."`
	Variable   string `json:"variable name" names:"variable" doc:"Name of the variable."`
	Ignore     bool   `json:"ignore groups" default:"false" doc:"Ignore groups; otherwise their members count."`
}

func (p emailsOfParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	g, err := granteesOf(c, d, p.Permission, p.Ignore, true)
	if err != nil {
		return nil, err
	}
	if err := people.Ahead(c.Tx, g.users); err != nil {
		return nil, err
	}
	emails := []any{}
	for _, name := range g.users {
		// A name that is not a user's has no address: "Everyone", for example, or a user who was
		// deleted.
		u, err := people.Lookup(c.Tx, name)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if u.Email != "" && !slices.Contains(emails, any(u.Email)) {
			emails = append(emails, u.Email)
		}
	}
	return d, assign(c, p.Variable, emails)
}
