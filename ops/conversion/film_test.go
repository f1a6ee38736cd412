package conversion

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/convert"
	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

// madeFile has a program make a file.
func madeFile(t testing.TB, name, typ string, argv ...string) *storage.Blob {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), argv[0], append(argv[1:], path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return blob.FromBytes(name, typ, data)
}

func film(t testing.TB, name, typ, seconds, size string) *storage.Blob {
	return madeFile(t, name, typ, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=rate=5:duration="+seconds+":size="+size,
		"-f", "lavfi", "-i", "sine=duration="+seconds)
}

// await waits until a document is as it should become.
func await(t testing.TB, w *opstest.World, path string, done func(d *storage.Doc) bool) *storage.Doc {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var d *storage.Doc
		w.Do("Administrator", func(c *engine.Ctx) error { d = w.Doc(c, storage.Ref(path)); return nil })
		if done(d) {
			return d
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not within five minutes", path)
		}
	}
}

func valueAt(t testing.TB, d *storage.Doc, xpath string) any {
	t.Helper()
	v, err := d.Get(xpath)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func listAt(t testing.TB, d *storage.Doc, xpath string) []any {
	list, _ := valueAt(t, d, xpath).([]any)
	return list
}

func replaceFile(t testing.TB, w *opstest.World, path string, b *storage.Blob) {
	t.Helper()
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Doc(c, storage.Ref(path))
		if err := d.Set("file:content", b); err != nil {
			return err
		}
		_, err := c.Tx.Save(d, storage.SaveOptions{})
		return err
	})
}

// TestFilms has what a film gets in the background: what only FFprobe can read of it, a poster, a storyboard, and the formats
// of browsers. Another file replaces all of it.
func TestFilms(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.FFprobe)}
	w := opstest.New(t)
	Watch(w.Repo, tools)
	working(t, w, tools)
	avi, mp4 := film(t, "a.avi", "video/x-msvideo", "12", "640x360"), film(t, "b.mp4", "video/mp4", "2", "320x720")
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Video", "film", storage.Props{"file:content": avi})
		return nil
	})
	whole := func(board int) func(d *storage.Doc) bool {
		return func(d *storage.Doc) bool {
			return len(listAt(t, d, transcodedField)) == len(filmFormats) && len(listAt(t, d, viewsField)) == len(posterViews) && len(listAt(t, d, storyboardField)) == board
		}
	}
	d := await(t, w, "/film", whole(storyboardPictures))
	for xpath, want := range map[string]any{
		"vid:info/width": int64(640), "vid:info/height": int64(360), "vid:info/format": "avi", "vid:info/frameRate": 5.0,
		"vid:storyboard/0/timecode": 0.0, "vid:storyboard/8/comment": "a.avi 8",
		"picture:views/0/title": "StaticPlayerView", "picture:views/0/width": int64(550), "picture:views/1/title": "Small", "picture:views/1/width": int64(350),
		"vid:transcodedVideos/0/name": "MP4 480p", "vid:transcodedVideos/0/info/height": int64(360), "vid:transcodedVideos/1/name": "WebM 480p", "vid:transcodedVideos/1/info/width": int64(640),
	} {
		if got := valueAt(t, d, xpath); got != want {
			t.Errorf("%s: %v, want %v", xpath, got, want)
		}
	}
	if at, all := valueAt(t, d, "vid:storyboard/3/timecode"), valueAt(t, d, "vid:info/duration").(float64); all < 12 || all > 12.5 || at != all/storyboardPictures*3 {
		t.Errorf("fourth picture at %v of %v", at, all)
	}
	digests := map[string]bool{}
	for _, item := range listAt(t, d, storyboardField) {
		b, _ := item.(map[string]any)["content"].(*storage.Blob)
		if b == nil || b.Type != "image/jpeg" || longest(t, b) != storyboardSide {
			t.Errorf("storyboard: %v", b)
			continue
		}
		digests[b.Digest] = true
	}
	if len(digests) != storyboardPictures {
		t.Errorf("%d different pictures", len(digests))
	}
	// The film's second file is higher than what films are transcoded to, and too short for a storyboard.
	replaceFile(t, w, "/film", mp4)
	d = await(t, w, "/film", whole(0))
	for xpath, want := range map[string]any{
		"vid:info/format": "mp4", "vid:transcodedVideos/0/info/height": int64(480), "vid:transcodedVideos/0/content/name": "b.mp4",
		"vid:transcodedVideos/1/content/mime-type": "video/webm", "picture:views/0/height": int64(550), "picture:views/0/source": mp4.Digest,
	} {
		if got := valueAt(t, d, xpath); got != want {
			t.Errorf("%s: %v, want %v", xpath, got, want)
		}
	}
	// The jobs are done once: one that comes again changes nothing.
	for _, again := range []func(id string) error{
		func(id string) error { return transcode(t.Context(), background{w.Repo, tools}, id) },
		func(id string) error { return describe(t.Context(), background{w.Repo, tools}, id) },
	} {
		if err := again(d.ID()); err != nil {
			t.Error(err)
		}
	}
	after := await(t, w, "/film", whole(0))
	if after.ChangeToken() != d.ChangeToken() {
		t.Errorf("change token %s, before %s", after.ChangeToken(), d.ChangeToken())
	}
}

