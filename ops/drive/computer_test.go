package drive_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"catena/ops/drive"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/storagetest"
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

// TestDigestsInParts: where many files are to be read for their digests, a batch ends early and the next one goes on; of as many
// changes it is said that there are too many. All is told in the end, and nothing twice.
func TestDigestsInParts(t *testing.T) {
	w := world{storagetest.Open(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(drive.Limits{Digest: 100}) }), t}
	g := &gardener{world: w}
	var folder string
	w.must("Administrator", func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Folder", "", nil)
		if err == nil {
			folder = d.ID()
		}
		return err
	})
	g.register("Administrator", folder, true)
	c := &computer{t: t, repo: w.Repo, user: "Administrator", items: map[string]copied{}, upTo: -1}
	c.sync()
	const files = 20 // of 90 bytes: five are more than four times the limit
	w.must("Administrator", func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(folder))
		for i := 0; i < files && err == nil; i++ {
			b := blob.FromBytes(fmt.Sprint(i, ".bin"), "application/octet-stream", fmt.Appendf(nil, "%090d", i))
			_, err = tx.Create(d, "File", fmt.Sprint("f", i), storage.Props{"file:content": b})
		}
		return err
	})
	c.see(func(v *drive.View) error {
		s, err := v.Changes(c.upTo, c.roots)
		if err == nil && (!s.TooMany || len(s.Changes) != 0) {
			t.Errorf("%d changes, too many: %t", len(s.Changes), s.TooMany)
		}
		return err
	})
	var sizes []int
	seen := map[string]bool{}
	for at, n := "", 1; n > 0; {
		c.see(func(v *drive.View) error {
			it, err := v.Find("defaultSyncRootFolderItemFactory#" + w.Name() + "#" + folder)
			if err != nil {
				return err
			}
			items, next, err := v.Scroll(it, at, 12)
			at, n = next, len(items)
			sizes = append(sizes, n)
			for _, i := range items {
				if i.DigestAlgorithm != "MD5" || seen[i.ID] {
					t.Errorf("%s: %s, twice %t", i.Name, i.DigestAlgorithm, seen[i.ID])
				}
				seen[i.ID] = true
			}
			return err
		})
	}
	if want := []int{5, 5, 5, 5, 0}; !slices.Equal(sizes, want) || len(seen) != files {
		t.Errorf("batches of %v, want %v; %d files", sizes, want, len(seen))
	}
}
