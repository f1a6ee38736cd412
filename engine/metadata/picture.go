package metadata

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/bep/imagemeta"

	"catena/storage/blob"
)

// Bounds of what pictures say about themselves.
const (
	maxTags    = 500
	maxTagText = 10_000 // bytes of one value
)

// pictureForms are the types of pictures whose metadata the library reads.
var pictureForms = map[string]imagemeta.ImageFormat{
	"image/jpeg": imagemeta.JPEG, "image/png": imagemeta.PNG, "image/tiff": imagemeta.TIFF,
	"image/heic": imagemeta.HEIF, "image/heif": imagemeta.HEIF, "image/avif": imagemeta.AVIF,
}

// tagGroups are the groups of names.
var tagGroups = map[imagemeta.Source]string{imagemeta.EXIF: "exif:", imagemeta.IPTC: "iptc:", imagemeta.XMP: "xmp:"}

// readTags adds what a picture says about itself: EXIF, IPTC and XMP, and from them the moment it was taken (image:taken) and the place
// (gps:latitude and gps:longitude, in degrees). What is damaged adds what could be read.
// Metadata is written by strangers. Number and size of values are bounded, both in the library and
// here, since the library counts each source by itself.
func readTags(b *blob.Blob, r io.ReadSeeker, out map[string]any) error {
	form, ok := pictureForms[b.Type]
	if !ok {
		return nil
	}
	return walkTags(b, form, r, out)
}

// walkTags adds the tags of a picture of a form, and its measures if they are not known: this program does not decode HEIC and AVIF.
func walkTags(b *blob.Blob, form imagemeta.ImageFormat, r io.ReadSeeker, out map[string]any) error {
	sources := imagemeta.EXIF | imagemeta.IPTC | imagemeta.XMP
	measured := out["image:width"] != nil
	if !measured {
		sources |= imagemeta.CONFIG
	}
	var tags imagemeta.Tags
	n := 0
	got, err := imagemeta.Decode(imagemeta.Options{
		R: r, ImageFormat: form, Sources: sources, LimitNumTags: maxTags, LimitTagSize: maxTagText,
		HandleTag: func(tag imagemeta.TagInfo) error {
			if n++; n > maxTags {
				return imagemeta.ErrStopWalking
			}
			name := tagGroups[tag.Source] + tag.Tag
			if v := tagValue(tag.Value); v != nil && out[name] == nil && !strings.HasPrefix(tag.Tag, imagemeta.UnknownPrefix) {
				out[name] = v
			}
			tags.Add(tag)
			return nil
		},
	})
	if err != nil && !imagemeta.IsInvalidFormat(err) {
		return fmt.Errorf("file %q: %w", b.Name, err)
	}
	if size := got.ImageConfig; !measured && size.Width > 0 && size.Height > 0 {
		if err := measure(b, size.Width, size.Height, strings.TrimPrefix(b.Type, "image/"), out); err != nil {
			return err
		}
	}
	return conclude(tags, out)
}

// conclude adds what several tags say together.
func conclude(tags imagemeta.Tags, out map[string]any) (err error) {
	// A picture whose tags have other types than the standard says is shown without a date and a
	// place, and the call goes on.
	defer func() { // the library trusts the types of values
		if p := recover(); p != nil {
			err = nil
		}
	}()
	if at, ok := takenAt(tags, out); ok {
		out["image:taken"] = at
	}
	latitude, longitude, err := tags.GetLatLong()
	// Many cameras write zeros when they have no position.
	if err == nil && (latitude != 0 || longitude != 0) && math.Abs(latitude) <= 90 && math.Abs(longitude) <= 180 {
		out["gps:latitude"], out["gps:longitude"] = latitude, longitude
	}
	return nil
}

// takenAt is the moment a picture was taken. Cameras that do not say in which time zone they are count as being in UTC.
func takenAt(tags imagemeta.Tags, out map[string]any) (time.Time, bool) {
	first := func(names ...string) string {
		for _, name := range names {
			if s, ok := out["exif:"+name].(string); ok {
				return s
			}
		}
		return ""
	}
	at, zone := first("DateTimeOriginal", "DateTimeDigitized", "DateTime"), first("OffsetTimeOriginal", "OffsetTime")
	if t, err := time.Parse("2006:01:02 15:04:05-07:00", at+zone); err == nil {
		return t.UTC(), true
	}
	if t, err := time.Parse("2006:01:02 15:04:05", at); err == nil {
		return t, true
	}
	t, err := tags.GetDateTime()
	return t.UTC(), err == nil && !t.IsZero()
}

// tagValue is a value as properties and answers have it; nil for what they cannot hold.
func tagValue(v any) any {
	switch v := v.(type) {
	case string:
		return textOf(v)
	case time.Time:
		return v.UTC()
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case float32:
		return tagValue(float64(v))
	case int, int8, int16, int32, int64, uint8, uint16, uint32:
		var n int64
		if _, err := fmt.Sscan(fmt.Sprint(v), &n); err != nil {
			return nil
		}
		return n
	case interface{ Float64() float64 }: // a fraction
		return tagValue(v.Float64())
	case []string:
		return textOf(strings.Join(v, ", "))
	// Raw bytes are thumbnails and notes of the maker, which would fill answers with noise.
	case nil, []byte:
		return nil
	}
	return textOf(fmt.Sprint(v))
}

// textOf is text without zero bytes and spaces around it; nil if nothing is left, or too much.
func textOf(s string) any {
	s = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), ""))
	if s == "" || len(s) > maxTagText {
		return nil
	}
	return s
}
