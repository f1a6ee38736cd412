package metadata

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"catena/storage/blob"
	"catena/storage/fault"
)

// Names of metadata of pictures that can be written.
var (
	exifNames = []string{"exif:ImageDescription", "exif:Artist", "exif:Copyright", "exif:Software"}
	iptcNames = []string{
		"iptc:ObjectName", "iptc:Headline", "iptc:Caption-Abstract", "iptc:Keywords", "iptc:By-line", "iptc:City", "iptc:Province-State",
		"iptc:Country-PrimaryLocationName", "iptc:Credit", "iptc:Source", "iptc:CopyrightNotice",
	}
	gpsNames = []string{"gps:latitude", "gps:longitude"}
	xmpNames = []string{"xmp:Title", "xmp:Description", "xmp:Creator", "xmp:Rights", "xmp:Subject"}
)

// The beginnings of segments that hold metadata, and the marks of these segments.
const (
	exifHead = "Exif\x00\x00"
	xmpHead  = "http://ns.adobe.com/xap/1.0/\x00"
	iptcHead = "Photoshop 3.0\x00"

	markAPP0, markAPP1, markAPP13, markScan = 0xE0, 0xE1, 0xED, 0xDA

	maxSegment = 65533 // bytes of the content of a segment
)

// jpegSegments are the segments of the groups of metadata, and what changes the metadata in them.
var jpegSegments = map[string]struct {
	mark   byte
	head   string
	change func(data []byte, texts map[string]string) ([]byte, error)
}{
	"exif:": {markAPP1, exifHead, changeEXIF}, "gps:": {markAPP1, exifHead, changeGPS},
	"xmp:": {markAPP1, xmpHead, changeXMP}, "iptc:": {markAPP13, iptcHead, changeIPTC},
}

// part is a segment of a JPEG before its first scan.
type part struct {
	mark byte
	data []byte // without the length
}

// partsOfJPEG takes a JPEG apart into the segments before the picture, and the rest.
func partsOfJPEG(data []byte) (all []part, rest []byte, ok bool) {
	if !bytes.HasPrefix(data, []byte{0xFF, 0xD8}) {
		return nil, nil, false
	}
	for rest = data[2:]; len(rest) >= 4 && rest[0] == 0xFF; {
		if rest[1] == markScan {
			return all, rest, true
		}
		if rest[1] == 0xFF { // a byte that fills
			rest = rest[1:]
			continue
		}
		n := int(binary.BigEndian.Uint16(rest[2:]))
		if n < 2 || len(rest) < 2+n || rest[1] < 0xC0 {
			return nil, nil, false
		}
		all = append(all, part{rest[1], rest[4 : 2+n]})
		rest = rest[2+n:]
	}
	return nil, nil, false
}

// writeJPEG puts other texts into the segments that hold metadata. All others, and the picture, stay byte by byte.
func writeJPEG(_ context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	data, err := b.Bytes(maxWritten)
	if err != nil {
		return nil, err
	}
	all, rest, ok := partsOfJPEG(data)
	if !ok {
		return nil, fault.Invalid.Errorf("file %q: the picture cannot be read", b.Name).In("input")
	}
	if err := eachGroup(b, texts, func(group string, these map[string]string) (err error) {
		of := jpegSegments[group]
		all, err = putPart(all, of.mark, of.head, func(old []byte) ([]byte, error) { return of.change(old, these) })
		return err
	}); err != nil {
		return nil, err
	}
	return t.remade(b, append(joined(make([]byte, 0, len(data)+1<<10), all), rest...))
}

// joined appends the beginning of a JPEG with segments.
func joined(out []byte, all []part) []byte {
	out = append(out, 0xFF, 0xD8)
	for _, p := range all {
		out = append(binary.BigEndian.AppendUint16(append(out, 0xFF, p.mark), uint16(len(p.data)+2)), p.data...)
	}
	return out
}

// jpegOf is a JPEG of segments without a picture, as which metadata of other formats is read.
func jpegOf(all ...part) []byte { return append(joined(nil, all), 0xFF, 0xD9) }

