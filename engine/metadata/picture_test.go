package metadata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"testing"
	"time"

	"catena/storage/blob"
)

// tag is an entry of a directory of EXIF.
type tag struct {
	id, kind uint16
	count    uint32
	data     []byte
}

// directory writes entries at an offset, those that do not fit behind them, and returns where it ends.
func directory(order binary.AppendByteOrder, at int, tags ...tag) []byte {
	out := order.AppendUint16(nil, uint16(len(tags)))
	rest := []byte{}
	end := at + 2 + 12*len(tags) + 4
	for _, t := range tags {
		out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, t.id), t.kind), t.count)
		if len(t.data) <= 4 {
			out = append(out, append(t.data, make([]byte, 4-len(t.data))...)...)
			continue
		}
		out = order.AppendUint32(out, uint32(end+len(rest)))
		rest = append(rest, t.data...)
	}
	return append(order.AppendUint32(out, 0), rest...)
}

func ascii(id uint16, s string) tag { return tag{id, 2, uint32(len(s) + 1), append([]byte(s), 0)} }

// exif is what a camera would write, in a byte order.
func exif(order binary.AppendByteOrder, mark string) []byte {
	rational := func(id uint16, degrees, minutes uint32) tag {
		var b []byte
		for _, n := range []uint32{degrees, 1, minutes, 1, 0, 1} {
			b = order.AppendUint32(b, n)
		}
		return tag{id, 5, 3, b}
	}
	at := func(n int) []byte { return order.AppendUint32(nil, uint32(n)) }
	const first, second, third = 8, 200, 400
	head := order.AppendUint32(order.AppendUint16([]byte(mark), 42), first)
	out := make([]byte, 600)
	copy(out, head)
	copy(out[first:], directory(order, first, ascii(0x010f, "Acme Cameras"), tag{0x0112, 3, 1, order.AppendUint16(nil, 6)}, tag{0x8769, 4, 1, at(second)}, tag{0x8825, 4, 1, at(third)}))
	copy(out[second:], directory(order, second, ascii(0x9003, "2024:05:02 10:15:30"), ascii(0x9011, "+02:00")))
	copy(out[third:], directory(order, third, ascii(1, "S"), rational(2, 33, 30), ascii(3, "E"), rational(4, 151, 15)))
	return append([]byte("Exif\x00\x00"), out...)
}

// photo is a JPEG with segments after its first mark.
func photo(t *testing.T, segments ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 4)), nil); err != nil {
		t.Fatal(err)
	}
	out := append([]byte{}, b.Bytes()[:2]...)
	for _, s := range segments {
		out = append(binary.BigEndian.AppendUint16(append(out, 0xff, s[0]), uint16(len(s)+1)), s[1:]...)
	}
	return append(out, b.Bytes()[2:]...)
}

func segment(mark byte, data []byte) []byte { return append([]byte{mark}, data...) }

func read(t *testing.T, data []byte) map[string]any {
	t.Helper()
	out, err := Read(t.Context(), Tools{}, blob.FromBytes("a.jpg", "image/jpeg", data))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPictureMetadata reads EXIF in both byte orders, IPTC and XMP.
func TestPictureMetadata(t *testing.T) {
	xmp := "http://ns.adobe.com/xap/1.0/\x00" + `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>`
	iim := append([]byte{0x1c, 2, 105, 0, 8}, "Headline"...)
	iptc := append([]byte("Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00"), byte(len(iim)))
	iptc = append(append(iptc, iim...), 0)
	for mark, order := range map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian} {
		got := read(t, photo(t, segment(0xe1, exif(order, mark)), segment(0xe1, []byte(xmp)), segment(0xed, iptc)))
		for name, want := range map[string]any{
			"exif:Make": "Acme Cameras", "exif:Orientation": int64(6), "image:width": int64(8), "image:height": int64(4),
			"image:taken":  time.Date(2024, 5, 2, 8, 15, 30, 0, time.UTC),
			"gps:latitude": -33.5, "gps:longitude": 151.25, "iptc:Headline": "Headline", "xmp:Rating": "4",
		} {
			if fmt.Sprint(got[name]) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v (%T), want %v", mark, name, got[name], got[name], want)
			}
		}
	}
}

// TestDamagedMetadata cuts a picture's metadata anywhere and turns its bytes over: the picture is read all the same, or refused as one.
func TestDamagedMetadata(t *testing.T) {
	whole := exif(binary.LittleEndian, "II")
	for cut := 0; cut < len(whole); cut += 7 {
		if got := read(t, photo(t, segment(0xe1, whole[:cut]))); got["image:width"] != int64(8) {
			t.Errorf("cut at %d: %v", cut, got)
		}
		turned := bytes.Clone(whole)
		turned[cut] ^= 0xff
		if got := read(t, photo(t, segment(0xe1, turned))); got["image:width"] != int64(8) {
			t.Errorf("turned at %d: %v", cut, got)
		}
	}
	if got := read(t, photo(t)); got["image:taken"] != nil || got["gps:latitude"] != nil {
		t.Errorf("none: %v", got)
	}
}
