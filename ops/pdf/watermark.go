package pdf

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

// maxFont is the largest size of a font, in points. It is larger than any page needs, and keeps
// positions computed from it finite.
const maxFont = 1000

// lettering checks how a stamp is written, and sets its colour; the names are those of the parameters that say so.
func lettering(s *pdf.Stamp, font, size, color, value string) error {
	if err := pdf.CheckFont(s.Font); err != nil {
		return fault.Wrap(err, "%s", font).In(font)
	}
	// Written as a negation so that NaN is refused, too.
	if !(s.Size > 0 && s.Size <= maxFont) {
		return fault.Invalid.Errorf("%s: must be more than 0 and at most %d", size, maxFont).In(size)
	}
	rgb, err := hex.DecodeString(strings.TrimPrefix(strings.TrimPrefix(value, "0x"), "#"))
	if err != nil || len(rgb) != len(s.Color) {
		return fault.Invalid.Errorf("%s: must be a color such as #ff0000", color).In(color)
	}
	s.Color = [3]uint8(rgb)
	return nil
}

// watermarkDoc says what the properties of watermarks have in common.
const watermarkDoc = "alphaColor (0.5; from 0, invisible, to 1), xPosition and yPosition (0; points from the left and from below), invertX and invertY (false; from the " +
	"right and from above), relativeCoordinates (false; positions are from 0 to 1, left to right and bottom to top)"

// watermark reads properties of a watermark into a stamp, and calls own for those that are not the same for all.
// The properties are a map of texts, as in the platform; an unknown name is refused rather than
// ignored, since a misspelt one would put the mark in the wrong place on every page.
func watermark(properties storage.Props, s *pdf.Stamp, own map[string]func(string) error) error {
	relative := false
	all := map[string]func(string) error{
		"alphaColor": number(&s.Opacity, 0, 1), "xPosition": number(&s.Right.At, -maxOffset, maxOffset), "yPosition": number(&s.Up.At, -maxOffset, maxOffset),
		"invertX": flag(&s.Right.Far), "invertY": flag(&s.Up.Far), "relativeCoordinates": flag(&relative),
	}
	maps.Copy(all, own)
	// The platform's default, set before the properties are read, so that they can replace it.
	s.Opacity = 0.5
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		read := all[name]
		if read == nil {
			return fault.Invalid.Errorf("properties: unknown value %q%s", name, fault.Perhaps(name, maps.Keys(all))).In("properties")
		}
		if err := read(strings.TrimSpace(fmt.Sprint(properties[name]))); err != nil {
			return fault.Wrap(err, "properties: %s", name).In("properties")
		}
	}
	// Checked after all properties are read, because they are read in the order of their names and
	// relativeCoordinates comes before the positions it is about.
	if relative {
		for name, p := range map[string]*pdf.Offset{"xPosition": &s.Right, "yPosition": &s.Up} {
			if p.At < 0 || p.At > 1 {
				return fault.Invalid.Errorf("properties: %s: must be between 0 and 1", name).In("properties")
			}
			p.Share = true
		}
	}
	return nil
}

// maxOffset is how far from an edge something may be put, in points: pages are not larger than that.
// 14,400 points are 200 inches, the largest side of a page that the PDF standard's implementation limits
// allow.
const maxOffset = 14_400

func number(into *float64, least, most float64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || n < least || n > most {
			return fault.Invalid.Errorf("must be a number between %g and %g", least, most)
		}
		*into = n
		return nil
	}
}

func flag(into *bool) func(string) error {
	return func(text string) (err error) {
		if *into, err = strconv.ParseBool(text); err != nil {
			return fault.Invalid.Errorf("must be true or false")
		}
		return nil
	}
}

func word(into *string) func(string) error {
	return func(text string) error { *into = text; return nil }
}
