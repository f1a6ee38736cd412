package metadata

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"catena/storage/blob"
	"catena/storage/fault"
)

// memory keeps what is written in memory.
var memory = Tools{NewBlob: func(name, typ string, r io.Reader) (*blob.Blob, error) {
	data, err := io.ReadAll(r)
	return blob.FromBytes(name, typ, data), err
}}

func bytesOf(t testing.TB, b *blob.Blob) []byte {
	t.Helper()
	data, err := b.Bytes(0)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// samePicture checks that two JPEG files hold the same picture: the bytes from the first scan on, and what they decode to.
func samePicture(t *testing.T, a, b []byte) {
	t.Helper()
	_, restA, okA := partsOfJPEG(a)
	_, restB, okB := partsOfJPEG(b)
	if !okA || !okB || !bytes.Equal(restA, restB) {
		t.Fatal("the bytes of the picture have changed")
	}
	decode := func(data []byte) image.Image {
		i, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	if !reflect.DeepEqual(decode(a), decode(b)) {
		t.Error("the pictures differ")
	}
}

// TestWriteJPEG writes EXIF in both byte orders, IPTC and XMP, over what was there and where nothing was, and removes it again.
func TestWriteJPEG(t *testing.T) {
	xmp := segment(markAPP1, []byte(xmpHead+`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`+
		`<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:Rating="4"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Old</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`))
	iim := "\x1c\x02\x69\x00\x03Old\x1c\x02\x5a\x00\x05Paris"
	iptc := segment(markAPP13, []byte(iptcHead+"8BIM\x03\xed\x00\x00\x00\x00\x00\x02xx8BIM\x04\x04\x00\x00\x00\x00\x00"+string(rune(len(iim)))+iim))
	files := map[string][]byte{
		"bare": photo(t),
		"II":   photo(t, segment(markAPP1, exif(binary.LittleEndian, "II")), xmp, iptc),
		"MM":   photo(t, segment(markAPP1, exif(binary.BigEndian, "MM")), xmp, iptc),
	}
	texts := map[string]string{
		"exif:Artist": "Ada Lovelace", "Copyright": "©", "exif:imagedescription": "", "iptc:Headline": "Straße & <Brücke>", "Keywords": "k, l,",
		"xmp:Title": "Title & <more>", "xmp:Creator": "Lovelace, Ada", "xmp:Subject": "c,d", "xmp:Rights": "",
	}
	want := map[string]string{"exif:Artist": "Ada Lovelace", "exif:Copyright": "©", "iptc:Headline": "Straße & <Brücke>", "iptc:Keywords": "k, l", "xmp:Title": "Title & <more>", "xmp:Creator": "Lovelace, Ada", "xmp:Subject": "c, d"}
	for name, data := range files {
		before := read(t, data)
		made, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", data), texts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		written := bytesOf(t, made)
		samePicture(t, data, written)
		if !bytes.Contains(written, []byte("\x1c\x02\x19\x00\x01k\x1c\x02\x19\x00\x01l")) || !bytes.Contains(written, []byte("<rdf:li>c</rdf:li><rdf:li>d</rdf:li>")) {
			t.Errorf("%s: words of a list are no entries of their own", name)
		}
		after := read(t, written)
		for tag, text := range want {
			if after[tag] != text {
				t.Errorf("%s: %s is %v, want %q", name, tag, after[tag], text)
			}
		}
		for tag, v := range before { // all else stays
			if _, ours := want[tag]; !ours && !strings.HasPrefix(tag, "file:") && !reflect.DeepEqual(after[tag], v) {
				t.Errorf("%s: %s is %v, was %v", name, tag, after[tag], v)
			}
		}
		gone, err := Write(t.Context(), memory, made, map[string]string{"exif:Artist": "", "exif:Copyright": "", "iptc:Headline": "", "iptc:Keywords": "", "xmp:Title": "", "xmp:Creator": "", "xmp:Subject": ""})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		samePicture(t, data, bytesOf(t, gone))
		removed := read(t, bytesOf(t, gone))
		for tag := range want {
			if removed[tag] != nil {
				t.Errorf("%s: %s is still %v", name, tag, removed[tag])
			}
		}
		if name != "bare" && (removed["exif:Make"] != "Acme Cameras" || removed["gps:latitude"] != before["gps:latitude"] || removed["iptc:City"] != "Paris" || removed["xmp:Rating"] != "4") {
			t.Errorf("%s: %v", name, removed)
		}
	}
}

// TestWriteDamagedJPEG leaves a picture that cannot be changed without damage alone.
func TestWriteDamagedJPEG(t *testing.T) {
	whole := exif(binary.LittleEndian, "II")
	for name, data := range map[string][]byte{
		"no picture":      []byte("text"),
		"cut":             photo(t)[:20],
		"EXIF of nothing": photo(t, segment(markAPP1, []byte(exifHead))),
		"EXIF cut":        photo(t, segment(markAPP1, whole[:20])),
		"EXIF elsewhere":  photo(t, segment(markAPP1, append([]byte(exifHead), "II*\x00\xff\xff\x00\x00"...))),
		"XMP open":        photo(t, segment(markAPP1, []byte(xmpHead+"<x:xmpmeta xmlns:x='a'><r:RDF xmlns:r='b'>"))),
		"XMP empty":       photo(t, segment(markAPP1, []byte(xmpHead+"<r:RDF xmlns:r='b'/>"))),
		"IPTC cut":        photo(t, segment(markAPP13, []byte(iptcHead+"8BIM\x04\x04\x00\x00\x00\x00\x01\x00x"))),
		"IPTC set cut":    photo(t, segment(markAPP13, []byte(iptcHead+"8BIM\x04\x04\x00\x00\x00\x00\x00\x06\x1c\x02\x69\x00\x09x"))),
	} {
		if _, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", data), map[string]string{"exif:Artist": "a", "xmp:Title": "b", "iptc:City": "c"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := photo(t, segment(markAPP1, append(exif(binary.LittleEndian, "II"), make([]byte, 60_000)...)))
	if _, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", full), map[string]string{"exif:Artist": strings.Repeat("a", 8000)}); err == nil {
		t.Error("the segment is too long")
	}
	latin := photo(t, segment(markAPP13, []byte(iptcHead+"8BIM\x04\x04\x00\x00\x00\x00\x00\x0a\x1c\x02\x5a\x00\x05Z\xfcrch")))
	if _, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", latin), map[string]string{"iptc:Headline": "Ü"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("two encodings: %v", err)
	}
	if _, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", latin), map[string]string{"iptc:Headline": "plain"}); err != nil {
		t.Error(err)
	}
	for name, texts := range map[string]map[string]string{"unknown": {"exif:Nope": "x"}, "long": {"exif:Artist": strings.Repeat("a", maxTagText+1)}} {
		if _, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", photo(t)), texts); err == nil {
			t.Error(name)
		}
	}
	if _, err := Write(t.Context(), memory, blob.FromBytes("a.bin", "application/octet-stream", nil), nil); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// FuzzWriteJPEG checks that whatever is changed is still the same picture.
