package conversion

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// thumbnailJob is the kind of a job that makes the thumbnail of a document. The name is stored with the jobs.
const thumbnailJob = "conversion.thumbnail"

// Watch has new films and sounds say what is in their files, and has small pictures of new files made in the background and
// kept with their documents, so that a list that shows them converts nothing.
func Watch(repo *storage.Repo, t convert.Tools) {
	repo.OnEvent(fill)
	repo.OnEvent(func(tx *storage.Tx, e storage.Event) error {
		if e.Doc == nil || !newFile(e) {
			return nil
		}
		b, err := e.Doc.MainBlob()
		if err != nil || b == nil || convert.Quick(b.Type) {
			return err
		}
		by, err := convert.Named(convert.Thumbnailer)
		if err != nil || by.Missing(t, b.Type) != nil {
			return err
		}
		data, err := json.Marshal(e.Doc.ID())
		if err != nil {
			return err
		}
		return outbox.Enqueue(tx, outbox.Job{Kind: thumbnailJob, Data: data})
	})
}

// newFile reports whether a document may have got another main file.
func newFile(e storage.Event) bool {
	switch e.Name {
	case "documentCreated", "documentImported":
		return !e.Doc.IsVersion() && !e.Doc.IsProxy()
	case "documentModified":
		return slices.ContainsFunc(e.Changed, func(xpath string) bool {
			return strings.HasPrefix(xpath, "file:content") || strings.HasPrefix(xpath, "files:files")
		})
	}
	return false
}

// draw makes the thumbnail of a document and keeps it with the document, which counts as unchanged. A document that has
// gone meanwhile needs none, and one whose file was replaced has a job of its own.
func draw(ctx context.Context, in background, id string) error {
	var of *storage.Blob
	err := in.repo.View(ctx, in.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err == nil {
			of, err = d.MainBlob()
		}
		return err
	})
	if of == nil || err != nil {
		return gone(err)
	}
	// Between the transactions, as in carryOut.
	small, err := smallPicture(ctx, in.tools, of)
	if small == nil || err != nil {
		return err
	}
	return gone(in.repo.Update(ctx, in.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		if b, err := d.MainBlob(); err != nil || b == nil || b.Digest != of.Digest {
			return err
		}
		if err := setThumbnail(d, of, small); err != nil {
			return err
		}
		_, err = tx.Save(d, storage.SaveOptions{Quiet: true})
		return err
	}))
}

// gone passes over documents that no longer exist, or must not be changed.
func gone(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil
	}
	return err
}
