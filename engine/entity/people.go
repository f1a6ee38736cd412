package entity

import (
	"strconv"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// user appends a user; the groups a user is in by way of others are extendedGroups.
func (w *writer) user(dst []byte, u *storage.User) ([]byte, error) {
	admin, groups := false, u.Groups
	if w.c.Tx != nil {
		p, err := w.c.Tx.PrincipalOf(u.Username)
		switch {
		case err == nil:
			admin, groups = p.Admin, p.Groups
		case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied):
			return nil, err
		}
	}
	dst = schema.AppendString(append(dst, `{"entity-type":"user","id":`...), u.Username)
	dst = schema.AppendString(append(dst, `,"properties":{"username":`...), u.Username)
	dst = textOr(append(dst, `,"firstName":`...), u.FirstName)
	dst = textOr(append(dst, `,"lastName":`...), u.LastName)
	dst = textOr(append(dst, `,"email":`...), u.Email)
	dst = textOr(append(dst, `,"company":`...), u.Company)
	dst = texts(append(dst, `,"groups":`...), u.Groups)
	dst = append(dst, `,"tenantId":null},"extendedGroups":[`...)
	for i, name := range groups {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(dst, `{"name":`...), name)
		dst = schema.AppendString(append(dst, `,"label":`...), w.groupLabel(name))
		dst = append(schema.AppendString(append(dst, `,"url":`...), "group/"+name), '}')
	}
	dst = strconv.AppendBool(append(dst, `],"isAdministrator":`...), admin)
	return append(dst, `,"isAnonymous":false}`...), nil
}

func (w *writer) groupLabel(name string) string {
	if w.c.Tx != nil {
		if g, err := w.c.Tx.Group(name); err == nil && g.Label != "" {
			return g.Label
		}
	}
	return name
}

func (w *writer) users(dst []byte, list []*storage.User) ([]byte, error) {
	dst = append(dst, `{"entity-type":"users","entries":[`...)
	for i, u := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.user(dst, u); err != nil {
			return nil, err
		}
	}
	return append(dst, ']', '}'), nil
}

// principal appends who acts as a user.
func (w *writer) principal(dst []byte, p *storage.Principal) ([]byte, error) {
	if w.c.Tx != nil {
		u, err := w.c.Tx.User(p.Name)
		if err == nil {
			return w.user(dst, u)
		}
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			return nil, err
		}
	}
	return w.user(dst, &storage.User{Username: p.Name, Groups: p.Groups})
}

func (w *writer) group(dst []byte, g *storage.Group) []byte {
	label := g.Label
	dst = schema.AppendString(append(dst, `{"entity-type":"group","groupname":`...), g.Name)
	dst = textOr(append(dst, `,"grouplabel":`...), label)
	dst = schema.AppendString(append(dst, `,"id":`...), g.Name)
	dst = schema.AppendString(append(dst, `,"properties":{"groupname":`...), g.Name)
	dst = textOr(append(dst, `,"grouplabel":`...), label)
	dst = append(textOr(append(dst, `,"description":`...), g.Description), '}')
	for _, name := range w.o.Fetch["group"] {
		switch name {
		case "memberUsers":
			dst = texts(append(dst, `,"memberUsers":`...), g.Users)
		case "memberGroups":
			dst = texts(append(dst, `,"memberGroups":`...), g.Groups)
		case "parentGroups":
			var parents []string
			if w.c.Tx != nil {
				parents, _ = w.c.Tx.GroupsOf(g.Name)
			}
			dst = texts(append(dst, `,"parentGroups":`...), parents)
		}
	}
	return append(dst, '}')
}

// acls appends access lists; entries is what the list of entries is called.
func (w *writer) acls(dst []byte, lists []storage.ACL, entries string, end ...byte) []byte {
	dst = append(dst, '[')
	for i, l := range lists {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(dst, `{"name":`...), l.Name)
		dst = append(dst, `,"`+entries+`":[`...)
		for j := range l.Entries {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = w.ace(dst, &l.Entries[j], entries == "aces")
		}
		dst = append(dst, ']', '}')
	}
	return append(append(dst, ']'), end...)
}

func (w *writer) ace(dst []byte, a *storage.ACE, external bool) []byte {
	dst = schema.AppendString(append(dst, `{"id":`...), a.ID())
	dst = schema.AppendString(append(dst, `,"username":`...), a.User)
	if external {
		dst = append(dst, `,"externalUser":false`...)
	}
	dst = schema.AppendString(append(dst, `,"permission":`...), a.Permission)
	dst = strconv.AppendBool(append(dst, `,"granted":`...), a.Granted)
	dst = textOr(append(dst, `,"creator":`...), a.Creator)
	dst = timeOr(append(dst, `,"begin":`...), a.Begin)
	dst = timeOr(append(dst, `,"end":`...), a.End)
	dst = schema.AppendString(append(dst, `,"status":`...), a.Status(w.c.Now))
	for _, name := range w.o.Fetch["acls"] {
		if name == "extended" {
			dst = strconv.AppendBool(append(dst, `,"notify":`...), a.Notify)
			dst = textOr(append(dst, `,"comment":`...), a.Comment)
		}
	}
	return append(dst, '}')
}

// log appends a part of the audit log.
func (w *writer) log(dst []byte, p *storage.EntryPage) ([]byte, error) {
	dst = figures(append(dst, `{"entity-type":"logEntries",`...), &p.Page, len(p.Entries))
	dst, err := w.logEntries(append(dst, `"entries":`...), p.Entries)
	return append(dst, '}'), err
}

func (w *writer) logEntries(dst []byte, list []storage.Entry) ([]byte, error) {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.entry(dst, &list[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func (w *writer) entry(dst []byte, e *storage.Entry) ([]byte, error) {
	dst = strconv.AppendInt(append(dst, `{"entity-type":"logEntry","id":`...), e.ID, 10)
	dst = textOr(append(dst, `,"category":`...), e.Category)
	dst = textOr(append(dst, `,"principalName":`...), e.User)
	dst = textOr(append(dst, `,"comment":`...), e.Comment)
	dst = textOr(append(dst, `,"docLifeCycle":`...), e.DocState)
	dst = textOr(append(dst, `,"docPath":`...), e.DocPath)
	dst = textOr(append(dst, `,"docType":`...), e.DocType)
	dst = textOr(append(dst, `,"docUUID":`...), e.DocID)
	dst = textOr(append(dst, `,"eventId":`...), e.Event)
	dst = textOr(append(dst, `,"repositoryId":`...), w.repository())
	dst = timeOr(append(dst, `,"eventDate":`...), e.Time)
	dst = timeOr(append(dst, `,"logDate":`...), e.Logged)
	dst, err := w.object(append(dst, `,"extended":`...), e.Extended, 2)
	return append(dst, '}'), err
}

func (w *writer) repository() string {
	if w.c.Tx != nil {
		return w.c.Tx.Repo().Name()
	}
	return w.o.Repo
}
