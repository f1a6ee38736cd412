package convert

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/image/draw"

	"catena/storage/fault"
)

// lasting is a context that ends after it was looked at so often.
type lasting struct {
	context.Context

	looks, after int
}

func (l *lasting) Err() error {
	if l.looks++; l.looks > l.after {
		return context.Canceled
	}
	return nil
}

// noise is a picture that is not smaller when it is compressed.
func noise(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(random.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

// TestScaled compares pictures made in bands with those made at once, of sides around those of a band.
func TestScaled(t *testing.T) {
	for _, size := range [][4]int{{1, 1, 1, 1}, {63, 64, 62, 63}, {64, 65, 64, 30}, {65, 130, 40, 130}, {200, 129, 129, 65}, {300, 200, 100, 67}, {1, 300, 1, 100}, {300, 1, 100, 1}} {
		img := image.NewRGBA(image.Rect(5, 7, 5+size[0], 7+size[1])) // need not begin at the origin
		for y := range size[1] {
			for x := range size[0] {
				img.SetRGBA(5+x, 7+y, color.RGBA{byte(x * 255 / size[0]), byte(y * 255 / size[1]), byte(x / 20 % 2 * 200), 255})
			}
		}
		got, err := scaled(t.Context(), img, size[2], size[3])
		if err != nil {
			t.Fatal(err)
		}
		want := image.NewRGBA(image.Rect(0, 0, size[2], size[3]))
		draw.CatmullRom.Scale(want, want.Bounds(), img, img.Bounds(), draw.Src, nil)
		for i, v := range got.(*image.RGBA).Pix {
			if d := int(v) - int(want.Pix[i]); d < -2 || d > 2 {
				t.Errorf("%v: byte %d is %d, want %d", size, i, v, want.Pix[i])
				break
			}
		}
	}
}

// TestScaledMemory bounds what a picture takes that is made a little smaller: about as much as both pictures, not eight times
// as much.
func TestScaledMemory(t *testing.T) {
	if underRace {
		t.Skip("pools of memory forget at random under the race detector")
	}
	img := image.NewRGBA(image.Rect(0, 0, 2000, 2000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := scaled(t.Context(), img, 1900, 1900); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(80<<20); took > most { // at once: 136 MB
		t.Errorf("takes %d bytes, want at most %d", took, most)
	}
}

// TestEncoded passes on what an encoder returns, or panics with, and only the end of the context is its own.
func TestEncoded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	data, err := encoded(ctx, func(w io.Writer) error { _, err := io.WriteString(w, "data"); return err })
	if err != nil || string(data) != "data" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := encoded(ctx, func(io.Writer) error { return io.ErrShortWrite }); !fault.Is(err, fault.Invalid) || !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	func() {
		defer func() {
			if p := recover(); p != "bug" {
				t.Errorf("panic %v", p)
			}
		}()
		_, _ = encoded(ctx, func(io.Writer) error { panic("bug") })
	}()
	cancel()
	stubborn := func(w io.Writer) error {
		for range 1000 {
			_, _ = w.Write(nil)
		}
		t.Error("goes on to the end")
		return nil
	}
	if data, err := encoded(ctx, stubborn); data != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%q %v", data, err)
	}
}
