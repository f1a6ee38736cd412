package convert

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"golang.org/x/image/draw"

	"catena/storage/blob"
)

// TestThumbnailsStandOut shows thumbnails on a white page as small as lists do, which have 32 pixels for them: the edges of a
// sheet of paper have to be seen.
func TestThumbnailsStandOut(t *testing.T) {
	const side, visible, enough = 32, 230, 40
	text, _, err := convert(t, Thumbnailer, "a.txt", "text/plain", " ", nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Sign(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := Sign(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*blob.Blob{"text": text, "file": file, "folder": folder} {
		data, err := b.Bytes(0)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		small := image.NewRGBA(image.Rect(0, 0, side, side))
		draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
		draw.BiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Over, nil)
		n := 0
		for y := range side {
			for x := range side {
				if color.GrayModel.Convert(small.At(x, y)).(color.Gray).Y < visible {
					n++
				}
			}
		}
		if n < enough {
			t.Errorf("%s: %d pixels are darker than %d, want %d", name, n, visible, enough)
		}
	}
}
