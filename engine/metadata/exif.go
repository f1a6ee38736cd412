package metadata

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"

	"catena/storage/fault"
)

// exifTags are the numbers of the tags that can be written, texts of the first directory.
var exifTags = map[string]uint16{"ImageDescription": 0x010E, "Software": 0x0131, "Artist": 0x013B, "Copyright": 0x8298}

// Kinds of values, and the bytes of an entry of a directory.
const (
	exifByte, exifText, exifLong, exifRational, exifUndefined = 1, 2, 4, 5, 7

	exifEntry = 12
)

// changeEXIF writes texts.
func changeEXIF(old []byte, texts map[string]string) ([]byte, error) {
	x, err := openEXIF(old)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] == "" {
			delete(x.first.entries, exifTags[name])
			continue
		}
		x.text(x.first, exifTags[name], texts[name])
	}
	return x.close(), nil
}

// Tags of the place, which is in a directory of its own: its version, and where north or south and where east or west is said.
const (
	gpsDirectory              = 0x8825
	gpsVersion                = 0
	gpsLatitude, gpsLongitude = 1, 3 // N or S, and E or W; the number behind it holds the degrees
)

// changeGPS writes the place at which a picture was taken, in degrees.
func changeGPS(old []byte, texts map[string]string) ([]byte, error) {
	x, err := openEXIF(old)
	if err != nil {
		return nil, err
	}
	place := &exifDirectory{entries: map[uint16][]byte{}, next: make([]byte, 4)}
	if entry := x.first.entries[gpsDirectory]; entry != nil {
		if place, err = x.directory(int(x.order.Uint32(entry[8:]))); err != nil {
			return nil, err
		}
	}
	for _, side := range []struct {
		name string
		tag  uint16
		most float64
		refs string
	}{{"latitude", gpsLatitude, 90, "NS"}, {"longitude", gpsLongitude, 180, "EW"}} {
		text, given := texts[side.name]
		if !given {
			continue
		}
		if text == "" {
			delete(place.entries, side.tag)
			delete(place.entries, side.tag+1)
			continue
		}
		degrees, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(degrees) <= side.most) { // not a number is none, either
			return nil, fault.Invalid.Errorf("%s: %q: must be a number from %v to %v", side.name, text, -side.most, side.most)
		}
		ref := side.refs[:1]
		if degrees < 0 {
			ref = side.refs[1:]
		}
		x.text(place, side.tag, ref)
		x.degrees(place, side.tag+1, math.Abs(degrees))
	}
	if delete(place.entries, gpsVersion); len(place.entries) == 0 {
		delete(x.first.entries, gpsDirectory)
		return x.close(), nil
	}
	place.entries[gpsVersion] = append(x.entry(gpsVersion, exifByte, 4), 2, 3, 0, 0)
	x.first.entries[gpsDirectory] = x.order.AppendUint32(x.entry(gpsDirectory, exifLong, 1), x.put(place))
	return x.close(), nil
}

// exifOrder is the order of bytes in EXIF.
type exifOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// exifFile is EXIF that is changed. What is new goes behind all that was there. Nothing else moves, since notes of makers have
// places in them that nobody else knows.
type exifFile struct {
	order exifOrder
	old   []byte
	out   []byte
	first *exifDirectory
}

// exifDirectory are entries by their tags, with what is written behind them: where the next directory is.
type exifDirectory struct {
	entries map[uint16][]byte
	next    []byte
}

