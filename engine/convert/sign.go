package convert

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"catena/storage/blob"
)

// Sign draws what stands for a document without a picture: a folder or a sheet of paper.
// It is drawn, not stored, so that the program carries no pictures, and is the same for every
// document.
func Sign(folder bool) (*blob.Blob, error) {
	img := image.NewRGBA(image.Rect(0, 0, 128, 128))
	fill := func(x0, y0, x1, y1 int, c color.Color) {
		draw.Draw(img, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	name := "file.png"
	if folder {
		name = "folder.png"
		fill(14, 30, 58, 46, color.RGBA{0xC8, 0x96, 0x28, 0xFF})
		fill(14, 40, 114, 106, color.RGBA{0xE6, 0xB4, 0x46, 0xFF})
	} else {
		fill(28, 12, 100, 116, color.RGBA{0x96, 0xA0, 0xAF, 0xFF})
		fill(30, 14, 98, 114, color.White)
		for y := 34; y < 100; y += 12 {
			fill(40, y, 88, y+4, color.RGBA{0xC8, 0xCD, 0xD7, 0xFF})
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, err
	}
	return blob.FromBytes(name, "image/png", out.Bytes()), nil
}
