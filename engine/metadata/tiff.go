package metadata

import (
	"context"

	"catena/storage/blob"
)

// Tags of a TIFF that hold a packet of XMP, and data sets of IPTC.
const tiffXMP, tiffIPTC = 0x02BC, 0x83BB

// tiffGroups change the groups of metadata of a TIFF, which has the form of EXIF: the picture and all else stay where they are.
var tiffGroups = map[string]func(data []byte, texts map[string]string) ([]byte, error){
	"exif:": changeEXIF,
	"gps:":  changeGPS,
	"xmp:": func(data []byte, texts map[string]string) ([]byte, error) {
		return changeEntry(data, tiffXMP, exifByte, func(old []byte) ([]byte, error) { return changeXMP(old, texts) })
	},
	"iptc:": func(data []byte, texts map[string]string) ([]byte, error) {
		return changeEntry(data, tiffIPTC, exifUndefined, func(old []byte) ([]byte, error) { return changeSets(old, texts) })
	},
}

// writeTIFF changes what a TIFF says.
func writeTIFF(_ context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	data, err := b.Bytes(maxWritten)
	if err != nil {
		return nil, err
	}
	if err := eachGroup(b, texts, func(group string, these map[string]string) (err error) {
		data, err = tiffGroups[group](data, these)
		return err
	}); err != nil {
		return nil, err
	}
	return t.remade(b, data)
}

// changeEntry changes the bytes of an entry of the first directory.
func changeEntry(data []byte, tag, kind uint16, change func(old []byte) ([]byte, error)) ([]byte, error) {
	x, err := openEXIF(data)
	if err != nil {
		return nil, err
	}
	old, err := x.bytes(x.first.entries[tag])
	if err != nil {
		return nil, err
	}
	made, err := change(old)
	if err != nil {
		return nil, err
	}
	x.set(x.first, tag, kind, made)
	return x.close(), nil
}
