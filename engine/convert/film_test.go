package convert

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"
)

// generated has a program make a file of its own.
func generated(t testing.TB, name, typ string, argv ...string) *blob.Blob {
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

// film is a film of some seconds with sound.
func film(t testing.TB, name, typ string, more ...string) *blob.Blob {
	return generated(t, name, typ, append([]string{
		"ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=320x240:rate=10",
		"-f", "lavfi", "-i", "sine=duration=2",
	}, more...)...)
}

// TestFilms converts films of several formats, made by FFmpeg, to the formats of the web.
func TestFilms(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg)}
	mp4 := film(t, "a.mp4", "video/mp4")
	sources := []*blob.Blob{mp4, film(t, "a.avi", "video/x-msvideo"), film(t, "a.mkv", "video/x-matroska"), film(t, "a.mov", "video/quicktime")}
	for _, b := range sources {
		for _, test := range []struct{ converter, name, typ, magic string }{
			{"convertToMP4", "a.mp4", "video/mp4", "ftyp"},
			{"toVideoWebM", "a.webm", "video/webm", "\x1a\x45\xdf\xa3"},
			{"convertToOgg", "a.ogv", "video/ogg", "OggS"},
			{"convertToMP3", "a.mp3", "audio/mpeg", "ID3"},
		} {
			got, err := made(t, tools, test.converter, b, map[string]string{"height": "120"})
			if err != nil || got.Name != test.name || got.Type != test.typ || !bytes.Contains(content(t, got)[:16], []byte(test.magic)) {
				t.Errorf("%s of %s: %v, %v", test.converter, b.Name, got, err)
				continue
			}
			if test.typ == "audio/mpeg" {
				continue
			}
			// What was made is a film of the height that was asked for.
			still, err := made(t, tools, "videoScreenshot", got, map[string]string{"position": "1"})
			if err != nil {
				t.Errorf("%s: %v", test.converter, err)
				continue
			}
			if conf, format, err := image.DecodeConfig(bytes.NewReader(content(t, still))); err != nil || format != "jpeg" || conf.Width != 160 || conf.Height != 120 {
				t.Errorf("%s of %s: %s of %d × %d, %v", test.converter, b.Name, format, conf.Width, conf.Height, err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		b      *blob.Blob
		params map[string]string
	}{
		{"behind the end", mp4, map[string]string{"position": "100"}},
		{"no number", mp4, map[string]string{"position": "x"}},
		{"before the beginning", mp4, map[string]string{"position": "-1"}},
		{"not a number", mp4, map[string]string{"position": "NaN"}},
		{"truncated", blob.FromBytes("a.mp4", "video/mp4", content(t, mp4)[:2000]), nil},
		{"empty", blob.FromBytes("a.mp4", "video/mp4", nil), nil},
		{"text", blob.FromBytes("a.mp4", "video/mp4", []byte("this is not a film")), nil},
	} {
		if got, err := made(t, tools, "videoScreenshot", test.b, test.params); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
	}
}

// TestHostileFilms checks that lists of films are not followed to other files.
func TestHostileFilms(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg)}
	secret := filepath.Join(t.TempDir(), "secret.mp4")
	if err := os.WriteFile(secret, content(t, film(t, "a.mp4", "video/mp4")), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list of HLS":    "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\nfile://" + secret + "\n#EXT-X-ENDLIST\n",
		"list of FFmpeg": "ffconcat version 1.0\nfile " + secret + "\n",
		"address":        "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/film.ts\n#EXT-X-ENDLIST\n",
	} {
		if got, err := made(t, tools, "videoScreenshot", blob.FromBytes("a.m3u8", "video/mp4", []byte(text)), nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestEnded checks that a conversion ends with its call, and that slow and large ones are refused.
func TestEnded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // tests of other packages have their programs leave files in the system's
	b := film(t, "a.mp4", "video/mp4", "-t", "2")
	tools := Tools{Programs: programtest.Start(t, program.Limits{Transcoding: time.Millisecond, Out: 10_000, Time: time.Minute}, program.FFmpeg)}
	if _, err := made(t, tools, "convertToMP4", b, nil); !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "takes more than 1ms") {
		t.Error(err)
	}
	tools = Tools{Programs: programtest.Start(t, program.Limits{Out: 10_000}, program.FFmpeg)}
	if got, err := made(t, tools, "convertToOgg", b, nil); !fault.Is(err, fault.Limit) {
		t.Error(got, err)
	}
	tools = Tools{Programs: programtest.Start(t, program.Limits{In: 100}, program.FFmpeg)}
	if got, err := made(t, tools, "convertToOgg", b, nil); !fault.Is(err, fault.Limit) {
		t.Error(got, err)
	}
	c, err := Named("convertToOgg")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Convert(ctx, Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg)}, b, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "catena-program-*", "film")); err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

