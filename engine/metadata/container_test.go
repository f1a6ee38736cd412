package metadata

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"
)

// titled is XMP with a title and a rating.
const titled = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
	`<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:Rating="4"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Old</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`

// Pictures of one pixel, lossy and lossless, the latter with an alpha channel.
const (
	lossyWebP    = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"
	losslessWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="
)

// pngOf is a PNG with chunks behind its head.
func pngOf(t testing.TB, chunks ...chunk) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 8, 4))
	picture.Set(3, 2, color.NRGBA{200, 100, 50, 128})
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	const head = len(pngHead) + 25 // with the chunk of the measures
	out := bytes.Clone(b.Bytes()[:head])
	for _, c := range chunks {
		out = append(out, c.raw...)
	}
	return append(out, b.Bytes()[head:]...)
}

func deflated(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// webpOf is a WebP with chunks behind its picture.
func webpOf(t testing.TB, encoded string, chunks ...chunk) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	all, ok := chunksOfWebP(data)
	if !ok {
		t.Fatal("the picture cannot be read")
	}
	if len(chunks) > 0 {
		if all, err = extended(data, all); err != nil {
			t.Fatal(err)
		}
		all[0].raw[8] |= flagEXIF | flagXMP
	}
	out := bytes.Clone(data[:webpHead])
	for _, c := range append(all, chunks...) {
		out = append(out, c.raw...)
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// tiffOf is a TIFF with texts in it, of its own kind and of IPTC and XMP.
func tiffOf(t testing.TB) []byte {
	t.Helper()
	var encoded bytes.Buffer
	if err := tiff.Encode(&encoded, image.NewGray(image.Rect(0, 0, 8, 4)), nil); err != nil {
		t.Fatal(err)
	}
	data, err := changeEXIF(encoded.Bytes(), map[string]string{"Software": "Old"})
	for _, e := range []struct {
		tag, kind uint16
		value     string
	}{{tiffXMP, exifByte, titled}, {tiffIPTC, exifUndefined, "\x1c\x02\x69\x00\x03Old\x1c\x02\x5a\x00\x05Paris"}} {
		if err == nil {
			data, err = changeEntry(data, e.tag, e.kind, func([]byte) ([]byte, error) { return []byte(e.value), nil })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestWriteContainers writes texts and a place into TIFF, PNG and WebP, over what was there and where nothing was, and removes
// them. The picture and all else that is known of it stay.
func TestWriteContainers(t *testing.T) {
	little, big := exif(binary.LittleEndian, "II"), exif(binary.BigEndian, "MM")
	bare := func(exif []byte) []byte { return exif[len(exifHead):] }
	texts := map[string]string{
		"exif:Artist": "Ada Lovelace", "Copyright": "©", "gps:latitude": "12.5", "gps:longitude": "-3.25", "xmp:Title": "Title & <more>", "xmp:Creator": "Ä",
	}
	want := map[string]any{
		"exif:Artist": "Ada Lovelace", "exif:Copyright": "©", "gps:latitude": 12.5, "gps:longitude": -3.25, "xmp:Title": "Title & <more>", "xmp:Creator": "Ä",
	}
	for _, c := range []struct {
		name, typ string
		data      []byte
		stays     map[string]any
		iptc      bool
	}{
		{"TIFF", "image/tiff", bigTIFF(), nil, true},
		{"TIFF with texts", "image/tiff", tiffOf(t), map[string]any{"exif:Software": "Old", "xmp:Rating": "4", "iptc:City": "Paris"}, true},
		{"PNG", "image/png", pngOf(t), nil, false},
		{"PNG with texts", "image/png", pngOf(t, pngChunk("iTXt", []byte("Comment\x00\x00\x00\x00\x00other")), pngChunk("eXIf", bare(big)), pngChunk("iTXt", []byte(pngText+titled))), map[string]any{"exif:Make": "Acme Cameras", "xmp:Rating": "4"}, false},
		{"PNG with compressed texts", "image/png", pngOf(t, pngChunk("iTXt", []byte(pngXMP+"\x01\x00en\x00x\x00"+deflated(t, titled)))), map[string]any{"xmp:Rating": "4"}, false},
		{"lossy WebP", "image/webp", webpOf(t, lossyWebP), nil, false},
		{"lossless WebP", "image/webp", webpOf(t, losslessWebP), nil, false},
		{"WebP with texts", "image/webp", webpOf(t, lossyWebP, webpChunk(webpEXIF, bare(little)), webpChunk(webpXMP, []byte(titled))), map[string]any{"exif:Make": "Acme Cameras", "xmp:Rating": "4"}, false},
		{"WebP with the head of a JPEG", "image/webp", webpOf(t, losslessWebP, webpChunk(webpEXIF, little)), nil, false},
	} {
		texts, want := withIPTC(c.iptc, texts, "iptc:Headline", "Straße"), withIPTC(c.iptc, want, "iptc:Headline", any("Straße"))
		b := blob.FromBytes("a", c.typ, c.data)
		made, err := Write(t.Context(), memory, b, texts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		has(t, c.name, made, want)
		has(t, c.name, made, c.stays)
		sameImage(t, c.name, c.data, bytesOf(t, made))
		none := map[string]string{}
		for name := range texts {
			none[name] = ""
		}
		gone, err := Write(t.Context(), memory, made, none)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		lacks := map[string]any{}
		for name := range want {
			lacks[name] = nil
		}
		has(t, c.name+", removed", gone, lacks)
		has(t, c.name+", removed", gone, c.stays)
		sameImage(t, c.name, c.data, bytesOf(t, gone))
	}
}

func withIPTC[V any](also bool, of map[string]V, name string, v V) map[string]V {
	out := map[string]V{}
	for k, v := range of {
		out[k] = v
	}
	if also {
		out[name] = v
	}
	return out
}

func has(t *testing.T, name string, b *blob.Blob, want map[string]any) {
	t.Helper()
	got, err := Read(t.Context(), Tools{}, b)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for tag, v := range want {
		if got[tag] != v {
			t.Errorf("%s: %s is %v, want %v", name, tag, got[tag], v)
		}
	}
}

// sameImage checks that two files show the same picture.
func sameImage(t *testing.T, name string, a, b []byte) {
	t.Helper()
	before, form, errBefore := image.Decode(bytes.NewReader(a))
	after, formAfter, err := image.Decode(bytes.NewReader(b))
	if errBefore != nil || err != nil || form != formAfter || before.Bounds() != after.Bounds() {
		t.Errorf("%s: the picture differs: %v, %v", name, errBefore, err)
		return
	}
	for y := before.Bounds().Min.Y; y < before.Bounds().Max.Y; y++ {
		for x := before.Bounds().Min.X; x < before.Bounds().Max.X; x++ {
			if !reflect.DeepEqual(color.NRGBA64Model.Convert(before.At(x, y)), color.NRGBA64Model.Convert(after.At(x, y))) {
				t.Fatalf("%s: the picture differs at %d, %d", name, x, y)
			}
		}
	}
}

// TestWriteDamagedContainers refuses what cannot be changed without damage; the file stays as it was.
func TestWriteDamagedContainers(t *testing.T) {
	xmp := func(text string) []byte { return pngOf(t, pngChunk("iTXt", []byte(pngXMP+text))) }
	for name, c := range map[string]struct {
		typ  string
		data []byte
	}{
		"no PNG":               {"image/png", []byte("text")},
		"PNG is cut":           {"image/png", pngOf(t)[:60]},
		"forged size":          {"image/png", []byte(pngHead + "\xff\xff\xff\xffIHDR0000")},
		"head is missing":      {"image/png", append([]byte(pngHead), pngChunk("IEND", nil).raw...)},
		"EXIF of nothing":      {"image/png", pngOf(t, pngChunk("eXIf", nil))},
		"XMP is cut":           {"image/png", xmp("\x00")},
		"XMP without language": {"image/png", xmp("\x00\x00xx")},
		"XMP is not deflated":  {"image/png", xmp("\x01\x00\x00\x00xx")},
		"XMP is a bomb":        {"image/png", xmp("\x01\x00\x00\x00" + deflated(t, strings.Repeat(" ", maxAbout+1)))},
		"no WebP":              {"image/webp", []byte("RIFF\x04\x00\x00\x00WEBP")},
		"WebP is cut":          {"image/webp", webpOf(t, lossyWebP)[:30]},
		"head of WebP is cut":  {"image/webp", []byte("RIFF\x0e\x00\x00\x00WEBPVP8X\x02\x00\x00\x00\x00\x00")},
		"XMP is open":          {"image/webp", webpOf(t, lossyWebP, webpChunk(webpXMP, []byte("<r:RDF xmlns:r='b'>")))},
		"XMP elsewhere":        {"image/tiff", append(append([]byte("II*\x00\x08\x00\x00\x00"), directory(binary.LittleEndian, 8, tag{tiffXMP, 1, 1 << 20, []byte{0xff, 0xff, 0, 0}})...), 0)},
		"IPTC set is cut":      {"image/tiff", append([]byte("II*\x00\x08\x00\x00\x00"), directory(binary.LittleEndian, 8, tag{tiffIPTC, 7, 6, []byte("\x1c\x02\x69\x00\x09x")})...)},
	} {
		b := blob.FromBytes("a", c.typ, c.data)
		texts := map[string]string{"exif:Artist": "a", "xmp:Title": "b"}
		if c.typ == "image/tiff" {
			texts["iptc:City"] = "c"
		}
		if _, err := Write(t.Context(), memory, b, texts); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Read(t.Context(), Tools{}, b); err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("reading, %s: %v", name, err)
		}
	}
	if Writable("image/png", "iptc:City") || !Writable("image/png", "xmp:Title") || Writable("image/gif", "exif:Artist") {
		t.Error("formats have places that they have not")
	}
}

// TestWrittenIsRead writes into what ImageMagick has made, which must show the same afterwards, and has Exiv2 read it, if it is
// installed.
func TestWrittenIsRead(t *testing.T) {
	programtest.Start(t, program.Limits{}, program.ImageMagick)
	dir := t.TempDir()
	for ext, typ := range map[string]string{"png": "image/png", "tif": "image/tiff", "webp": "image/webp", "jpg": "image/jpeg"} {
		in, out := filepath.Join(dir, "in."+ext), filepath.Join(dir, "out."+ext)
		if said, err := exec.CommandContext(t.Context(), "convert", "-size", "20x10", "gradient:red-blue", in).CombinedOutput(); err != nil {
			if ext != "webp" { // depends on how it was built
				t.Errorf("%s: %v: %s", ext, err, said)
			}
			continue
		}
		data, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Write(t.Context(), memory, blob.FromBytes("a", typ, data), map[string]string{"exif:Artist": "Ada Lovelace", "xmp:Title": "Engine"})
		if err != nil {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		if err := os.WriteFile(out, bytesOf(t, made), 0o600); err != nil {
			t.Fatal(err)
		}
		if exiv2, err := exec.LookPath("exiv2"); err == nil {
			said, err := exec.CommandContext(t.Context(), exiv2, "-pa", out).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "Ada Lovelace") || !strings.Contains(string(said), "Engine") {
				t.Errorf("%s: exiv2 says %v, %.900s", ext, err, said)
			}
		}
		said, err := exec.CommandContext(t.Context(), "compare", "-metric", "AE", in, out, "null:").CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != "0" {
			t.Errorf("%s: pixels that differ: %s, %v", ext, said, err)
		}
	}
}