// TestDamagedFilms keeps nothing of a film that cannot be read, and gives its jobs up at once.
func TestDamagedFilms(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.FFprobe)}
	w := opstest.New(t)
	in := background{w.Repo, tools}
	whole := film(t, "a.mp4", "video/mp4", "1", "320x240")
	data, err := whole.Bytes(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*storage.Blob{
		"text": blob.FromBytes("a.mp4", "video/mp4", []byte("no film")), "empty": blob.FromBytes("a.avi", "video/x-msvideo", nil),
		"cut": blob.FromBytes("a.mp4", "video/mp4", data[:len(data)/3]),
	} {
		var id string
		w.Do("Administrator", func(c *engine.Ctx) error {
			id = w.Make(c, "/", "Video", name, storage.Props{"file:content": b}).ID()
			return nil
		})
		for _, do := range []func() error{
			func() error { return describe(t.Context(), in, id) },
			func() error { return transcode(t.Context(), in, id) },
		} {
			if err := do(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		d := await(t, w, "/"+name, func(*storage.Doc) bool { return true })
		if n := len(listAt(t, d, transcodedField)) + len(listAt(t, d, viewsField)) + len(listAt(t, d, storyboardField)); n > 0 {
			t.Errorf("%s: %d kept", name, n)
		}
	}
}

// TestFilmElsewhere tries again what the programs are missing for, since another server may have them, and changes nothing of
// documents that are gone or have another file meanwhile.
func TestFilmElsewhere(t *testing.T) {
	w := opstest.New(t)
	in := background{w.Repo, convert.Tools{Programs: programtest.None()}}
	mp4 := film(t, "a.mp4", "video/mp4", "1", "64x48")
	var id string
	w.Do("Administrator", func(c *engine.Ctx) error {
		id = w.Make(c, "/", "Video", "film", storage.Props{"file:content": mp4}).ID()
		return nil
	})
	for name, do := range map[string]func(context.Context, background, string) error{"describe": describe, "transcode": transcode} {
		if err := do(t.Context(), in, id); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s without programs: %v", name, err)
		}
		if err := do(t.Context(), in, "11111111-2222-3333-4444-555555555555"); err != nil {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
	other := blob.FromBytes("b.mp4", "video/mp4", []byte("other"))
	if err := in.keep(t.Context(), id, other, func(*storage.Doc) error { t.Error("another file was changed"); return nil }); err != nil {
		t.Error(err)
	}
}

// TestFilmFormats keeps films in the formats, and of the sizes, that the settings say; a job that was made before they were
// changed goes by the new ones, and converting a film when it is asked for is another matter.
func TestFilmFormats(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.FFprobe)}
	mp4 := film(t, "a.mp4", "video/mp4", "1", "64x48")
	for name, c := range map[string]struct {
		films convert.Films
		want  []string
	}{
		"all":       {convert.Films{}, []string{"MP4 480p", "WebM 480p"}},
		"one":       {convert.Films{Formats: []string{"webm"}, Largest: mp4.Size}, []string{"WebM 480p"}},
		"none":      {convert.Films{Formats: []string{}}, nil},
		"too large": {convert.Films{Largest: mp4.Size - 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := opstest.New(t)
			tools := tools
			tools.Films = c.films
			w.Do("Administrator", func(c *engine.Ctx) error {
				w.Make(c, "/", "Video", "film", storage.Props{"file:content": mp4})
				return nil
			})
			d := await(t, w, "/film", func(*storage.Doc) bool { return true })
			if jobs := jobsFor(d, mp4, tools); slices.Contains(jobs, transcodeJob) != (c.want != nil) || !slices.Contains(jobs, mediaJob) {
				t.Errorf("jobs %v", jobs)
			}
			if err := transcode(t.Context(), background{w.Repo, tools}, d.ID()); err != nil {
				t.Fatal(err)
			}
			d = await(t, w, "/film", func(*storage.Doc) bool { return true })
			var got []string
			for _, v := range listAt(t, d, transcodedField) {
				got = append(got, v.(map[string]any)["name"].(string))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("kept %v, want %v", got, c.want)
			}
			by, err := convert.Named("convertToWebM")
			if err != nil || by.Missing(tools, mp4.Type) != nil {
				t.Errorf("films are not converted: %v, %v", err, by.Missing(tools, mp4.Type))
			}
		})
	}
}

// TestSounds has FFprobe say how long a sound is that this program cannot read.
func TestSounds(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFprobe)}
	w := opstest.New(t)
	Watch(w.Repo, tools)
	working(t, w, tools)
	aiff := madeFile(t, "a.aiff", "audio/x-aiff", "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=6")
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Audio", "sound", storage.Props{"file:content": aiff})
		return nil
	})
	await(t, w, "/sound", func(d *storage.Doc) bool { return valueAt(t, d, audioDuration) == int64(6) })
}

