package storage_test

import (
	"context"
	"fmt"
	"testing"

	"catena/storage"
	"catena/storage/credential"
)

func benchWorld(b *testing.B) (*world, *storage.Doc) {
	w := newWorld(b)
	path := ""
	for i := range 5 {
		path += fmt.Sprint("/level", i)
		w.make(path, "Folder", nil)
	}
	w.grant("/level0", "bob:ReadWrite", "staff:Read")
	w.update(w.System(), func(t *storage.Tx) error {
		for i := range 200 {
			if err := mk(t, fmt.Sprintf("%s/f%03d", path, i), "File", storage.Props{"dc:title": "Report"}); err != nil {
				return err
			}
		}
		return nil
	})
	var d *storage.Doc
	w.view(user("bob"), func(t *storage.Tx) (err error) {
		d, err = t.Doc(storage.Ref(path + "/f100"))
		return err
	})
	b.ReportAllocs()
	b.ResetTimer()
	return w, d
}

func BenchmarkDocByID(b *testing.B) {
	w, d := benchWorld(b)
	ref, bob := d.Ref(), user("bob")
	for b.Loop() {
		w.view(bob, func(t *storage.Tx) error {
			_, err := t.Doc(ref)
			return err
		})
	}
}

func BenchmarkDocByPath(b *testing.B) {
	w, d := benchWorld(b)
	ref, bob := storage.Ref(d.Path()), user("bob")
	for b.Loop() {
		w.view(bob, func(t *storage.Tx) error {
			_, err := t.Doc(ref)
			return err
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	w, d := benchWorld(b)
	bob := user("bob")
	parent := storage.Ref(d.ParentID())
	n := 0
	for b.Loop() {
		n++
		err := w.Update(context.Background(), bob, func(t *storage.Tx) error {
			p, err := t.Doc(parent)
			if err != nil {
				return err
			}
			_, err = t.Create(p, "File", fmt.Sprint("new", n), storage.Props{"dc:title": "New"})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	w, d := benchWorld(b)
	bob, ref := user("bob"), d.Ref()
	n := 0
	for b.Loop() {
		n++
		err := w.Update(context.Background(), bob, func(t *storage.Tx) error {
			d, err := t.Doc(ref)
			if err != nil {
				return err
			}
			if err := d.Set("dc:title", fmt.Sprint("title", n)); err != nil {
				return err
			}
			_, err = t.Save(d, storage.SaveOptions{})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChildren(b *testing.B) {
	w, d := benchWorld(b)
	bob, parent := user("bob"), storage.Ref(d.ParentID())
	for b.Loop() {
		w.view(bob, func(t *storage.Tx) error {
			p, err := t.Doc(parent)
			if err != nil {
				return err
			}
			page, err := t.Children(p, storage.PageOptions{Limit: 50, Offset: 50})
			if err == nil && len(page.Docs) != 50 {
				b.Fatal(len(page.Docs))
			}
			return err
		})
	}
}

func BenchmarkAppendProperties(b *testing.B) {
	w, d := benchWorld(b)
	w.view(user("bob"), func(t *storage.Tx) error {
		d, err := t.Doc(d.Ref())
		if err != nil {
			return err
		}
		var dst []byte
		for b.Loop() {
			dst = d.AppendProperties(dst[:0], nil, nil)
		}
		return nil
	})
}

func BenchmarkSignInAgain(b *testing.B) {
	w, _ := benchWorld(b)
	for b.Loop() {
		if _, err := credential.SignIn(context.Background(), w.Repo, "Administrator", adminPassword); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSaveWithVersion saves a note, which makes a version each time.
func BenchmarkSaveWithVersion(b *testing.B) {
	w, d := benchWorld(b)
	w.make("/n", "Note", nil)
	n := 0
	for b.Loop() {
		n++
		w.update(w.System(), func(t *storage.Tx) error {
			note, err := t.Doc("/n")
			if err != nil {
				return err
			}
			if err := note.Set("note:note", fmt.Sprint(d.ID(), n)); err != nil {
				return err
			}
			_, err = t.Save(note, storage.SaveOptions{})
			return err
		})
	}
}

// BenchmarkDocByProxy reads a document through a proxy.
func BenchmarkDocByProxy(b *testing.B) {
	w, d := benchWorld(b)
	var proxy storage.Ref
	w.update(w.System(), func(t *storage.Tx) error {
		root, err := t.Root()
		if err != nil {
			return err
		}
		p, err := t.Publish(d, root, true)
		if err == nil {
			proxy = p.Ref()
		}
		return err
	})
	for b.Loop() {
		w.view(user("ann"), func(t *storage.Tx) error {
			_, err := t.Doc(proxy)
			return err
		})
	}
}
