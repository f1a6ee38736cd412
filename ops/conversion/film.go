package conversion

import (
	"context"
	"slices"
	"strconv"

	"catena/engine/convert"
	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/fault"
)

// What a film keeps beside its file: pictures along it, and the film in the formats that browsers play.
const (
	storyboardField = "vid:storyboard"
	transcodedField = "vid:transcodedVideos"
)

// Storyboards are as those of the platform: nine pictures, of films that are long enough for them to differ.
const (
	storyboardPictures = 9
	storyboardFrom     = 10.0 // seconds of film
	storyboardSide     = 250  // pixels
)

// posterViews are the views of a film before it is played. Clients look for them by these names. The first is the largest.
var posterViews = []usualView{{"StaticPlayerView", 550, 550}, {"Small", 350, 350}}

// filmFormats are what films are transcoded to. Clients of the platform know these names.
var filmFormats = []filmFormat{{"mp4", "MP4 480p", "convertToMP4"}, {"webm", "WebM 480p", "convertToWebM"}}

// filmFormat is a format that films are kept in. Settings know it by its word.
type filmFormat struct{ word, name, converter string }

// FilmFormats are the words for the formats that films are kept in.
func FilmFormats() (words []string) {
	for _, f := range filmFormats {
		words = append(words, f.word)
	}
	return words
}

// copies are the formats that a film is kept in on this server.
func copies(of *storage.Blob, l convert.Films) []filmFormat {
	switch {
	case l.Largest > 0 && of.Size > l.Largest:
		return nil
	case l.Formats == nil:
		return filmFormats
	}
	return slices.DeleteFunc(slices.Clone(filmFormats), func(f filmFormat) bool { return !slices.Contains(l.Formats, f.word) })
}

// filmHeight is the height of transcoded films in pixels.
const filmHeight = 480

// recording is a film or a sound whose pictures or formats are to be made.
type recording struct {
	of         *storage.Blob
	known      bool // what it says about itself
	shown      bool // it has views, of the file or of its author
	transcoded []any
}

// recording reads what a document has already; the file is nil if there is nothing to do.
func (in background) recording(ctx context.Context, id string) (r recording, err error) {
	err = in.repo.View(ctx, in.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		if r.of, err = d.MainBlob(); err != nil {
			return err
		}
		if !d.HasFacet(videoFacet) {
			v, err := d.Get(audioDuration)
			r.known, r.shown = v != nil, true
			return err
		}
		format, err := d.Get(videoInfo + "/format")
		if err != nil {
			return err
		}
		r.known = format != nil && format != ""
		views, err := d.Get(viewsField)
		if err != nil {
			return err
		}
		list, _ := views.([]any)
		r.shown = len(list) > 0
		v, err := d.Get(transcodedField)
		r.transcoded, _ = v.([]any)
		return err
	})
	return r, gone(err)
}

// describe has a document say what is in its film or sound, if only a program can read it, and keep pictures of a film.
func describe(ctx context.Context, in background, id string) error {
	r, err := in.recording(ctx, id)
	if err != nil || r.of == nil || r.known && r.shown {
		return err
	}
	m, err := metadata.Tools{PDF: in.tools.PDF, Programs: in.tools.Programs}.MediaOf(ctx, r.of)
	if m == nil || err != nil {
		return err
	}
	props := storage.Props{}
	if !r.shown && m.Width > 0 {
		if err := in.pictures(ctx, r.of, m.Duration, props); err != nil {
			return err
		}
	}
	return in.keep(ctx, id, r.of, func(d *storage.Doc) error {
		if !r.known {
			if err := setMedia(d, m); err != nil {
				return err
			}
		}
		return setAll(d, props)
	})
}

// pictures makes the poster of a film in its sizes, and the storyboard. A film that cannot be drawn has none. Where FFmpeg is
// missing the job is tried again, since another server may have it.
func (in background) pictures(ctx context.Context, of *storage.Blob, duration float64, props storage.Props) error {
	stills, err := convert.Stills(ctx, in.tools, of, []float64{min(5, duration/10)}, posterViews[0].width)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		return nil //nolint:nilerr // it will be the same the next time
	}
	if err != nil || stills[0] == nil {
		return err
	}
	views := make([]any, 0, len(posterViews))
	for _, u := range posterViews {
		view, err := viewOf(ctx, in.tools, stills[0], u)
		if err != nil {
			return err
		}
		view["source"] = of.Digest
		views = append(views, view)
	}
	props[viewsField] = views
	if duration < storyboardFrom {
		return nil
	}
	at := make([]float64, storyboardPictures)
	for i := range at {
		at[i] = duration / storyboardPictures * float64(i)
	}
	if stills, err = convert.Stills(ctx, in.tools, of, at, storyboardSide); err != nil {
		if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
			return nil
		}
		return err
	}
	var board []any
	for i, b := range stills {
		if b != nil {
			board = append(board, map[string]any{"content": b, "timecode": at[i], "comment": of.Name + " " + strconv.Itoa(i)})
		}
	}
	props[storyboardField] = board
	return nil
}

// transcode keeps a film in the formats that browsers play. Each is kept as soon as it is made; a job that comes again goes on
// with those that are missing.
func transcode(ctx context.Context, in background, id string) error {
	r, err := in.recording(ctx, id)
	if err != nil || r.of == nil {
		return err
	}
	for _, f := range copies(r.of, in.tools.Films) {
		if slices.ContainsFunc(r.transcoded, func(v any) bool { m, _ := v.(map[string]any); return m["name"] == f.name }) {
			continue
		}
		by, err := convert.Named(f.converter)
		if err != nil {
			return err
		}
		made, err := by.Convert(ctx, in.tools, r.of, map[string]string{"height": strconv.Itoa(filmHeight)})
		if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
			continue // it will be the same the next time
		}
		if err != nil {
			return err
		}
		film := map[string]any{"name": f.name, "content": made}
		m, err := metadata.ReadMedia(made)
		if err != nil {
			return err
		}
		if m != nil {
			film["info"] = m.Info()
		}
		r.transcoded = append(r.transcoded, film)
		if err := in.keep(ctx, id, r.of, func(d *storage.Doc) error { return d.Set(transcodedField, r.transcoded) }); err != nil {
			return err
		}
	}
	return nil
}

// keep changes a document that still has the file that something was made of. The document counts as unchanged. One that has
// gone meanwhile needs nothing, and one whose file was replaced has a job of its own.
func (in background) keep(ctx context.Context, id string, of *storage.Blob, change func(*storage.Doc) error) error {
	return gone(in.repo.Update(ctx, in.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		if b, err := d.MainBlob(); err != nil || b == nil || b.Digest != of.Digest {
			return err
		}
		if err := change(d); err != nil {
			return err
		}
		_, err = tx.Save(d, storage.SaveOptions{Quiet: true})
		return err
	}))
}

func setAll(d *storage.Doc, props storage.Props) error {
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
	}
	return nil
}
