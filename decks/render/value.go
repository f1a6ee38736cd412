package render

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
)

// length is a size: pixels, a part of what is around, or what is left.
type length struct {
	value float64
	unit  lengthUnit
}

type lengthUnit uint8

const (
	unset lengthUnit = iota // not given
	pixels
	percent
	automatic
)

// of returns the size in pixels, given what a percentage is of; otherwise, if unset.
func (l length) of(whole, otherwise float64) float64 {
	switch l.unit {
	case pixels:
		return l.value
	case percent:
		return l.value * whole / 100
	}
	return otherwise
}

// isGiven reports whether the length is a number rather than unset or automatic.
func (l length) isGiven() bool { return l.unit == pixels || l.unit == percent }

// units are the sizes of units in pixels.
var units = map[string]float64{"px": 1, "pt": 4.0 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}

// lengthOf reads a size for an element of a font size. A length that cannot be read, or beyond a million, is
// unset: the property then has no effect, as in a browser.
func (c *computing) lengthOf(s string, fontSize float64) length {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "", "none", "normal":
		return length{}
	case "auto":
		return length{0, automatic}
	}
	i := 1 + strings.LastIndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && r != '%' })
	f, ok := number(s[:i])
	if !ok || math.Abs(f) > 1e6 {
		return length{}
	}
	switch unit := s[i:]; unit {
	case "%":
		return length{f, percent}
	case "":
		if f == 0 {
			return length{0, pixels}
		}
		return length{} // only zero needs no unit
	default:
		if size := c.sizeOf(unit, fontSize); size > 0 {
			return length{f * size, pixels}
		}
		return length{}
	}
}

// sizeOf is the size of a unit in pixels, 0 if it is unknown. What depends on a font is that of an element of a font size.
func (c *computing) sizeOf(unit string, fontSize float64) float64 {
	switch unit {
	case "em":
		return fontSize
	case "rem":
		return c.rootSize
	case "ex", "ch":
		return fontSize / 2
	case "vw":
		return c.width / 100
	case "vh":
		return c.height / 100
	}
	return units[unit]
}

// rgba is a colour; the zero value is transparent.
type rgba struct {
	r, g, b uint8
	a       float64
}

func (c rgba) visible() bool { return c.a > 0 }

// over is the colour seen when c lies over an opaque one.
func (c rgba) over(under rgba) rgba {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*c.a + float64(b)*(1-c.a))) }
	return rgba{mix(c.r, under.r), mix(c.g, under.g), mix(c.b, under.b), 1}
}

// dark reports whether white text reads better on the colour than black.
func (c rgba) dark() bool {
	// The brightness that the eye sees, by the weights of ITU-R BT.601; 128 is the middle.
	return (float64(c.r)*299+float64(c.g)*587+float64(c.b)*114)/1000 < 128
}

// colorOf reads a colour.
func colorOf(s string) (rgba, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "transparent" {
		return rgba{}, true
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return hexColor(hex)
	}
	if name, args, ok := strings.Cut(s, "("); ok {
		if name == "color-mix" {
			return mixedColor(args)
		}
		return functionColor(name, strings.TrimSuffix(strings.TrimSpace(args), ")"))
	}
	if c, ok := colornames.Map[s]; ok {
		return rgba{c.R, c.G, c.B, 1}, true
	}
	return rgba{}, false
}

// mixedColor reads a colour thinned by transparent, "in srgb, #123 7%, transparent", which is the only form
// of color-mix that is known here.
func mixedColor(args string) (rgba, bool) {
	parts := outside(strings.TrimSuffix(args, ")"), ',')
	if len(parts) != 3 || strings.TrimSpace(parts[2]) != "transparent" {
		return rgba{}, false
	}
	part := strings.TrimSpace(parts[1])
	i := strings.LastIndexByte(part, ' ')
	if i < 0 || !strings.HasSuffix(part, "%") {
		return rgba{}, false
	}
	share, ok := number(strings.TrimSuffix(part[i+1:], "%"))
	c, known := colorOf(part[:i])
	c.a *= min(max(share/100, 0), 1)
	return c, ok && known
}

