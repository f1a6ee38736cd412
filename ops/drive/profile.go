package drive

import (
	"context"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// Profiles say in which folders of the server the roots are shown. Without one, all are in the top folder. By permission there are
// two folders in it: one for what the user made, which is the user's workspace itself if that is a root, and one for what others
// share with the user. The names of the folders are the platform's, as are the beginnings of their ids.
const (
	byPermission = "permission"

	ownItem    = "userSyncRootParentFactory"
	ownName    = "My Docs"
	sharedID   = "sharedSyncRootParentFactory#"
	sharedName = "Other Docs"
)

// profileRow has the name of the profile.
const profileRow = "profile"

// SetProfile has roots shown by a profile, "" for none.
func SetProfile(tx *storage.Tx, name string) error {
	return tx.Table(optionTable).Put(profileRow, name)
}

// openProfile has the row be there from the beginning: what is asked for in each transaction and is not there, would have the
// transactions of a database wait for each other.
func openProfile(ctx context.Context, r *storage.Repo) error {
	var has bool
	known := func(tx *storage.Tx) (err error) {
		var name string
		has, err = tx.Table(optionTable).Get(profileRow, &name)
		return err
	}
	if err := r.View(ctx, r.System(), known); err != nil || has {
		return err
	}
	return r.Update(ctx, r.System(), func(tx *storage.Tx) error {
		if err := known(tx); err != nil || has {
			return err
		}
		return SetProfile(tx, "")
	})
}

// profile reads how roots are shown.
func (v *View) profile() error {
	var name string
	if _, err := v.tx.Table(optionTable).Get(profileRow, &name); err != nil || name != byPermission {
		return err
	}
	home, err := people.Home(v.tx, false)
	if err != nil && !fault.Is(err, fault.Denied) {
		return err
	}
	v.own = &Item{Name: ownName, ID: ownItem + "#"}
	if home != nil {
		v.home, v.own.ID = home.ID(), ownItem+"#"+docKey(home)
	}
	v.shared = &Item{Name: sharedName, ID: sharedID}
	for _, it := range []*Item{v.own, v.shared} {
		it.ParentID, it.Path, it.Folder, it.User, it.FolderRights = TopID, top.path+"/"+it.ID, true, v.tx.Principal().Name, &FolderRights{}
		it.Creator, it.LastContributor = "system", "system"
	}
	return nil
}

// rootAt returns where a root is shown, and its id there.
func (v *View) rootAt(d *storage.Doc) (in location, id string) {
	switch {
	case v.own == nil:
		return top, rootID(d)
	case d.ID() == v.home:
		return top, v.own.ID
	case text(d, "dc:creator") == v.tx.Principal().Name:
		return top.with(v.own.ID), rootID(d)
	}
	return top.with(v.shared.ID), rootID(d)
}

// named gives the user's workspace, if it is a root, the name of its folder.
func (v *View) named(it *Item) *Item {
	if it != nil && v.own != nil && it.ID == v.own.ID {
		it.Name, it.CanRename = v.own.Name, false
	}
	return it
}

// shelf returns a folder of the profile with an id, nil if it is none.
func (v *View) shelf(id string) (*Item, error) {
	switch {
	case v.own == nil || id != v.own.ID && id != v.shared.ID:
		return nil, nil //nolint:nilnil // no folder of the profile
	case id == v.own.ID && v.roots[v.home] != nil:
		return v.Item(v.roots[v.home])
	case id == v.own.ID:
		return v.own, nil
	}
	return v.shared, nil
}

// shelves are the folders of the profile.
func (v *View) shelves() ([]*Item, error) {
	own, err := v.shelf(v.own.ID)
	return []*Item{own, v.shared}, err
}

// on returns the roots that are shown in a folder of the server.
func (v *View) on(folder string) (docs storage.Docs) {
	for _, d := range v.Roots() {
		if in, _ := v.rootAt(d); in.id == folder {
			docs = append(docs, d)
		}
	}
	return docs
}