// can reports whether ImageMagick reads and writes a format.
func can(t testing.TB, form string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "convert", "-list", "format").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return regexp.MustCompile(`(?m)^\s*` + form + `\*?\s+\S+\s+rw`).Match(out)
}

// TestOtherPictures reads pictures in formats that this program cannot decode, and refuses bombs.
func TestOtherPictures(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.ImageMagick)}
	make := func(name, typ string, more ...string) *blob.Blob {
		return generated(t, name, typ, append([]string{"convert", "-size", "400x200", "gradient:red-blue"}, more...)...)
	}
	psd := make("a.psd", "image/vnd.adobe.photoshop")
	// Whether ImageMagick writes these depends on how it was built.
	modern := []*blob.Blob{}
	for _, f := range []struct{ form, name, typ string }{{"HEIC", "a.heic", "image/heic"}, {"AVIF", "a.avif", "image/avif"}} {
		if can(t, f.form) {
			modern = append(modern, make(f.name, f.typ))
		}
	}
	for _, b := range append(modern,
		psd, make("a.ppm", "image/x-portable-pixmap"), make("a.tga", "image/x-tga"), make("a.tif", "image/tiff"), make("b.tif", "image/tiff", "-compress", "lzw"),
		make("a.jp2", "image/jp2"),
	) {
		for _, test := range []struct {
			converter, format string
			width             int
		}{{"pictureResize", "png", 100}, {"pictureToJPEG", "jpeg", 100}, {"pictureToPNG", "png", 400}} {
			params := map[string]string{"width": "100"}
			if test.width == 400 {
				params = nil
			}
			got, err := made(t, tools, test.converter, b, params)
			if err != nil {
				t.Errorf("%s of %s: %v", test.converter, b.Name, err)
				continue
			}
			conf, format, err := image.DecodeConfig(bytes.NewReader(content(t, got)))
			if err != nil || format != test.format || conf.Width != test.width || conf.Height != test.width/2 {
				t.Errorf("%s of %s: %s of %d × %d, %v", test.converter, b.Name, format, conf.Width, conf.Height, err)
			}
		}
		if got, err := made(t, tools, "pictureConvertToPDF", b, nil); err != nil || !bytes.HasPrefix(content(t, got), []byte("%PDF")) {
			t.Errorf("PDF of %s: %v", b.Name, err)
		}
	}
	for _, b := range modern {
		cut := blob.FromBytes(b.Name, b.Type, content(t, b)[:b.Size/2])
		if got, err := made(t, tools, "pictureToPNG", cut, nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("half of %s: %v, %v", b.Name, got, err)
		}
	}
	whole := content(t, psd)
	bomb := bytes.Clone(whole)
	copy(bomb[14:], "\x00\x01\x00\x00\x00\x01\x00\x00") // sides of 65536 pixels
	for name, b := range map[string]*blob.Blob{
		"truncated":           blob.FromBytes("a.psd", psd.Type, whole[:20]),
		"bomb":                blob.FromBytes("a.psd", psd.Type, bomb),
		"language of its own": blob.FromBytes("a.psd", psd.Type, []byte("push graphic-context\nimage over 0,0 0,0 'text:/etc/passwd'\npop graphic-context")),
		"text":                blob.FromBytes("a.jp2", "image/jp2", []byte("@/etc/passwd")),
	} {
		if got, err := made(t, tools, "pictureToPNG", b, nil); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := made(t, tools, "pictureResize", blob.FromBytes("a", "image/x-icon", nil), map[string]string{"width": "-1"}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
