package drive_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"catena/ops/drive"
	"catena/storage"
)

// copied is what a computer has of an item.
type copied struct {
	parent, name, digest         string
	rename, remove, update, fill bool
}

// computer is a simulated client: it keeps a copy, and knows nothing but what the operations tell.
type computer struct {
	t     *testing.T
	repo  *storage.Repo
	user  string
	items map[string]copied
	roots *string
	upTo  int64
}

func (c *computer) see(fn func(v *drive.View) error) {
	c.t.Helper()
	as, err := c.repo.Principal(context.Background(), c.user)
	if err == nil {
		err = c.repo.View(context.Background(), as, func(tx *storage.Tx) error {
			v, err := drive.Open(tx)
			if err != nil {
				return err
			}
			return fn(v)
		})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func copyOf(it *drive.Item) copied {
	f := copied{parent: it.ParentID, name: it.Name, rename: it.CanRename, remove: it.CanDelete}
	if it.Content != nil {
		f.digest, f.update = it.Digest, it.CanUpdate
	}
	if it.FolderRights != nil {
		f.fill = it.CanCreateChild
	}
	return f
}

// scan reads all that is in a folder, as of one moment.
func scan(v *drive.View, it *drive.Item, into map[string]copied) error {
	if it.CanScrollDescendants {
		for at := ""; ; {
			items, next, err := v.Scroll(it, at, 3)
			if err != nil || len(items) == 0 {
				return err
			}
			for _, i := range items {
				if _, twice := into[i.ID]; twice {
					return fmt.Errorf("%s comes twice", i.ID)
				}
				into[i.ID] = copyOf(i)
			}
			at = next
		}
	}
	items, err := v.Children(it)
	for _, i := range items {
		into[i.ID] = copyOf(i)
		if err == nil && i.Folder {
			err = scan(v, i, into)
		}
	}
	return err
}

func (c *computer) now() map[string]copied {
	all := map[string]copied{}
	c.see(func(v *drive.View) error { return scan(v, v.Top(), all) })
	return all
}

// gone takes away what has an id, which may lack its beginning, and what is in it.
func (c *computer) gone(id string) {
	for whole := range c.items {
		if whole == id || strings.HasSuffix(whole, "#"+id) {
			c.remove(whole)
		}
	}
}

// remove takes an item and what is in it away.
func (c *computer) remove(id string) {
	delete(c.items, id)
	for child, f := range c.items {
		if f.parent == id {
			c.remove(child)
		}
	}
}

// sync applies a summary as the desktop client does: items by what is informed of them, and the folders among them read
// again.
func (c *computer) sync() {
	c.t.Helper()
	var s *drive.Summary
	c.see(func(v *drive.View) (err error) { s, err = v.Changes(c.upTo, c.roots); return err })
	c.roots, c.upTo = &s.RootsText, s.UpTo
	if s.TooMany {
		c.items = c.now()
		return
	}
	for _, ch := range s.Changes {
		if ch.Item == nil {
			if ch.Name != "" {
				c.t.Fatalf("%s: the name %q of what is gone is told", ch.ItemID, ch.Name)
			}
			c.gone(ch.ItemID)
		}
	}
	for _, ch := range s.Changes {
		if ch.Item == nil {
			continue
		}
		c.items[ch.ItemID] = copyOf(ch.Item)
		if !ch.Item.Folder {
			continue
		}
		below := map[string]copied{}
		c.see(func(v *drive.View) error {
			it, err := v.Find(ch.ItemID)
			if err != nil || it == nil {
				return err
			}
			return scan(v, it, below)
		})
		item := c.items[ch.ItemID]
		c.remove(ch.ItemID)
		c.items[ch.ItemID] = item
		maps.Copy(c.items, below)
	}
}
