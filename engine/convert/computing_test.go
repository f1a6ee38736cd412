//go:build !race

package convert

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"
)

// TestPictureEnds ends conversions of pictures at many places between their beginning and their end: each of them returns
// why, and nothing else.
func TestPictureEnds(t *testing.T) {
	var asPNG, asJPEG, asGIF bytes.Buffer
	if err := errors.Join(png.Encode(&asPNG, noise(700, 500)), jpeg.Encode(&asJPEG, noise(700, 500), nil), gif.Encode(&asGIF, noise(200, 100), nil)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		converter, typ, width string
		data                  []byte
		least                 int // how often the end is looked for
	}{
		{"pictureResize", "image/png", "600", asPNG.Bytes(), 150},
		{"pictureResize", "image/jpeg", "600", asJPEG.Bytes(), 100},
		{"pictureResize", "image/gif", "150", asGIF.Bytes(), 8},
		{"pictureToJPEG", "image/png", "100", asPNG.Bytes(), 100}, // in two steps
		{"pictureToPNG", "image/jpeg", "", asJPEG.Bytes(), 150},   // neither side changes
		{"pictureConvertToPDF", "image/png", "", asPNG.Bytes(), 150},
	} {
		c, err := Named(test.converter)
		if err != nil {
			t.Fatal(err)
		}
		run := func(after int) (int, error) {
			ctx := &lasting{Context: t.Context(), after: after}
			_, err := c.Convert(ctx, Tools{}, blob.FromBytes("a", test.typ, test.data), map[string]string{"width": test.width})
			return ctx.looks, err
		}
		looks, err := run(1 << 30)
		if err != nil || looks < test.least {
			t.Errorf("%s of %s: looks %d times for its end, want %d: %v", test.converter, test.typ, looks, test.least, err)
		}
		for i := range 12 {
			after := i * (looks - 1) / 11
			if more, err := run(after); !errors.Is(err, context.Canceled) || more > after+10 { // the library looks at the beginning once for each format
				t.Errorf("%s of %s ended after look %d: looks %d times, %v", test.converter, test.typ, after, more, err)
			}
		}
	}
}

// TestLargePicture resizes a picture of 10,000 × 10,000 pixels with ImageMagick, and refuses it without.
func TestLargePicture(t *testing.T) {
	var data bytes.Buffer
	if err := jpeg.Encode(&data, image.NewGray(image.Rect(0, 0, 10_000, 10_000)), nil); err != nil {
		t.Fatal(err)
	}
	b := blob.FromBytes("a.jpg", "image/jpeg", data.Bytes())
	if got, err := made(t, Tools{Programs: programtest.None()}, "pictureResize", b, map[string]string{"width": "100"}); !fault.Is(err, fault.Limit) || fault.CodeOf(err) != fault.CodePixels {
		t.Error(got, err)
	}
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.ImageMagick)}
	got, err := made(t, tools, "pictureResize", b, map[string]string{"width": "100"})
	if err != nil {
		t.Fatal(err)
	}
	if conf, format, err := image.DecodeConfig(bytes.NewReader(content(t, got))); err != nil || format != "jpeg" && format != "png" || conf.Width != 100 || conf.Height != 100 {
		t.Errorf("%s of %d × %d, %v", format, conf.Width, conf.Height, err)
	}
}
