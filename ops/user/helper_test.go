package user_test

import (
	"fmt"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage/fault"
	"catena/storage/people"
)

// TestHelpers calls what expressions know of users and vocabularies.
func TestHelpers(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		for _, u := range []people.User{
			{Username: "ann", Email: "ann@example.org", FirstName: "Ann", Groups: []string{"inner"}},
			{Username: "ben", Email: "ben@example.org", Groups: []string{"outer"}},
			{Username: "cid"},
		} {
			for _, g := range u.Groups {
				if err := people.SaveGroup(c.Tx, &people.Group{Name: g}); err != nil {
					return err
				}
			}
			if err := people.SaveUser(c.Tx, &u, ""); err != nil {
				return err
			}
		}
		return people.SaveGroup(c.Tx, &people.Group{Name: "outer", Users: []string{"ben"}, Groups: []string{"inner"}})
	})
	w.Do("alice", func(c *engine.Ctx) error {
		c.SetVar("lang", "fr")
		for _, x := range []struct {
			name string
			args []any
			want string
		}{
			{"getEmail", []any{"ann"}, "ann@example.org"},
			{"getEmails", []any{[]any{"ann", "cid", "ben", "ann"}}, "[ann@example.org ben@example.org]"},
			{"getEmails", []any{[]any{"user:ann", "group:outer"}, true}, "[ann@example.org ben@example.org]"},
			{"getPrincipalEmails", []any{[]any{"ben"}}, "[ben@example.org]"},
			{"getEmailsFromGroup", []any{"outer"}, "[ann@example.org ben@example.org]"},
			{"getEmailsFromGroup", []any{"outer", true}, "[ben@example.org]"},
			{"getEmailsFromGroup", []any{"nobody"}, "[]"},
			{"getVocabularyLabel", []any{"continent", "africa"}, "Afrique"},
			{"getVocabularyLabel", []any{"continent", "atlantis"}, "atlantis"},
		} {
			got, err := c.Helper(x.name, x.args)
			if err != nil || fmt.Sprint(got) != x.want {
				t.Errorf("Fn.%s%v = %v, %v; want %s", x.name, x.args, got, err, x.want)
			}
		}
		ann, err := c.Helper("getPrincipal", []any{"ann"})
		if m, ok := ann.(map[string]any); !ok || m["firstName"] != "Ann" || fmt.Sprint(m["groups"]) != "[inner]" {
			t.Errorf("getPrincipal: %v, %v", ann, err)
		}
		all, err := c.Helper("getPrincipalsFromGroup", []any{"outer"})
		if list, ok := all.([]any); !ok || len(list) != 2 {
			t.Errorf("getPrincipalsFromGroup: %v, %v", all, err)
		}
		if _, err := c.Helper("getEmail", []any{"nobody"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("getEmail of nobody: %v", err)
		}
		if _, err := c.Helper("getVocabularyLabel", []any{"continent"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("one argument: %v", err)
		}
		return nil
	})
}
