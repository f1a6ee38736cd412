package storage_test

import (
	"slices"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// Every owner of data is called in the transaction in which a document or a user ends, and can refuse that.
func TestOwners(t *testing.T) {
	var called []string
	var refusal error
	w := newWorld(t, func(c *storage.Config) {
		c.Owners = append(slices.Clip(c.Owners), storage.Owner{
			Name: "test",
			Erase: func(tx *storage.Tx, d *storage.Doc) error {
				called = append(called, "erase "+d.Path())
				if err := tx.Table("test").Put(d.Name(), true); err != nil {
					return err
				}
				return refusal
			},
			Leave: func(tx *storage.Tx, user string) error {
				called = append(called, "leave "+user)
				if err := tx.Table("test").Put(user, true); err != nil {
					return err
				}
				return refusal
			},
		})
	})
	w.make("/f", "Folder", nil)
	w.make("/f/a", "File", nil)
	w.update(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "") })
	remove := func() (document, user error) {
		document = w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/f")
			if err != nil {
				return err
			}
			return tx.Delete(d)
		})
		user = w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
		return document, user
	}
	kept := func() (names []string) {
		w.view(w.System(), func(tx *storage.Tx) error {
			for name := range tx.Table("test").Scan("", "", false, 0) {
				names = append(names, name)
			}
			return nil
		})
		return names
	}
	refusal = fault.Conflict.Errorf("not now")
	document, user := remove()
	wantKind(t, document, fault.Conflict, "not now")
	wantKind(t, user, fault.Conflict, "not now")
	if got := kept(); len(got) > 0 {
		t.Errorf("refused, but written: %v", got)
	}
	refusal, called = nil, nil
	if document, user = remove(); document != nil || user != nil {
		t.Fatal(document, user)
	}
	if want := []string{"erase /f/a", "erase /f", "leave ann"}; !slices.Equal(called, want) {
		t.Errorf("called %v, want %v", called, want)
	}
	if got, want := kept(), []string{"a", "ann", "f"}; !slices.Equal(got, want) {
		t.Errorf("written %v, want %v", got, want)
	}
}
