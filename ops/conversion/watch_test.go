package conversion

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	"catena/storage/outbox"
)

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// picture is a PNG of one colour.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// working has the jobs of a repository carried out until the test ends.
func working(t testing.TB, w *opstest.World, tools convert.Tools) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- outbox.Run(ctx, w.Repo, Jobs(w.Repo, tools)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// kept waits until a document keeps the thumbnail of its file, and returns it with the document.
func kept(t testing.TB, w *opstest.World, path string) (b *storage.Blob, d *storage.Doc) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		w.Do("Administrator", func(c *engine.Ctx) error {
			d = w.Doc(c, storage.Ref(path))
			of, err := d.MainBlob()
			if err != nil || !d.HasFacet(thumbnailFacet) {
				return err
			}
			v, err := d.Get(thumbnailField)
			if small, _ := v.(*storage.Blob); small != nil && small.Name == thumbnailName(of) {
				b = small
			}
			return err
		})
		if b != nil {
			return b, d
		}
		if time.Now().After(end) {
			t.Fatalf("%s: no thumbnail within a minute", path)
		}
	}
}

func longest(t testing.TB, b *storage.Blob) int {
	t.Helper()
	data, err := b.Bytes(0)
	if err != nil {
		t.Fatal(err)
	}
	conf, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return max(conf.Width, conf.Height)
}

// TestWatch makes thumbnails of new files and of those that replace them. The document counts as unchanged.
func TestWatch(t *testing.T) {
	w := opstest.New(t)
	Watch(w.Repo, convert.Tools{})
	working(t, w, convert.Tools{})
	var before *storage.Doc
	w.Do("Administrator", func(c *engine.Ctx) error {
		before = w.Make(c, "/", "File", "photo", storage.Props{"file:content": blob.FromBytes("a.png", "image/png", picture(t, 1000, 500))})
		return nil
	})
	small, after := kept(t, w, "/photo")
	if n := longest(t, small); n != thumbnailSide {
		t.Errorf("%d pixels", n)
	}
	if after.ChangeToken() == "" || !sameUser(before.ChangeToken(), after.ChangeToken()) {
		t.Errorf("change token %s, before %s", after.ChangeToken(), before.ChangeToken())
	}
	for _, name := range []string{"dc:modified", "dc:lastContributor", "dc:contributors"} {
		was, err := before.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := after.Get(name); err != nil || !equal(was, is) {
			t.Errorf("%s: %v, before %v, %v", name, is, was, err)
		}
	}
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Doc(c, "/photo")
		// Somebody who read the document before its thumbnail was made can save it.
		if err := d.Set("file:content", blob.FromBytes("b.png", "image/png", picture(t, 70, 90))); err != nil {
			return err
		}
		_, err := c.Tx.Save(d, storage.SaveOptions{ChangeToken: before.ChangeToken()})
		return err
	})
	if small, _ := kept(t, w, "/photo"); longest(t, small) != 90 {
		t.Errorf("%d pixels of the second file", longest(t, small))
	}
}

func equal(a, b any) bool {
	at, isTime := a.(time.Time)
	if bt, ok := b.(time.Time); ok && isTime {
		return at.Equal(bt)
	}
	return strings.TrimSpace(toText(a)) == strings.TrimSpace(toText(b))
}

func toText(v any) string {
	if list, ok := v.([]any); ok {
		var all []string
		for _, item := range list {
			all = append(all, toText(item))
		}
		return strings.Join(all, ",")
	}
	s, _ := v.(string)
	return s
}

// sameUser compares the part of change tokens that changes of users change.
func sameUser(a, b string) bool {
	cut := func(s string) string { return s[strings.LastIndexByte(s, '-')+1:] }
	return cut(a) == cut(b)
}

