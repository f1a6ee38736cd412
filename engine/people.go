package engine

import (
	"slices"
	"strings"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/people"
)

// RunsAs is the user that a text which is run later names, such as a schedule; system is the server itself.
func RunsAs(tx *storage.Tx, name string) (*Principal, error) {
	if name == "system" {
		return tx.Repo().System(), nil
	}
	return storage.PrincipalOf(tx.As(tx.Repo().System()), name)
}

// people adds to the helpers of expressions those that know users and vocabularies.
func (c *Ctx) people(fn map[string]any) {
	add := func(name string, least, most int, f func(args []any) (any, error)) {
		fn[name] = func(args ...any) (any, error) {
			if len(args) < least || len(args) > most || c.Tx == nil {
				return nil, fault.Invalid.Errorf("Fn.%s: requires %d to %d arguments", name, least, most)
			}
			return f(args)
		}
	}
	add("getEmail", 1, 1, func(args []any) (any, error) { return c.email(expr.Text(args[0])) })
	add("getPrincipal", 1, 1, func(args []any) (any, error) { return c.principalView(expr.Text(args[0])) })
	add("getEmails", 1, 2, func(args []any) (any, error) {
		return c.emails(texts(args[0]), len(args) == 2 && args[1] == true)
	})
	add("getPrincipalEmails", 1, 1, func(args []any) (any, error) { return c.emails(texts(args[0]), false) })
	add("getPrincipalsFromGroup", 1, 2, func(args []any) (any, error) {
		names, err := c.within(args)
		out := make([]any, 0, len(names))
		for i := 0; err == nil && i < len(names); i++ {
			var m any
			m, err = c.principalView(names[i])
			out = append(out, m)
		}
		return out, err
	})
	add("getEmailsFromGroup", 1, 2, func(args []any) (any, error) {
		names, err := c.within(args)
		if err != nil {
			return nil, err
		}
		return c.emails(names, false)
	})
	add("getVocabularyLabel", 2, 2, func(args []any) (any, error) { return c.label(expr.Text(args[0]), expr.Text(args[1])) })
}

// texts are the texts of a list, or of one value.
func texts(v any) []string {
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = expr.Text(item)
	}
	return out
}

// within are the users in a group and, unless the second argument says otherwise, in its groups.
func (c *Ctx) within(args []any) ([]string, error) {
	names, err := people.UsersWithin(c.Tx, expr.Text(args[0]), len(args) == 1 || args[1] != true)
	slices.Sort(names)
	return slices.Compact(names), err
}

func (c *Ctx) email(name string) (string, error) {
	u, err := people.Lookup(c.Tx, name)
	if err != nil {
		return "", err
	}
	return u.Email, nil
}

// emails are the addresses of users. With prefixed, a name that begins with "group:" stands for those in a
// group, and others may begin with "user:"; users without an address are left out.
func (c *Ctx) emails(names []string, prefixed bool) ([]any, error) {
	out := []any{}
	for _, name := range names {
		one := []string{name}
		if prefixed {
			one[0] = strings.TrimPrefix(name, "user:")
			if group, ok := strings.CutPrefix(name, "group:"); ok {
				var err error
				if one, err = c.within([]any{group}); err != nil {
					return nil, err
				}
			}
		}
		for _, user := range one {
			address, err := c.email(user)
			if err != nil {
				return nil, err
			}
			if address != "" && !slices.Contains(out, any(address)) {
				out = append(out, address)
			}
		}
	}
	return out, nil
}

// principalView is a user as expressions see one.
func (c *Ctx) principalView(name string) (map[string]any, error) {
	u, err := people.Lookup(c.Tx, name)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"name": u.Username, "firstName": u.FirstName, "lastName": u.LastName, "email": u.Email, "company": u.Company, "groups": List(u.Groups),
	}, nil
}

// label is the text of a vocabulary's entry in the language of variable lang; the key itself where there is none.
func (c *Ctx) label(vocabulary, key string) (string, error) {
	d, err := record.In(c.Tx, vocabulary)
	if err != nil {
		return "", err
	}
	e, err := d.Entry(key)
	if fault.Is(err, fault.NotFound) {
		return key, nil
	}
	if err != nil {
		return "", err
	}
	lang, _ := c.Vars["lang"].(string)
	label, _ := e.Values["label"].(string)
	if label == "" {
		label, _ = e.Values["label_"+lang[:min(2, len(lang))]].(string)
	}
	if label == "" {
		label, _ = e.Values["label_en"].(string)
	}
	if label == "" {
		return key, nil
	}
	return record.Registry(c.Tx).Text(lang, label), nil
}

// userView is who acts, as expressions see it.
func (c *Ctx) userView() (map[string]any, error) {
	m := map[string]any{
		"name": c.As.Name, "groups": List(c.As.Groups), "allGroups": List(c.As.Groups), "isAdministrator": c.As.Admin,
		"actingUser": c.As.Name, "originatingUser": c.As.Name, "firstName": nil, "lastName": nil, "email": nil, "company": nil,
		"toString": func(...any) (any, error) { return c.As.Name, nil },
	}
	if c.As.Actor != "" {
		m["originatingUser"] = c.As.Actor
	}
	if c.Tx == nil || c.As.System {
		return m, nil
	}
	u, err := people.Lookup(c.Tx, c.As.Name)
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied):
		return m, nil
	case err != nil:
		return nil, err
	}
	m["firstName"], m["lastName"], m["email"], m["company"] = u.FirstName, u.LastName, u.Email, u.Company
	return m, nil
}
