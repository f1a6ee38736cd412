package entity

import (
	"slices"
	"strconv"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/schema"
)

// user appends a user; the groups a user is in by way of others are extendedGroups.
func (w *writer) user(dst []byte, u *people.User) ([]byte, error) {
	admin, groups := false, u.Groups
	if w.c.Tx != nil {
		p, err := storage.PrincipalOf(w.c.Tx, u.Username)
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
	dst = append(dst, `,"isAnonymous":false`...)
	if slices.Contains(w.o.Enrichers["user"], "userprofile") {
		var err error
		if dst, err = w.profile(append(dst, `,"contextParameters":{"userprofile":`...), u.Username); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	return append(dst, '}'), nil
}

// profile appends what a user's profile says: the properties of the document Profile in the
// user's personal workspace, as far as there is one and it may be read.
func (w *writer) profile(dst []byte, user string) ([]byte, error) {
	// All members are always written: clients of the platform read them without asking whether they
	// are there.
	values := map[string]any{"birthdate": nil, "phonenumber": nil, "avatar": nil, "gender": false, "locale": nil}
	if w.c.Tx != nil {
		d, err := people.Profile(w.c.Tx, user)
		if err != nil {
			return nil, err
		}
		for name := range values {
			if d == nil {
				break
			}
			if v, err := d.Get("userprofile:" + name); err == nil && v != nil {
				values[name] = v
			}
		}
	}
	return w.object(dst, values, maxDepth)
}

func (w *writer) groupLabel(name string) string {
	if w.c.Tx != nil {
		if label, err := people.GroupLabel(w.c.Tx, name); err == nil && label != "" {
			return label
		}
	}
	return name
}

func (w *writer) users(dst []byte, list []*people.User) ([]byte, error) {
	dst, err := w.userList(append(dst, `{"entity-type":"users","entries":[`...), list)
	return append(dst, ']', '}'), err
}

func (w *writer) userList(dst []byte, list []*people.User) ([]byte, error) {
	for i, u := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.user(dst, u); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// userPage appends a part of a list of users.
func (w *writer) userPage(dst []byte, p *people.UserPage) ([]byte, error) {
	dst = appendPaging(append(dst, `{"entity-type":"users",`...), &p.Page, len(p.Users))
	dst, err := w.userList(append(dst, `"entries":[`...), p.Users)
	return append(dst, ']', '}'), err
}

// groupPage appends a part of a list of groups.
func (w *writer) groupPage(dst []byte, p *people.GroupPage) []byte {
	dst = appendPaging(append(dst, `{"entity-type":"groups",`...), &p.Page, len(p.Groups))
	dst = append(dst, `"entries":[`...)
	for i, g := range p.Groups {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.group(dst, g)
	}
	return append(dst, ']', '}')
}

// principal appends who acts as a user.
func (w *writer) principal(dst []byte, p *storage.Principal) ([]byte, error) {
	if w.c.Tx != nil {
		u, err := people.Lookup(w.c.Tx, p.Name)
		if err == nil {
			return w.user(dst, u)
		}
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			return nil, err
		}
	}
	return w.user(dst, &people.User{Username: p.Name, Groups: p.Groups})
}

func (w *writer) group(dst []byte, g *people.Group) []byte {
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
				parents, _ = people.GroupsOf(w.c.Tx, g.Name)
			}
			dst = texts(append(dst, `,"parentGroups":`...), parents)
		}
	}
	return append(dst, '}')
}

// acls appends access lists; entries is what the list of entries is called.
func (w *writer) acls(dst []byte, lists []storage.ACL, entries string) ([]byte, error) {
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
			var err error
			if dst, err = w.ace(dst, &l.Entries[j], entries == "aces"); err != nil {
				return nil, err
			}
		}
		dst = append(dst, ']', '}')
	}
	return append(dst, ']'), nil
}

func (w *writer) ace(dst []byte, a *storage.ACE, external bool) ([]byte, error) {
	dst = schema.AppendString(append(dst, `{"id":`...), a.ID())
	dst, err := w.holder(append(dst, `,"username":`...), "username", a.User)
	if err != nil {
		return nil, err
	}
	if external {
		dst = append(dst, `,"externalUser":false`...)
	}
	dst = schema.AppendString(append(dst, `,"permission":`...), a.Permission)
	dst = strconv.AppendBool(append(dst, `,"granted":`...), a.Granted)
	if dst, err = w.holder(append(dst, `,"creator":`...), "creator", a.Creator); err != nil {
		return nil, err
	}
	dst = timeOr(append(dst, `,"begin":`...), a.Begin)
	dst = timeOr(append(dst, `,"end":`...), a.End)
	dst = schema.AppendString(append(dst, `,"status":`...), a.Status(w.c.Now))
	for _, name := range w.o.Fetch["acls"] {
		if name == "extended" {
			dst = strconv.AppendBool(append(dst, `,"notify":`...), a.Notify)
			dst = textOr(append(dst, `,"comment":`...), a.Comment)
		}
	}
	return append(dst, '}'), nil
}

// holder appends the name in an access entry, or the user or group of that name if the field
// is to be resolved.
func (w *writer) holder(dst []byte, field, name string) ([]byte, error) {
	if name == "" || w.c.Tx == nil || !slices.Contains(w.o.Fetch["acls"], field) {
		return textOr(dst, name), nil
	}
	var found any
	found, err := people.Lookup(w.c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		found, err = people.LookupGroup(w.c.Tx, name)
	}
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Denied):
		return textOr(dst, name), nil
	case err != nil:
		return nil, err
	}
	return w.people(dst, found, maxDepth)
}

// log appends a part of the audit log.
func (w *writer) log(dst []byte, p *storage.EntryPage) ([]byte, error) {
	dst = appendPaging(append(dst, `{"entity-type":"logEntries",`...), &p.Page, len(p.Entries))
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