// TestWatched says which documents get a job.
func TestWatched(t *testing.T) {
	w := opstest.New(t)
	tools := convert.Tools{Programs: programtest.None()}
	Watch(w.Repo, tools)
	file := func(name, typ string) storage.Props {
		return storage.Props{"file:content": blob.FromBytes(name, typ, []byte("x"))}
	}
	for _, test := range []struct {
		name, typ string
		props     storage.Props
		jobs      int
	}{
		{"picture", "File", file("a.png", "image/png"), 1},
		{"text", "File", file("a.txt", "text/plain"), 0},
		{"film without a program", "Video", file("a.mp4", "video/mp4"), 0},
		{"office without a program", "File", file("a.doc", "application/msword"), 0},
		{"other", "File", file("a.bin", "application/octet-stream"), 0},
		{"no file", "File", nil, 0},
		{"folder", "Folder", nil, 0},
	} {
		w.Do("Administrator", func(c *engine.Ctx) error {
			before, err := outbox.Jobs(c.Tx, "", thumbnailJob, 100)
			if err != nil {
				return err
			}
			d := w.Make(c, "/", test.typ, test.name, test.props)
			if test.jobs > 0 { // a change of something else makes no further job
				if err := d.Set("dc:title", "other"); err != nil {
					return err
				}
				if _, err := c.Tx.Save(d, storage.SaveOptions{}); err != nil {
					return err
				}
			}
			after, err := outbox.Jobs(c.Tx, "", thumbnailJob, 100)
			if len(after)-len(before) != test.jobs {
				t.Errorf("%s: %d jobs", test.name, len(after)-len(before))
			}
			return err
		})
	}
	// A document that is gone, or has another file, and one that cannot be drawn, end their jobs.
	in := background{w.Repo, tools}
	if err := draw(t.Context(), in, "11111111-2222-3333-4444-555555555555"); err != nil {
		t.Error(err)
	}
	w.Do("Administrator", func(c *engine.Ctx) error {
		id := w.Doc(c, "/picture").ID() // its file is no picture
		c.After(func(context.Context) error { return draw(t.Context(), in, id) })
		return nil
	})
}

// TestDrawnByPrograms makes thumbnails of what programs draw: in the background, never for an answer, which shows a sign
// until they are there.
func TestDrawnByPrograms(t *testing.T) {
	tools := convert.Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.PDFToPPM, program.LibreOffice)}
	w := opstest.New(t)
	Watch(w.Repo, tools)
	path := filepath.Join(t.TempDir(), "a.mp4")
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:size=640x480:rate=5", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	film, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pdf := madeBy(t, "any2pdf", blob.FromBytes("a.txt", "text/plain", []byte("page")), tools)
	odt := madeBy(t, "any2odt", blob.FromBytes("a.html", "text/html", []byte("<p>page")), tools)
	files := map[string]*storage.Blob{"pdf": pdf, "film": blob.FromBytes("a.mp4", "video/mp4", film), "odt": odt}
	w.Do("Administrator", func(c *engine.Ctx) error {
		for name, b := range files {
			d := w.Make(c, "/", "File", name, storage.Props{"file:content": b})
			shown, err := thumbnail(c, d)
			if err != nil || shown.Name != "file.png" {
				t.Errorf("%s: shown %v before it is made, %v", name, shown, err)
			}
		}
		return nil
	})
	working(t, w, tools)
	for name := range files {
		small, d := kept(t, w, "/"+name)
		if n := longest(t, small); n != thumbnailSide {
			t.Errorf("%s: %d pixels", name, n)
		}
		w.Do("Administrator", func(c *engine.Ctx) error {
			shown, err := thumbnail(c, d)
			if err != nil || shown.Digest != small.Digest {
				t.Errorf("%s: shown %v, %v", name, shown, err)
			}
			return err
		})
	}
}

func madeBy(t *testing.T, converter string, b *storage.Blob, tools convert.Tools) *storage.Blob {
	t.Helper()
	by, err := convert.Named(converter)
	if err != nil {
		t.Fatal(err)
	}
	out, err := by.Convert(t.Context(), tools, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestScheduleMissing refuses at once what no program can do, instead of trying it again and again.
func TestScheduleMissing(t *testing.T) {
	w := opstest.New(t)
	err := w.Try("Administrator", func(c *engine.Ctx) error {
		_, err := scheduleParams{wanted: wanted{Converter: "toVideoWebM"}}.blob(c, blob.FromBytes("a.mp4", "video/mp4", []byte("x")))
		return err
	})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "FFmpeg is not installed") {
		t.Error(err)
	}
}
