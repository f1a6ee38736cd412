package storage

import (
	"context"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// seed finds the root, or writes what a fresh repository has.
func (r *Repo) seed(ctx context.Context, password string) error {
	found := false
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		found, err = t.findRoot()
		return err
	})
	if err != nil || found {
		return err
	}
	return r.Update(ctx, r.System(), func(t *Tx) error {
		if found, err := t.findRoot(); err != nil || found {
			return err
		}
		if err := t.listIndexes(r.wantedIndexes()); err != nil {
			return err
		}
		if err := t.seedTree(); err != nil {
			return err
		}
		if r.part {
			return nil // people are there already
		}
		return t.seedOwned(password)
	})
}

var rootKey = layout.MetaKey("root")

func (t *Tx) findRoot() (bool, error) {
	b, err := t.kv.Get(rootKey)
	if err != nil || b == nil {
		return false, err
	}
	if len(b) != 16 {
		return false, fault.Internal.Errorf("root: id has %d bytes", len(b))
	}
	copy(t.repo.root[:], b)
	return true, nil
}

// seedTree creates the root and the folders that clients of the platform expect in a new repository, with their permissions.
func (t *Tx) seedTree() error {
	root, err := t.NewDoc("Root")
	if err != nil {
		return err
	}
	if root.id, err = t.newDocID(); err != nil {
		return err
	}
	t.repo.root = root.id
	if err := t.kv.Set(rootKey, root.id[:]); err != nil {
		return err
	}
	t.touch(root, true)
	if err := t.insert(root, "create", Event{Name: "documentCreated", Doc: root}); err != nil {
		return err
	}
	if root, err = t.SetACL(root, "local", []ACE{
		{User: AdministratorName, Permission: "Everything", Granted: true},
		{User: Members, Permission: "Read", Granted: true},
	}); err != nil {
		return err
	}
	domain, err := t.Create(root, "Domain", "default-domain", Props{"dc:title": "Domain"})
	if err != nil {
		return err
	}
	for _, c := range [...][3]string{
		{"WorkspaceRoot", "workspaces", "Workspaces"},
		{"SectionRoot", "sections", "Sections"},
		{"TemplateRoot", "templates", "Templates"},
	} {
		d, err := t.Create(domain, c[0], c[1], Props{"dc:title": c[2]})
		if err != nil {
			return err
		}
		if c[0] != "SectionRoot" {
			continue
		}
		if _, err := t.SetACL(d, "local", []ACE{{User: Members, Permission: "CanAskForPublishing", Granted: true}}); err != nil {
			return err
		}
	}
	return nil
}
