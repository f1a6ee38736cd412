package render

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"testing"

	"catena/storage/fault"
)

// TestStill draws slides, with a browser where there is one: the size is that of slides in
// little, and the background is the slide's own.
func TestStill(t *testing.T) {
	c := chromium(t)
	for name, r := range map[string]Drawer{"auto": Auto{Browser: c, Log: quiet}, "no browser": Auto{Log: quiet}, "broken browser": Auto{Browser: &Chromium{Path: "/no/such", Log: quiet}, Log: quiet}} {
		for slide, want := range map[int]color.NRGBA{1: {255, 255, 255, 255}, 2: {0xc8, 0x1e, 0x1e, 255}, 3: {30, 60, 200, 255}, 7: {255, 255, 255, 255}} {
			got, err := r.Still(context.Background(), fresh(), slide)
			if err != nil {
				t.Fatal(name, err)
			}
			img, format, err := image.Decode(bytes.NewReader(got.Data))
			if err != nil || "image/"+format != got.Type || img.Bounds().Dx() != stillWidth || img.Bounds().Dy() < 583 || img.Bounds().Dy() > 584 {
				t.Fatalf("%s, slide %d: %s %s %v %v", name, slide, format, got.Type, img.Bounds(), err)
			}
			for _, at := range []image.Point{{4, 4}, {795, 575}} {
				if c := color.NRGBAModel.Convert(img.At(at.X, at.Y)).(color.NRGBA); !near(c, want) {
					t.Errorf("%s, slide %d at %v: %v, want %v", name, slide, at, c, want)
				}
			}
		}
		for _, slide := range []int{0, 8} {
			if _, err := r.Still(context.Background(), fresh(), slide); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s, slide %d: %v", name, slide, err)
			}
		}
	}
}