// TestViews makes the views of new pictures, of formats that only ImageMagick reads too, which become JPEG. Views that came with
// the picture stay; those of a file that was replaced go.
func TestViews(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.ImageMagick)}
	w := opstest.New(t)
	Watch(w.Repo, tools)
	working(t, w, tools)
	drawn := func(name, typ string) *storage.Blob {
		return madeFile(t, name, typ, "convert", "-size", "2400x1200", "gradient:red-blue")
	}
	files := map[string]*storage.Blob{
		"png": blob.FromBytes("a.png", "image/png", picture(t, 2400, 1200)), "tiff": drawn("a.tif", "image/tiff"), "psd": drawn("a.psd", "image/vnd.adobe.photoshop"),
	}
	own := []any{map[string]any{"title": "Own", "content": files["png"]}}
	w.Do("Administrator", func(c *engine.Ctx) error {
		for name, b := range files {
			w.Make(c, "/", "Picture", name, storage.Props{"file:content": b})
		}
		w.Make(c, "/", "Picture", "own", storage.Props{"file:content": files["png"], viewsField: own})
		return nil
	})
	whole := func(d *storage.Doc) bool { return len(listAt(t, d, viewsField)) == len(usualViews) }
	for name, b := range files {
		d := await(t, w, "/"+name, whole)
		typ := "image/jpeg"
		if name == "png" {
			typ = "image/png"
		}
		for xpath, want := range map[string]any{
			"picture:views/0/title": "Original", "picture:views/0/content/digest": b.Digest, "picture:views/1/title": "FullHD", "picture:views/1/width": int64(1920),
			"picture:views/1/height": int64(960), "picture:views/1/content/mime-type": typ, "picture:views/4/title": "Thumbnail", "picture:views/4/width": int64(100),
			"picture:views/4/source": b.Digest,
		} {
			if got := valueAt(t, d, xpath); got != want {
				t.Errorf("%s: %s: %v, want %v", name, xpath, got, want)
			}
		}
	}
	d := await(t, w, "/png", whole)
	for name, want := range map[string]any{"width": int64(2400), "height": int64(1200), "format": "png", "depth": int64(8), "colorSpace": "Gray"} {
		if got := valueAt(t, d, pictureInfo+"/"+name); got != want {
			t.Errorf("info: %s: %v, want %v", name, got, want)
		}
	}
	replaceFile(t, w, "/png", blob.FromBytes("b.png", "image/png", picture(t, 50, 30)))
	await(t, w, "/png", func(d *storage.Doc) bool {
		return whole(d) && valueAt(t, d, "picture:views/1/width") == int64(50) && valueAt(t, d, "picture:info/width") == int64(50)
	})
	if d := await(t, w, "/own", func(d *storage.Doc) bool { return d.HasFacet(thumbnailFacet) }); len(listAt(t, d, viewsField)) != 1 {
		t.Errorf("own views: %v", listAt(t, d, viewsField))
	}
	replaceFile(t, w, "/own", nil)
	if d := await(t, w, "/own", func(*storage.Doc) bool { return true }); len(listAt(t, d, viewsField)) != 0 {
		t.Errorf("views without a file: %v", listAt(t, d, viewsField))
	}
}

// TestJobsFor says what is made of which file, with and without the programs.
func TestJobsFor(t *testing.T) {
	w := opstest.New(t)
	all := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.FFprobe, program.ImageMagick)}
	for _, test := range []struct {
		typ, file, mime string
		without, with   []string
	}{
		{"Picture", "a.png", "image/png", []string{thumbnailJob, viewsJob}, []string{thumbnailJob, viewsJob}},
		{"Picture", "a.heic", "image/heic", nil, []string{thumbnailJob, viewsJob}},
		{"Picture", "a.txt", "text/plain", nil, nil},
		{"File", "a.png", "image/png", []string{thumbnailJob}, []string{thumbnailJob}},
		{"Video", "a.mp4", "video/mp4", nil, []string{thumbnailJob, mediaJob, transcodeJob}},
		{"Video", "a.mxf", "application/mxf", nil, []string{thumbnailJob, mediaJob, transcodeJob}},
		{"Video", "a.zip", "application/zip", nil, nil},
		{"File", "a.mp4", "video/mp4", nil, []string{thumbnailJob}},
		{"Audio", "a.mp3", "audio/mpeg", nil, []string{mediaJob}},
	} {
		w.Do("Administrator", func(c *engine.Ctx) error {
			b := blob.FromBytes(test.file, test.mime, []byte("x"))
			d := w.Make(c, "/", test.typ, test.typ+test.file, storage.Props{"file:content": b})
			for i, tools := range []convert.Tools{{Programs: programtest.None()}, all} {
				want := [][]string{test.without, test.with}[i]
				if got := jobsFor(d, b, tools); !slices.Equal(got, want) {
					t.Errorf("%s of %s: %v, want %v", test.typ, test.mime, got, want)
				}
			}
			return nil
		})
	}
	if jobs := Jobs(w.Repo, all); jobs[transcodeJob].AtOnce != 1 || jobs[viewsJob].Do == nil || jobs[mediaJob].Do == nil {
		t.Errorf("handlers: %v", jobs)
	}
}
