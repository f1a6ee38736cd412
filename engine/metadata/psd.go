package metadata

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/bep/imagemeta"

	"catena/storage/blob"
)

// Bytes of the head of a file of Photoshop, and of a resource in front of its name.
const (
	psdHead     = 26
	psdResource = 6
)

// psdSegments are the resources of Photoshop that hold metadata, by their numbers: which segment of a JPEG holds the same, and
// how that begins.
var psdSegments = map[uint16]struct {
	mark byte
	head string
}{iptcResource: {markAPP13, iptcHead + "8BIM\x04\x04\x00\x00"}, 0x0422: {markAPP1, exifHead}, 0x0424: {markAPP1, xmpHead}}

// readPSD adds what a file of Photoshop says. Its measures are in its head. The resources behind it hold the same EXIF, IPTC and
// XMP as the segments of a JPEG, as which they are read.
func readPSD(b *blob.Blob, r io.ReadSeeker, out map[string]any) error {
	head := make([]byte, psdHead)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:4]) != "8BPS" {
		return unlessEnd(err)
	}
	if err := measure(b, int(binary.BigEndian.Uint32(head[18:])), int(binary.BigEndian.Uint32(head[14:])), "psd", out); err != nil {
		return err
	}
	_, err := sized(r, maxPicture) // the colors
	if err != nil {
		return unlessEnd(err)
	}
	resources, err := sized(r, maxPicture)
	if err != nil {
		return unlessEnd(err)
	}
	var segments []part
	for len(resources) > psdResource && string(resources[:4]) == "8BIM" {
		number := binary.BigEndian.Uint16(resources[4:])
		start := psdResource + (2+int(resources[psdResource]))&^1 // the name is even with the byte of its length
		if len(resources) < start+4 {
			break
		}
		size := int(binary.BigEndian.Uint32(resources[start:]))
		end := start + 4 + size
		if size < 0 || end > len(resources) {
			break
		}
		if s := psdSegments[number]; s.mark != 0 {
			data := []byte(s.head)
			if number == iptcResource {
				data = append(data, resources[start:start+4]...)
			}
			if data = append(data, resources[start+4:end]...); len(data) <= maxSegment {
				segments = append(segments, part{s.mark, data})
			}
		}
		resources = resources[min(end+size&1, len(resources)):]
	}
	return walkTags(b, imagemeta.JPEG, bytes.NewReader(jpegOf(segments...)), out)
}

// sized reads a part of a file in front of which its size is.
func sized(r io.Reader, most uint32) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > most {
		return nil, io.ErrUnexpectedEOF
	}
	var data bytes.Buffer
	_, err := io.CopyN(&data, r, int64(size)) // what is not there needs no memory
	return data.Bytes(), err
}

// readJP2 adds the measures of a JPEG 2000, which are in one of its first boxes.
func readJP2(b *blob.Blob, r io.Reader, out map[string]any) error {
	head := make([]byte, 1<<10)
	n, err := io.ReadFull(r, head)
	if unlessEnd(err) != nil {
		return err
	}
	const name, fields = "ihdr", 8 // height and width
	at := bytes.Index(head[:n], []byte(name))
	if at < 0 || at+len(name)+fields > n {
		return nil
	}
	field := func(i int) int { return int(binary.BigEndian.Uint32(head[at+len(name)+4*i:])) }
	return measure(b, field(1), field(0), "jp2", out)
}

// unlessEnd is nil for the end of a file, of which what was read counts.
func unlessEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // io returns these
		return nil
	}
	return err
}