func hexColor(hex string) (rgba, bool) {
	if len(hex) == 3 || len(hex) == 4 {
		var long strings.Builder
		for i := range len(hex) {
			long.WriteString(hex[i:i+1] + hex[i:i+1])
		}
		hex = long.String()
	}
	if len(hex) == 6 {
		hex += "ff"
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 8 {
		return rgba{}, false
	}
	return rgba{uint8(n >> 24), uint8(n >> 16), uint8(n >> 8), float64(n&255) / 255}, true
}

// functionColor reads rgb() and hsl(), with commas or spaces, with or without alpha.
func functionColor(name, args string) (rgba, bool) {
	parts := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(parts) < 3 {
		return rgba{}, false
	}
	var v [4]float64
	v[3] = 1
	for i := range min(len(parts), 4) {
		text, isPercent := strings.CutSuffix(strings.TrimSuffix(parts[i], "deg"), "%")
		f, ok := number(text)
		if !ok {
			return rgba{}, false
		}
		switch {
		case isPercent && (i == 3 || name[0] == 'h'):
			f /= 100
		case isPercent:
			f *= 2.55
		}
		v[i] = f
	}
	a := min(max(v[3], 0), 1)
	switch name {
	case "rgb", "rgba":
		return rgba{channel(v[0]), channel(v[1]), channel(v[2]), a}, true
	case "hsl", "hsla":
		r, g, b := fromHSL(v[0], v[1], v[2])
		return rgba{channel(r * 255), channel(g * 255), channel(b * 255), a}, true
	}
	return rgba{}, false
}

func channel(f float64) uint8 { return uint8(math.Round(min(max(f, 0), 255))) }

func fromHSL(h, s, l float64) (r, g, b float64) {
	h = math.Mod(math.Mod(h, 360)+360, 360) / 60
	c := (1 - math.Abs(2*l-1)) * s
	x := c * (1 - math.Abs(math.Mod(h, 2)-1))
	m := l - c/2
	wheel := [6][3]float64{{c, x, 0}, {x, c, 0}, {0, c, x}, {0, x, c}, {x, 0, c}, {c, 0, x}}
	v := wheel[int(h)%6]
	return v[0] + m, v[1] + m, v[2] + m
}

// gradient is a linear change between two colours.
type gradient struct {
	from, to rgba
	angle    float64 // degrees clockwise, 0 upwards
}

var sides = map[string]float64{
	"to top": 0, "to right": 90, "to bottom": 180, "to left": 270, "to top right": 45, "to right top": 45,
	"to bottom right": 135, "to right bottom": 135, "to bottom left": 225, "to left bottom": 225, "to top left": 315, "to left top": 315,
}

// gradientOf reads a gradient by its first and last colour.
func gradientOf(s string) *gradient {
	s = strings.ToLower(strings.TrimSpace(s))
	name, args, ok := strings.Cut(s, "-gradient(")
	if !ok {
		return nil
	}
	parts := outside(strings.TrimSuffix(args, ")"), ',')
	g := &gradient{angle: 180}
	first := strings.TrimSpace(parts[0])
	if a, ok := sides[first]; ok {
		g.angle, parts = a, parts[1:]
	} else if a, ok := number(strings.TrimSuffix(first, "deg")); ok {
		g.angle, parts = a, parts[1:]
	}
	var colors []rgba
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if i := strings.LastIndexByte(p, ' '); i > 0 && strings.HasSuffix(p, "%") {
			p = p[:i]
		}
		if c, ok := colorOf(p); ok {
			colors = append(colors, c)
		}
	}
	if len(colors) == 0 {
		return nil
	}
	g.from, g.to = colors[0], colors[len(colors)-1]
	// Circles are not drawn; from top to bottom, the text on them keeps about the same contrast.
	if strings.HasSuffix(name, "radial") {
		g.angle = 180
	}
	return g
}