// openEXIF begins to change EXIF; nil: there is none yet.
func openEXIF(old []byte) (*exifFile, error) {
	if old == nil {
		old = []byte("II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	if len(old) < 8 {
		return nil, errUnknown
	}
	x := &exifFile{order: binary.LittleEndian, old: old, out: slices.Clone(old)}
	if string(old[:2]) == "MM" {
		x.order = binary.BigEndian
	}
	if x.order.Uint16(old[2:]) != 42 {
		return nil, errUnknown
	}
	var err error
	x.first, err = x.directory(int(x.order.Uint32(old[4:])))
	return x, err
}

// directory reads a directory.
func (x *exifFile) directory(at int) (*exifDirectory, error) {
	if at < 8 || at > len(x.old)-2 {
		return nil, errUnknown
	}
	n := int(x.order.Uint16(x.old[at:]))
	end := at + 2 + n*exifEntry
	if end+4 > len(x.old) {
		return nil, errUnknown
	}
	d := &exifDirectory{entries: map[uint16][]byte{}, next: x.old[end : end+4]}
	for i := range n {
		entry := x.old[at+2+i*exifEntry:][:exifEntry]
		d.entries[x.order.Uint16(entry)] = entry
	}
	return d, nil
}

// entry begins an entry, which needs four bytes more.
func (x *exifFile) entry(tag, kind uint16, count int) []byte {
	return x.order.AppendUint32(x.order.AppendUint16(x.order.AppendUint16(make([]byte, 0, exifEntry), tag), kind), uint32(count))
}

// text sets an entry to a text.
func (x *exifFile) text(d *exifDirectory, tag uint16, text string) {
	x.set(d, tag, exifText, append([]byte(text), 0))
}

// parts are how many parts of a second of arc are told apart: a third of a tenth of a millimetre.
const parts = 1_000_000

// exifSizes are the bytes of a value of each kind.
var exifSizes = [...]int{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8}

// bytes are the bytes of the values of an entry; nil if there is none.
func (x *exifFile) bytes(entry []byte) ([]byte, error) {
	if entry == nil {
		return nil, nil
	}
	kind, count := int(x.order.Uint16(entry[2:])), int(x.order.Uint32(entry[4:]))
	if kind >= len(exifSizes) || count > len(x.old) {
		return nil, errUnknown
	}
	n := count * exifSizes[kind]
	if n <= 4 {
		return entry[8 : 8+n], nil
	}
	at := int(x.order.Uint32(entry[8:]))
	if at+n > len(x.old) {
		return nil, errUnknown
	}
	return x.old[at : at+n], nil
}

// set sets an entry to bytes.
func (x *exifFile) set(d *exifDirectory, tag, kind uint16, value []byte) {
	entry := x.entry(tag, kind, len(value))
	if len(value) <= 4 {
		d.entries[tag] = append(append(entry, value...), make([]byte, 4-len(value))...)
		return
	}
	d.entries[tag] = x.order.AppendUint32(entry, uint32(len(x.out)))
	x.out = append(x.out, value...)
	x.align()
}

// degrees sets an entry to degrees, minutes and seconds.
func (x *exifFile) degrees(d *exifDirectory, tag uint16, degrees float64) {
	all := uint64(math.Round(degrees * 3600 * parts))
	d.entries[tag] = x.order.AppendUint32(x.entry(tag, exifRational, 3), uint32(len(x.out)))
	for _, v := range [][2]uint64{{all / (3600 * parts), 1}, {all / (60 * parts) % 60, 1}, {all % (60 * parts), parts}} {
		x.out = x.order.AppendUint32(x.order.AppendUint32(x.out, uint32(v[0])), uint32(v[1]))
	}
}

// align has the next place be even, as all are.
func (x *exifFile) align() { x.out = append(x.out, make([]byte, len(x.out)&1)...) }

// put writes a directory behind all else and returns its place.
func (x *exifFile) put(d *exifDirectory) uint32 {
	x.align()
	at := len(x.out)
	x.out = x.order.AppendUint16(x.out, uint16(len(d.entries)))
	for _, tag := range slices.Sorted(maps.Keys(d.entries)) { // as the standard demands
		x.out = append(x.out, d.entries[tag]...)
	}
	x.out = append(x.out, d.next...)
	return uint32(at)
}

// close writes the first directory, and returns the whole.
func (x *exifFile) close() []byte {
	at := x.put(x.first)
	x.order.PutUint32(x.out[4:], at)
	return x.out
}
