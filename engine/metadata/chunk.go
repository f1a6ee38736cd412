package metadata

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"io"
	"slices"

	"github.com/bep/imagemeta"

	"catena/storage/blob"
	"catena/storage/fault"
)

// chunk is a part of a PNG or a WebP. What is not changed keeps its bytes.
type chunk struct {
	name string
	data []byte
	raw  []byte // with name, size and what else stands around the data
}

// putChunk changes the data of a chunk, or adds it at a place.
func putChunk(all []chunk, at int, name string, is func(data []byte) bool, change func(old []byte) ([]byte, error), wrap func(name string, data []byte) chunk) ([]chunk, error) {
	i := slices.IndexFunc(all, func(c chunk) bool { return c.name == name && is(c.data) })
	var old []byte
	if i >= 0 {
		old = all[i].data
	}
	made, err := change(old)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		all[i] = wrap(name, made)
		return all, nil
	}
	return slices.Insert(all, at, wrap(name, made)), nil
}

// The beginnings of a PNG, and of a chunk of text in it that holds XMP and is not compressed.
const (
	pngHead = "\x89PNG\r\n\x1a\n"
	pngXMP  = "XML:com.adobe.xmp\x00"
	pngText = pngXMP + "\x00\x00\x00\x00"
)

// pngChunk writes a chunk.
func pngChunk(name string, data []byte) chunk {
	raw := append(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...), data...)
	return chunk{name, data, binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw[4:]))}
}

// chunksOfPNG takes a PNG apart up to its end, and returns what is behind it.
func chunksOfPNG(data []byte) (all []chunk, rest []byte, ok bool) {
	const around = 12 // bytes: size, name and checksum
	if !bytes.HasPrefix(data, []byte(pngHead)) {
		return nil, nil, false
	}
	for rest = data[len(pngHead):]; len(rest) >= around; {
		n := int(binary.BigEndian.Uint32(rest))
		if n > len(rest)-around {
			return nil, nil, false
		}
		c := chunk{string(rest[4:8]), rest[8 : 8+n], rest[:around+n]}
		all, rest = append(all, c), rest[around+n:]
		if c.name == "IEND" {
			return all, rest, all[0].name == "IHDR"
		}
	}
	return nil, nil, false
}

// writePNG changes EXIF and XMP of a PNG. All other chunks stay byte by byte.
func writePNG(_ context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	data, err := b.Bytes(maxWritten)
	if err != nil {
		return nil, err
	}
	all, rest, ok := chunksOfPNG(data)
	if !ok {
		return nil, fault.Invalid.Errorf("file %q: the picture cannot be read", b.Name).In("input")
	}
	if err := eachGroup(b, texts, func(group string, these map[string]string) (err error) {
		name, is, change := "eXIf", func([]byte) bool { return true }, func(old []byte) ([]byte, error) { return changeEXIF(old, these) }
		switch group {
		case "gps:":
			change = func(old []byte) ([]byte, error) { return changeGPS(old, these) }
		case "xmp:":
			name, is = "iTXt", isPNGXMP
			change = func(old []byte) ([]byte, error) { return changePNGXMP(old, these) }
		}
		all, err = putChunk(all, 1, name, is, change, pngChunk)
		return err
	}); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(data)+1<<10), pngHead...)
	for _, c := range all {
		out = append(out, c.raw...)
	}
	return t.remade(b, append(out, rest...))
}

func isPNGXMP(data []byte) bool { return bytes.HasPrefix(data, []byte(pngXMP)) }

// changePNGXMP changes XMP in a chunk of text.
func changePNGXMP(old []byte, texts map[string]string) ([]byte, error) {
	packet, err := packetOf(old)
	if err != nil {
		return nil, err
	}
	made, err := changeXMP(packet, texts)
	return append([]byte(pngText), made...), err
}

// packetOf is the XMP in a chunk of text; nil in none. In front of it are whether it is compressed, how, its language, and the
// translation of its name.
func packetOf(data []byte) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	data = data[len(pngXMP):]
	if len(data) < 4 {
		return nil, errUnknown
	}
	compressed := data[0] == 1
	parts := bytes.SplitN(data[2:], []byte{0}, 3)
	if len(parts) < 3 {
		return nil, errUnknown
	}
	if !compressed {
		return parts[2], nil
	}
	z, err := zlib.NewReader(bytes.NewReader(parts[2]))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	packet, err := io.ReadAll(io.LimitReader(z, maxAbout+1))
	if len(packet) > maxAbout {
		return nil, errUnknown
	}
	return packet, err
}

// readPNGXMP adds what the XMP of a PNG says, which the library does not read there. What is damaged adds nothing.
func readPNGXMP(b *blob.Blob, r io.ReadSeeker, out map[string]any) error {
	if _, err := r.Seek(int64(len(pngHead)), io.SeekStart); err != nil {
		return err
	}
	var head [8]byte // size and name
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return unlessEnd(err)
		}
		n, name := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
		if name != "iTXt" || n > maxAbout {
			if _, err := r.Seek(n+4, io.SeekCurrent); err != nil {
				return err
			}
			continue
		}
		data := make([]byte, n+4) // with the checksum
		if _, err := io.ReadFull(r, data); err != nil {
			return unlessEnd(err)
		}
		if !isPNGXMP(data) {
			continue
		}
		packet, err := packetOf(data[:n])
		if err != nil {
			return nil //nolint:nilerr // what is damaged adds nothing
		}
		return readPacket(b, packet, out)
	}
}

