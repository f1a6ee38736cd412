package conversion

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"catena/engine/convert"
	"catena/engine/program"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// Kinds of jobs that a new file has. The names are stored with the jobs and must not change.
const (
	thumbnailJob = "conversion.thumbnail" // makes the thumbnail of a document
	viewsJob     = "conversion.views"     // makes the views of a picture
	mediaJob     = "conversion.media"     // describes a film or a sound and makes pictures of a film
	transcodeJob = "conversion.transcode" // makes a film in other formats
)

// Watch has new films and sounds say what is in their files, and has what shows new files made in the background and
// kept with their documents, so that a list that shows them converts nothing: thumbnails, views of pictures, pictures of
// films, and films in the formats of browsers.
func Watch(repo *storage.Repo, t convert.Tools) {
	repo.OnEvent(fill)
	repo.OnEvent(func(tx *storage.Tx, e storage.Event) error {
		if e.Doc == nil || !newFile(e) {
			return nil
		}
		b, err := e.Doc.MainBlob()
		if err != nil || b == nil {
			return err
		}
		data, err := json.Marshal(e.Doc.ID())
		if err != nil {
			return err
		}
		for _, kind := range jobsFor(e.Doc, b, t) {
			if err := outbox.Enqueue(tx, outbox.Job{Kind: kind, Data: data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// jobsFor are the jobs that a document with a new file has, of those that can be done on this server.
func jobsFor(d *storage.Doc, b *storage.Blob, t convert.Tools) (kinds []string) {
	able := func(name string) bool {
		by, err := convert.Named(name)
		return err == nil && by.Missing(t, b.Type) == nil
	}
	if !convert.Quick(b.Type) && able(convert.Thumbnailer) {
		kinds = append(kinds, thumbnailJob)
	}
	if d.HasFacet(pictureFacet) && able(resizer) {
		kinds = append(kinds, viewsJob)
	}
	if d.HasFacet(videoFacet) && able(filmFormats[0].converter) {
		if kinds = append(kinds, mediaJob); len(copies(b, t.Films)) > 0 {
			kinds = append(kinds, transcodeJob)
		}
	}
	if d.HasFacet(audioFacet) && t.Programs.Missing(program.FFprobe) == nil {
		kinds = append(kinds, mediaJob)
	}
	return kinds
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

// draw makes the thumbnail of a document and keeps it with the document.
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
	return in.keep(ctx, id, of, func(d *storage.Doc) error { return setThumbnail(d, of, small) })
}

// drawViews makes the views of a picture and keeps them with it, unless it has some.
func drawViews(ctx context.Context, in background, id string) error {
	var of *storage.Blob
	err := in.repo.View(ctx, in.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		v, err := d.Get(viewsField)
		if list, _ := v.([]any); err == nil && len(list) == 0 {
			of, err = d.MainBlob()
		}
		return err
	})
	if of == nil || err != nil {
		return gone(err)
	}
	views, err := viewsOf(ctx, in.tools, of)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		return nil // it will be the same the next time
	}
	if err != nil {
		return err
	}
	return in.keep(ctx, id, of, func(d *storage.Doc) error {
		// The first view is the picture itself.
		first, _ := views[0].(map[string]any)
		info, err := d.Get(pictureInfo + "/width")
		if err == nil && info == nil && first["info"] != nil {
			err = d.Set(pictureInfo, first["info"])
		}
		if err != nil {
			return err
		}
		return d.Set(viewsField, views)
	})
}

// gone passes over documents that no longer exist, or must not be changed.
func gone(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil
	}
	return err
}
