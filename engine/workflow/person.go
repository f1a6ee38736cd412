package workflow

import (
	"fmt"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/search"
)

// goneMark ends the names of users who are gone, as in the names of their folders: a later user of the name is not
// the initiator of an old workflow.
const goneMark = "%gone"

// administrators are those who do what users who are gone were asked for.
const administrators = "group:administrators"

// Owner keeps the tasks of users.
var Owner = storage.Owner{Name: "workflow", Leave: end}

// end has a user leave what goes on: open tasks go to the administrators, and running workflows that the user started
// go on with the administrators in place of their initiator. What the user did before stays as it is.
func end(tx *storage.Tx, user string) error {
	tx = tx.As(tx.Repo().System())
	if err := leaveTasks(tx, "user:"+user); err != nil {
		return err
	}
	running := fmt.Sprintf("ecm:currentLifeCycleState = '%s' AND docri:initiator", Running)
	return all(tx, instanceType, running, user, func(d *storage.Doc) error {
		if err := d.Set("docri:initiator", user+goneMark); err != nil {
			return err
		}
		d, err := tx.Save(d, storage.SaveOptions{Quiet: true})
		if err != nil {
			return err
		}
		page, err := Tasks(tx, Filter{Instance: d.ID()}, storage.PageOptions{CountLimit: -1})
		if err != nil {
			return err
		}
		for _, t := range page.Docs {
			if err := t.Set("nt:initiator", user+goneMark); err != nil {
				return err
			}
			if t, err = tx.Save(t, storage.SaveOptions{Quiet: true}); err != nil {
				return err
			}
			if err := (&Task{Doc: t}).show(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// EndGroup has the open tasks of a group go to the administrators.
func EndGroup(tx *storage.Tx, group string) error {
	return leaveTasks(tx.As(tx.Repo().System()), "group:"+group)
}

// Watch has the open tasks of an instance cancelled when that is deleted. It is called before the repository is used.
func Watch(repo *storage.Repo) {
	repo.OnEvent(func(tx *storage.Tx, e storage.Event) error {
		if e.Name != "aboutToRemove" || e.Doc == nil || e.Doc.Type().Name != instanceType {
			return nil
		}
		tx = tx.As(repo.System())
		if err := revoke(tx, e.Doc.ID(), texts(e.Doc, "docri:participatingDocuments")); err != nil {
			return err
		}
		return all(tx, taskType, fmt.Sprintf("ecm:currentLifeCycleState = '%s' AND nt:processId", Opened), e.Doc.ID(), func(d *storage.Doc) error {
			return (&Task{Doc: d}).Cancel(tx)
		})
	})
}

// leaveTasks takes a user or group out of open tasks.
func leaveTasks(tx *storage.Tx, name string) error {
	return all(tx, taskType, "nt:openFor", name, func(d *storage.Doc) error { return leaveTask(tx, d, name) })
}

// all calls fn for every document of a type whose property has a value, which fn takes away.
func all(tx *storage.Tx, typ, key, value string, fn func(*storage.Doc) error) error {
	for {
		page, err := search.Query(tx, "SELECT * FROM "+typ+" WHERE "+key+" = ?", search.Options{Args: []any{value}, PageOptions: storage.PageOptions{CountLimit: -1}})
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

func leaveTask(tx *storage.Tx, d *storage.Doc, name string) (err error) {
	for _, key := range []string{"nt:actors", "nt:delegatedActors", "nt:openFor"} {
		names := texts(d, key)
		at := slices.Index(names, name)
		if at < 0 {
			continue
		}
		if names = slices.Delete(names, at, at+1); !slices.Contains(names, administrators) {
			names = append(names, administrators)
		}
		if err := d.Set(key, names); err != nil {
			return err
		}
	}
	if d, err = tx.Save(d, storage.SaveOptions{Quiet: true}); err != nil {
		return err
	}
	return (&Task{Doc: d}).show(tx)
}

// gone reports whether a name is that of a user who is gone.
func gone(name string) bool { return strings.HasSuffix(name, goneMark) }
