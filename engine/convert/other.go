package convert

import (
	"path/filepath"
	"strconv"

	"catena/engine/program"
	"catena/storage/fault"
)

// forms are the names by which ImageMagick knows formats. The form is named, since ImageMagick else finds one by the
// content, and some are programs in their own language.
var forms = map[string]string{
	"image/vnd.adobe.photoshop": "psd", "image/x-psd": "psd", "image/heic": "heic", "image/heif": "heic", "image/heic-sequence": "heic",
	"image/avif": "avif", "image/jp2": "jp2", "image/x-icon": "ico", "image/vnd.microsoft.icon": "ico", "image/x-tga": "tga", "image/x-xcf": "xcf",
	"image/x-portable-pixmap": "ppm", "image/x-portable-graymap": "pgm", "image/x-portable-bitmap": "pbm",
}

// otherSide is the longest side of what ImageMagick makes, in pixels, which this program then works on.
const otherSide = 5000

// decoded has ImageMagick make a PNG of the first picture in a file.
func (s *source) decoded() (made *source, err error) {
	form := forms[s.blob.Type]
	if form == "" {
		return nil, fault.Invalid.Errorf("file %s: pictures of type %q cannot be read", s.blob.Name, s.blob.Type)
	}
	const in, out = "picture", "made.png"
	area := strconv.Itoa(maxBytes/4) + "P"
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.ImageMagick, File: s.blob, As: in,
		Args: []string{
			"-limit", "memory", "512MiB", "-limit", "map", "512MiB", "-limit", "disk", "0", "-limit", "area", area, "-limit", "width", "40KP",
			"-limit", "height", "40KP", "-limit", "thread", "1", form + ":" + in + "[0]", "-auto-orient", "-resize", strconv.Itoa(otherSide) + "x" + strconv.Itoa(otherSide) + ">",
			"-depth", "8", "png:" + out,
		},
		Take: func(dir, _ string) error {
			data, err := program.Read(filepath.Join(dir, out), maxMade)
			if err != nil {
				return s.about(err)
			}
			made = s.with("image/png", data)
			return nil
		},
	})
	return made, err
}

// otherResize resizes a picture that this program cannot decode.
func otherResize(s *source) ([]byte, string, error) {
	made, err := s.decoded()
	if err != nil {
		return nil, "", err
	}
	return drawn(made, resize)
}

// otherPDF prints a picture that this program cannot decode.
func otherPDF(s *source) ([]byte, string, error) {
	made, err := s.decoded()
	if err != nil {
		return nil, "", err
	}
	return drawn(made, toPDF)
}

// drawn has this program work on a picture in its turn.
func drawn(s *source, run func(*source) ([]byte, string, error)) ([]byte, string, error) {
	leave, err := enter(s.ctx, Way{}, s.blob)
	if err != nil {
		return nil, "", err
	}
	defer leave()
	return run(s)
}
