package workflow

import (
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// goneMark ends the names of users who are gone, as in the names of their folders: a later user of the name is not
// one of the actors of an old task, nor the initiator of an old workflow.
const goneMark = "%gone"

// administrators are those who do what users who are gone were asked for.
const administrators = "group:administrators"

// End has a user leave what is kept of workflows: open tasks go to the administrators, and where the name tells who
// did something it is marked. Workflows that the user started go on; tasks of their initiator go to the administrators.
func End(tx *storage.Tx, user string) error {
	tx = tx.As(tx.Repo().System())
	for _, key := range []string{"nt:actors", "nt:delegatedActors"} {
		if err := all(tx, "TaskDoc", key, "user:"+user, func(d *storage.Doc) error { return leaveTask(tx, d, user) }); err != nil {
			return err
		}
	}
	return all(tx, instanceType, "docri:initiator", user, func(d *storage.Doc) error {
		if err := d.Set("docri:initiator", user+goneMark); err != nil {
			return err
		}
		d, err := tx.Save(d, storage.SaveOptions{Quiet: true})
		if err != nil {
			return err
		}
		if err := hide(tx, d, user); err != nil {
			return err
		}
		tasks, err := tx.Lookup("nt:processId", d.ID())
		for _, t := range tasks {
			if err == nil {
				err = leaveTask(tx, t, user)
			}
		}
		return err
	})
}

// all calls fn for every document of a type whose property has a value, which fn takes away.
func all(tx *storage.Tx, typ, key, value string, fn func(*storage.Doc) error) error {
	for {
		page, err := tx.Query("SELECT * FROM "+typ+" WHERE "+key+" = ?", storage.QueryOptions{Args: []any{value}, PageOptions: storage.PageOptions{CountLimit: -1}})
		if err != nil || len(page.Docs) == 0 {
			return err
		}
		for _, d := range page.Docs {
			if err := fn(d); err != nil {
				return err
			}
		}
	}
}

// leaveTask takes a user out of a task.
func leaveTask(tx *storage.Tx, d *storage.Doc, user string) (err error) {
	heir := administrators
	if d.State() != Opened {
		heir = "user:" + user + goneMark
	}
	for _, key := range []string{"nt:actors", "nt:delegatedActors", "nt:openFor"} {
		names := texts(d, key)
		at := slices.Index(names, "user:"+user)
		if at < 0 {
			continue
		}
		if names = slices.Delete(names, at, at+1); !slices.Contains(names, heir) {
			names = append(names, heir)
		}
		if err := d.Set(key, names); err != nil {
			return err
		}
	}
	if storage.Prop[string](d, "nt:initiator") == user {
		if err := d.Set("nt:initiator", user+goneMark); err != nil {
			return err
		}
	}
	if d, err = tx.Save(d, storage.SaveOptions{Quiet: true}); err != nil {
		return err
	}
	if err := (&Task{Doc: d}).show(tx); err != nil {
		return err
	}
	instance, err := tx.Doc(storage.Ref(storage.Prop[string](d, "nt:processId")))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return hide(tx, instance, user)
}

// hide takes a user out of an access list.
func hide(tx *storage.Tx, d *storage.Doc, user string) error {
	entries, err := local(tx, d)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(entries), func(e storage.ACE) bool { return e.User == user })
	if len(left) == len(entries) {
		return nil
	}
	_, err = tx.SetACL(d, "local", left)
	return err
}

// gone reports whether a name is that of a user who is gone.
func gone(name string) bool { return strings.HasSuffix(name, goneMark) }