func FuzzWriteJPEG(f *testing.F) {
	t := &testing.T{}
	f.Add(photo(t, segment(markAPP1, exif(binary.LittleEndian, "II"))))
	f.Add(photo(t, segment(markAPP13, []byte(iptcHead+"8BIM\x04\x04\x00\x00\x00\x00\x00\x00"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		made, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", data), map[string]string{"exif:Artist": "Ada", "iptc:City": "Paris"})
		if err != nil {
			return
		}
		_, rest, _ := partsOfJPEG(data)
		if _, after, ok := partsOfJPEG(bytesOf(t, made)); !ok || !bytes.Equal(rest, after) {
			t.Error("the picture has changed")
		}
	})
}

// TestWriteOffice writes the properties of office documents; all other parts keep their bytes.
func TestWriteOffice(t *testing.T) {
	const docx, odt = "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.oasis.opendocument.text"
	core := `<?xml version="1.0"?><cp:coreProperties xmlns:cp="` + spaceCore + `" xmlns:dc="` + spaceDC + `"><dc:title>Old</dc:title><cp:revision>7</cp:revision></cp:coreProperties>`
	meta := `<?xml version="1.0"?><office:document-meta xmlns:office="o" xmlns:dc="` + spaceDC + `" xmlns:meta="` + spaceMeta + `"><office:meta><dc:title>Old</dc:title><meta:generator>G</meta:generator></office:meta></office:document-meta>`
	for typ, parts := range map[string]map[string]string{
		docx: {"docProps/core.xml": core, "word/document.xml": "<w/>"},
		odt:  {"meta.xml": meta, "content.xml": "<c/>"},
	} {
		data := archive(t, parts)
		texts := map[string]string{"title": "New & <better>", "office:author": "Ada", "keywords": "a, b", "subject": ""}
		made, err := Write(t.Context(), memory, blob.FromBytes("a", typ, data), texts)
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		got, err := Read(t.Context(), Tools{}, made)
		if err != nil || got["office:title"] != "New & <better>" || got["office:author"] != "Ada" || got["office:keywords"] != "a, b" || got["office:subject"] != nil {
			t.Errorf("%s: %v, %v", typ, got, err)
		}
		old, new := open(t, data), open(t, bytesOf(t, made))
		for name, was := range old {
			if strings.Contains(name, "core") || name == "meta.xml" {
				if !strings.Contains(new[name], "revision>7<") && !strings.Contains(new[name], "generator>G<") {
					t.Errorf("%s: %s", name, new[name])
				}
			} else if new[name] != was {
				t.Errorf("%s: %q, was %q", name, new[name], was)
			}
		}
		for name, data := range map[string][]byte{
			"text": []byte("text"), "no part": archive(t, map[string]string{"a": "b"}),
			"no element": archive(t, map[string]string{"docProps/core.xml": "<other/>", "meta.xml": "<other/>"}),
			"not XML":    archive(t, map[string]string{"docProps/core.xml": "<a><b></a>", "meta.xml": "<a><b></a>"}),
		} {
			if _, err := Write(t.Context(), memory, blob.FromBytes("a", typ, data), map[string]string{"title": "x"}); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Write(t.Context(), memory, blob.FromBytes("a", odt, archive(t, map[string]string{"meta.xml": meta})), map[string]string{"category": "x"}); !fault.Is(err, fault.Invalid) {
		t.Error("OpenDocument has no category:", err)
	}
}

// open returns the parts of an archive.
func open(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}

// TestWritePlace writes the place of a picture in both byte orders, over one that was there and where none was, and takes it out
// again. All else that is known of the picture stays.
func TestWritePlace(t *testing.T) {
	files := map[string][]byte{
		"bare": photo(t),
		"II":   photo(t, segment(markAPP1, exif(binary.LittleEndian, "II"))),
		"MM":   photo(t, segment(markAPP1, exif(binary.BigEndian, "MM"))),
	}
	for _, c := range []struct {
		name                string
		texts               map[string]string
		latitude, longitude float64
		wrong               string
	}{
		{name: "north and east", texts: map[string]string{"gps:latitude": "48.858370", "gps:longitude": "2.294481"}, latitude: 48.858370, longitude: 2.294481},
		{name: "south and west", texts: map[string]string{"latitude": "-33.856784", "longitude": "-70.5"}, latitude: -33.856784, longitude: -70.5},
		{name: "the ends", texts: map[string]string{"gps:latitude": "90", "gps:longitude": "-180"}, latitude: 90, longitude: -180},
		{name: "a second that is rounded up", texts: map[string]string{"gps:latitude": "0.99999999999", "gps:longitude": "59.99999999999"}, latitude: 1, longitude: 60},
		{name: "too far north", texts: map[string]string{"gps:latitude": "90.1"}, wrong: "latitude"},
		{name: "too far west", texts: map[string]string{"gps:longitude": "-180.5"}, wrong: "longitude"},
		{name: "no number", texts: map[string]string{"gps:latitude": "NaN"}, wrong: "latitude"},
		{name: "a word", texts: map[string]string{"gps:latitude": "Paris"}, wrong: "latitude"},
	} {
		for form, data := range files {
			before := read(t, data)
			made, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", data), c.texts)
			if c.wrong != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%s, %s: %v", c.name, form, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", c.name, form, err)
			}
			written := bytesOf(t, made)
			samePicture(t, data, written)
			after := read(t, written)
			latitude, _ := after["gps:latitude"].(float64)
			longitude, _ := after["gps:longitude"].(float64)
			if math.Abs(latitude-c.latitude) > 1e-9 || math.Abs(longitude-c.longitude) > 1e-9 {
				t.Errorf("%s, %s: %v, %v", c.name, form, after["gps:latitude"], after["gps:longitude"])
			}
			for tag, v := range before {
				if !strings.HasPrefix(tag, "file:") && !strings.HasPrefix(tag, "gps:") && !strings.Contains(tag, "GPS") && !reflect.DeepEqual(after[tag], v) {
					t.Errorf("%s, %s: %s is %v, was %v", c.name, form, tag, after[tag], v)
				}
			}
			gone, err := Write(t.Context(), memory, made, map[string]string{"gps:latitude": "", "gps:longitude": ""})
			if err != nil {
				t.Fatal(err)
			}
			if left := read(t, bytesOf(t, gone)); left["gps:latitude"] != nil || left["gps:longitude"] != nil || left["exif:Make"] != before["exif:Make"] {
				t.Errorf("%s, %s: left %v", c.name, form, left)
			}
		}
	}
	// One side alone is changed beside the other.
	made, err := Write(t.Context(), memory, blob.FromBytes("a.jpg", "image/jpeg", files["MM"]), map[string]string{"gps:latitude": "12.5"})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, bytesOf(t, made)); got["gps:latitude"] != 12.5 || got["gps:longitude"] != 151.25 {
		t.Errorf("latitude alone: %v, %v", got["gps:latitude"], got["gps:longitude"])
	}
}

// TestWriteTIFF changes what a TIFF says in both byte orders, as they are made by a program; its picture stays. What is not a TIFF,
// or one of another kind, is refused.
func TestWriteTIFF(t *testing.T) {
	var encoded bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, 8, 4))
	picture.Pix[5] = 200
	if err := tiff.Encode(&encoded, picture, nil); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"exif:Artist": "Ada Lovelace", "Copyright": "c", "gps:latitude": "-33.5", "gps:longitude": "151.25"}
	for name, data := range map[string][]byte{"II": encoded.Bytes(), "MM": bigTIFF()} {
		b := blob.FromBytes("a.tif", "image/tiff", data)
		made, err := Write(t.Context(), memory, b, texts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Read(t.Context(), Tools{}, made)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for tag, want := range map[string]any{"exif:Artist": "Ada Lovelace", "exif:Copyright": "c", "gps:latitude": -33.5, "gps:longitude": 151.25} {
			if got[tag] != want {
				t.Errorf("%s: %s is %v, want %v", name, tag, got[tag], want)
			}
		}
		before, errBefore := tiff.Decode(bytes.NewReader(data))
		after, err := tiff.Decode(bytes.NewReader(bytesOf(t, made)))
		if err != nil || errBefore != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the picture differs: %v, %v", name, errBefore, err)
		}
	}
	for name, data := range map[string]string{"text": "no picture", "empty": "", "of 64 bits": "II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00", "cut": encoded.String()[:9]} {
		if _, err := Write(t.Context(), memory, blob.FromBytes("a.tif", "image/tiff", []byte(data)), texts); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if Writable("image/tiff", "office:title") || !Writable("image/tiff", "latitude") || Writable("image/bmp", "exif:Artist") {
		t.Error("formats have places that they have not")
	}
}

// bigTIFF is a picture of one black pixel whose numbers have their highest bytes first.
func bigTIFF() []byte {
	short := func(id, v uint16) tag { return tag{id, 3, 1, binary.BigEndian.AppendUint16(nil, v)} }
	long := func(id uint16, v uint32) tag { return tag{id, 4, 1, binary.BigEndian.AppendUint32(nil, v)} }
	const first, pixels = 12, 8
	return append([]byte("MM\x00*\x00\x00\x00\x0c\x00\x00\x00\x00"), directory(binary.BigEndian, first,
		short(0x100, 1), short(0x101, 1), short(0x102, 8), short(0x103, 1), short(0x106, 1), long(0x111, pixels), short(0x115, 1), short(0x116, 1), long(0x117, 1))...)
}
