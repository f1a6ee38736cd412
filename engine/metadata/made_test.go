package metadata

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"
)

// TestMadePictures reads pictures that ImageMagick has made of one with EXIF in either byte order, and of damaged ones what there
// is, without an error that names anything but their size.
func TestMadePictures(t *testing.T) {
	programtest.Start(t, program.Limits{}, program.ImageMagick)
	facts := map[string]any{
		"exif:Make": "Acme Cameras", "image:taken": time.Date(2024, 5, 2, 8, 15, 30, 0, time.UTC), "gps:latitude": -33.5, "gps:longitude": 151.25,
	}
	for mark, order := range map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in.jpg")
		if err := os.WriteFile(in, photo(t, segment(0xe1, exif(order, mark))), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			ext, typ, form string
			tells          bool // the format has a place for EXIF, and ImageMagick writes it
			maybe          bool // whether ImageMagick writes the format depends on how it was built
		}{
			{"jpg", "image/jpeg", "jpeg", true, false},
			{"png", "image/png", "png", true, false},
			{"webp", "image/webp", "webp", true, true},
			{"psd", "image/vnd.adobe.photoshop", "psd", false, false},
			{"tif", "image/tiff", "tiff", false, false},
			{"gif", "image/gif", "gif", false, false},
			{"bmp", "image/bmp", "bmp", false, false},
			{"jp2", "image/jp2", "jp2", false, true},
			{"heic", "image/heic", "heic", false, true},
			{"avif", "image/avif", "avif", false, true},
		} {
			if mark == "MM" && !f.tells {
				continue
			}
			out := filepath.Join(dir, "out."+f.ext)
			if said, err := exec.CommandContext(t.Context(), "convert", in, "-resize", "160x80!", out).CombinedOutput(); err != nil {
				if !f.maybe {
					t.Errorf("%s: %v: %s", f.ext, err, said)
				}
				continue
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read(t.Context(), Tools{}, blob.FromBytes("a."+f.ext, f.typ, data))
			if err != nil {
				t.Errorf("%s, %s: %v", mark, f.ext, err)
				continue
			}
			if got["image:width"] != int64(160) || got["image:height"] != int64(80) || got["image:format"] != f.form {
				t.Errorf("%s, %s: %v of %v × %v", mark, f.ext, got["image:format"], got["image:width"], got["image:height"])
			}
			for name, want := range facts {
				if f.tells && fmt.Sprint(got[name]) != fmt.Sprint(want) {
					t.Errorf("%s, %s: %s is %v, want %v", mark, f.ext, name, got[name], want)
				}
			}
			for cut := 0; cut < min(len(data), 600); cut += 13 {
				_, err := Read(t.Context(), Tools{}, blob.FromBytes("a."+f.ext, f.typ, data[:cut]))
				if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
					t.Errorf("%s cut at %d: %v", f.ext, cut, err)
				}
			}
		}
	}
}

// psd is a file of Photoshop of 3 × 2 pixels with resources, without the picture.
func psd(resources ...string) string {
	all := strings.Join(resources, "")
	return "8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x03\x00\x08\x00\x03" + "\x00\x00\x00\x02cc" +
		string(binary.BigEndian.AppendUint32(nil, uint32(len(all)))) + all
}

func resource(number uint16, name, data string) string {
	out := "8BIM" + string(binary.BigEndian.AppendUint16(nil, number)) + string(rune(len(name))) + name
	out += strings.Repeat("\x00", 1-len(name)&1) + string(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) + data
	return out + strings.Repeat("\x00", len(data)&1)
}

// TestPSD reads IPTC, EXIF and XMP of files of Photoshop, past resources that hold other things, and as far as they are whole.
func TestPSD(t *testing.T) {
	iim := "\x1c\x02\x69\x00\x08Headline\x1c\x02\x5a\x00\x05Paris"
	tiff := string(exif(binary.BigEndian, "MM")[len(exifHead):])
	xmp := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>`
	all := []string{resource(0x03ed, "", "xxx"), resource(0x0404, "Name", iim), resource(0x0422, "odd", tiff), resource(0x0424, "", xmp)}
	large := resource(0x0424, "", strings.Repeat(" ", maxSegment)+xmp)
	for name, c := range map[string]struct {
		data string
		want map[string]any
	}{
		"all":             {psd(all...), map[string]any{"image:width": 3, "image:height": 2, "iptc:Headline": "Headline", "iptc:City": "Paris", "exif:Make": "Acme Cameras", "gps:latitude": -33.5, "xmp:Rating": 4}},
		"none":            {psd(), map[string]any{"image:width": 3, "iptc:Headline": nil}},
		"too large":       {psd(large, all[1]), map[string]any{"xmp:Rating": nil, "iptc:City": "Paris"}},
		"something else":  {psd("9BIM", all[1]), map[string]any{"image:height": 2, "iptc:City": nil}},
		"resource is cut": {psd(all[1], all[2][:20]), map[string]any{"iptc:City": "Paris", "exif:Make": nil}},
		"no resources":    {psd()[:26], map[string]any{"image:width": 3}},
		"head is cut":     {psd()[:20], map[string]any{"image:width": nil}},
		"forged size":     {psd()[:32] + "\xff\xff\xff\xff", map[string]any{"image:width": 3}},
		"no such file":    {"9BPS" + psd()[4:], map[string]any{"image:width": nil}},
	} {
		got, err := Read(t.Context(), Tools{}, blob.FromBytes("a.psd", "image/vnd.adobe.photoshop", []byte(c.data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for tag, want := range c.want {
			if fmt.Sprint(got[tag]) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v, want %v", name, tag, got[tag], want)
			}
		}
	}
	forged := []byte(psd())
	copy(forged[14:], "\xff\xff\xff\xff\xff\xff\xff\xff")
	if _, err := Read(t.Context(), Tools{}, blob.FromBytes("a.psd", "image/vnd.adobe.photoshop", forged)); fault.CodeOf(err) != fault.CodePictureSize {
		t.Errorf("forged measures: %v", err)
	}
}
