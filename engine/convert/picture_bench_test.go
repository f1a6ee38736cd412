package convert

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"catena/storage/blob"
)

// BenchmarkResize makes the small view of a picture, as of each that is imported.
func BenchmarkResize(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), uint8(x * y), 255})
		}
	}
	var photo bytes.Buffer
	if err := png.Encode(&photo, img); err != nil {
		b.Fatal(err)
	}
	file := blob.FromBytes("photo.png", "image/png", photo.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := resize(&source{ctx: b.Context(), blob: file, params: map[string]string{"width": "100", "height": "100"}}); err != nil {
			b.Fatal(err)
		}
	}
}
