package convert

import (
	"image"
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
	"image/jpeg": "jpeg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/bmp": "bmp", "image/tiff": "tiff",
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
	size := strconv.Itoa(otherSide) + "x" + strconv.Itoa(otherSide)
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.ImageMagick, File: s.blob, As: in,
		Args: []string{
			// What does not fit into memory is in a file, whose size bounds the number of pixels.
			"-limit", "memory", "512MiB", "-limit", "map", "512MiB", "-limit", "disk", "1GiB", "-limit", "width", "30KP", "-limit", "height", "30KP",
			"-limit", "thread", "1", "-define", "jpeg:size=" + size, form + ":" + in + "[0]", "-auto-orient", "-resize", size + ">", "-depth", "8",
			"-define", "png:compression-level=1", "png:" + out,
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

// beyond has ImageMagick decode a picture that this program knows but refused: it has too many pixels, or is one of the
// many kinds of TIFF or a WebP that moves. The refusal stands where ImageMagick is not installed.
func (s *source) beyond(refused error) (image.Image, error) {
	if fault.CodeOf(refused) != fault.CodePixels && s.blob.Type != "image/tiff" && s.blob.Type != "image/webp" || s.tools.Programs.Missing(program.ImageMagick) != nil {
		return nil, refused
	}
	made, err := s.decoded()
	if err != nil {
		return nil, err
	}
	return made.decode()
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