// readPacket adds what XMP says, as far as a segment of a JPEG could hold it.
func readPacket(b *blob.Blob, packet []byte, out map[string]any) error {
	if len(packet) > maxSegment-len(xmpHead) {
		return nil
	}
	return walkTags(b, imagemeta.JPEG, bytes.NewReader(jpegOf(part{markAPP1, append([]byte(xmpHead), packet...)})), out)
}

// Chunks of a WebP.
const (
	webpVP8X, webpVP8L  = "VP8X", "VP8L"
	webpEXIF, webpXMP   = "EXIF", "XMP "
	webpHead            = 12 // bytes: "RIFF", the size of the rest, "WEBP"
	flagAlpha, flagEXIF = 1 << 4, 1 << 3
	flagXMP             = 1 << 2
)

// readWebP adds what EXIF and XMP of a WebP say. The library loses its place behind a chunk of an odd length.
func readWebP(b *blob.Blob, r io.ReadSeeker, out map[string]any) error {
	if _, err := r.Seek(webpHead, io.SeekStart); err != nil {
		return err
	}
	var head [8]byte // name and size
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return unlessEnd(err)
		}
		name, n := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		if name != webpEXIF && name != webpXMP || n > maxAbout {
			if _, err := r.Seek(n+n&1, io.SeekCurrent); err != nil {
				return err
			}
			continue
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return unlessEnd(err)
		}
		if _, err := r.Seek(n&1, io.SeekCurrent); err != nil {
			return err
		}
		var err error
		if name == webpXMP {
			err = readPacket(b, data, out)
		} else {
			err = walkTags(b, imagemeta.TIFF, bytes.NewReader(bytes.TrimPrefix(data, []byte(exifHead))), out)
		}
		if err != nil {
			return err
		}
	}
}

// webpChunk writes a chunk, which has an even length.
func webpChunk(name string, data []byte) chunk {
	raw := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
	return chunk{name, data, append(raw, make([]byte, len(data)&1)...)}
}

// chunksOfWebP takes a WebP apart.
func chunksOfWebP(data []byte) (all []chunk, ok bool) {
	if len(data) < webpHead || string(data[:4]) != "RIFF" || string(data[8:webpHead]) != "WEBP" {
		return nil, false
	}
	for rest := data[webpHead:]; len(rest) >= 8; {
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		if n > len(rest)-8 {
			return nil, false
		}
		end := min(8+n+n&1, len(rest))
		all, rest = append(all, chunk{string(rest[:4]), rest[8 : 8+n], rest[:end]}), rest[end:]
	}
	return all, len(all) > 0
}

// writeWebP changes EXIF and XMP of a WebP. All other chunks stay byte by byte, but for the one that says which there are.
func writeWebP(_ context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	data, err := b.Bytes(maxWritten)
	if err != nil {
		return nil, err
	}
	all, ok := chunksOfWebP(data)
	if ok && all[0].name != webpVP8X {
		if all, err = extended(data, all); err != nil {
			ok = false
		}
	}
	if !ok || len(all[0].data) != 10 {
		return nil, fault.Invalid.Errorf("file %q: the picture cannot be read", b.Name).In("input")
	}
	flags := slices.Clone(all[0].data)
	always := func([]byte) bool { return true }
	if err := eachGroup(b, texts, func(group string, these map[string]string) (err error) {
		switch group {
		case "xmp:":
			flags[0] |= flagXMP
			all, err = putChunk(all, len(all), webpXMP, always, func(old []byte) ([]byte, error) { return changeXMP(old, these) }, webpChunk)
		default:
			flags[0] |= flagEXIF
			all, err = putChunk(all, len(all), webpEXIF, always, func(old []byte) ([]byte, error) { return changeHeaded(old, jpegSegments[group].change, these) }, webpChunk)
		}
		return err
	}); err != nil {
		return nil, err
	}
	all[0] = webpChunk(webpVP8X, flags)
	out := append(make([]byte, 0, len(data)+1<<10), data[:webpHead]...)
	for _, c := range all {
		out = append(out, c.raw...)
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return t.remade(b, out)
}

// changeHeaded changes EXIF that may have the head that it has in a JPEG, as some programs write it.
func changeHeaded(old []byte, change func(data []byte, texts map[string]string) ([]byte, error), texts map[string]string) ([]byte, error) {
	bare, headed := bytes.CutPrefix(old, []byte(exifHead))
	made, err := change(bare, texts)
	if headed {
		made = append([]byte(exifHead), made...)
	}
	return made, err
}

// extended puts a chunk in front of a simple picture that says what follows, which only then may be metadata.
func extended(data []byte, all []chunk) ([]chunk, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if size.Width < 1 || size.Height < 1 {
		return nil, errors.New("no size")
	}
	head := make([]byte, 4, 10)
	// A lossless picture says in its fifth byte's fifth bit that it has an alpha channel.
	if first := all[0]; first.name == webpVP8L && len(first.data) > 4 && first.data[4]&0x10 != 0 {
		head[0] = flagAlpha
	}
	for _, n := range []int{size.Width - 1, size.Height - 1} {
		head = append(head, byte(n), byte(n>>8), byte(n>>16))
	}
	return slices.Insert(all, 0, webpChunk(webpVP8X, head)), nil
}