// putPart changes the first segment that begins so, or adds one behind the segment that identifies the file.
func putPart(all []part, mark byte, head string, change func(old []byte) ([]byte, error)) ([]part, error) {
	i := slices.IndexFunc(all, func(p part) bool { return p.mark == mark && bytes.HasPrefix(p.data, []byte(head)) })
	var old []byte
	if i >= 0 {
		old = all[i].data[len(head):]
	}
	made, err := change(old)
	if err != nil {
		return nil, err
	}
	p := part{mark, append([]byte(head), made...)}
	if len(p.data) > maxSegment {
		return nil, fault.Limit.Errorf("%d bytes, at most %d are allowed", len(p.data), maxSegment)
	}
	if i >= 0 {
		all[i] = p
		return all, nil
	}
	at := 0
	for at < len(all) && (all[at].mark == markAPP0 || all[at].mark == markAPP1 && head != exifHead) {
		at++
	}
	return slices.Insert(all, at, p), nil
}

// iptcSets are the numbers of the data sets of record 2 that can be written.
var iptcSets = map[string]byte{
	"ObjectName": 5, "Keywords": 25, "By-line": 80, "City": 90, "Province-State": 95, "Country-PrimaryLocationName": 101, "Headline": 105,
	"Credit": 110, "Source": 115, "CopyrightNotice": 116, "Caption-Abstract": 120,
}

// iptcResource is the number of the resource of Photoshop that holds IPTC, and iptcUTF8 the data set that says how texts are encoded.
const (
	iptcResource = 0x0404
	iptcUTF8     = "\x1c\x01\x5a\x00\x03\x1b%G"
)

// changeIPTC changes data sets in the resource for them. Other resources stay as they are.
func changeIPTC(old []byte, texts map[string]string) ([]byte, error) {
	var out, sets []byte
	for len(old) >= 12 && string(old[:4]) == "8BIM" {
		name := 1 + int(old[6])
		start := 6 + name + name&1
		if len(old) < start+4 {
			return nil, errUnknown
		}
		size := int(binary.BigEndian.Uint32(old[start:]))
		end := start + 4 + size + size&1
		if size < 0 || size > len(old) || len(old) < start+4+size {
			return nil, errUnknown
		}
		if binary.BigEndian.Uint16(old[4:]) == iptcResource {
			sets = append(sets, old[start+4:start+4+size]...)
		} else {
			out = append(out, old[:min(end, len(old))]...)
		}
		old = old[min(end, len(old)):]
	}
	kept, err := changeSets(sets, texts)
	if err != nil {
		return nil, err
	}
	out = append(out, "8BIM\x04\x04\x00\x00"...)
	out = append(binary.BigEndian.AppendUint32(out, uint32(len(kept))), kept...)
	return append(out, make([]byte, len(kept)&1)...), nil
}

// changeSets changes data sets of IPTC.
func changeSets(sets []byte, texts map[string]string) ([]byte, error) {
	kept, err := keepSets(sets, texts)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, item := range itemsOf(name, texts[name]) {
			kept = append(binary.BigEndian.AppendUint16(append(kept, 0x1c, 2, iptcSets[name]), uint16(len(item))), item...)
		}
	}
	return kept, nil
}

// keepSets returns the data sets but those that get other texts. What is written is UTF-8; other texts in an older encoding
// would be misread if that were said of all of them, so only ASCII may be written beside them.
func keepSets(sets []byte, texts map[string]string) (kept []byte, err error) {
	drop := map[byte]bool{}
	for name := range texts {
		drop[iptcSets[name]] = true
	}
	utf8, plain := false, true
	for len(sets) >= 5 && sets[0] == 0x1c {
		n := 5 + int(binary.BigEndian.Uint16(sets[3:]))
		if sets[3] >= 0x80 || n > len(sets) {
			return nil, errUnknown
		}
		set := sets[:n]
		sets = sets[n:]
		utf8 = utf8 || string(set) == iptcUTF8
		if set[1] == 2 && drop[set[2]] {
			continue
		}
		plain = plain && isASCII(set[5:])
		kept = append(kept, set...)
	}
	if utf8 {
		return kept, nil
	}
	if plain {
		return append([]byte(iptcUTF8), kept...), nil
	}
	for name, text := range texts {
		if !isASCII([]byte(text)) {
			return nil, fault.Invalid.Errorf("%s: the other texts are in an older encoding", name)
		}
	}
	return kept, nil
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x80 })
}
