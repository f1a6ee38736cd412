package render

import (
	"maps"
	"strconv"
	"strings"
	"sync"
)

type setter func(c *computing, s, parent *style, value string)

// properties are the CSS properties that count. The table is made on first use, since its functions refer to it.
func properties() map[string]setter {
	propertyTable.once.Do(func() {
		propertyTable.of = firstProperties()
		maps.Copy(propertyTable.of, otherProperties())
	})
	return propertyTable.of
}

var propertyTable struct {
	once sync.Once
	of   map[string]setter
}

func firstProperties() map[string]setter {
	return map[string]setter{
		"align-items":           word(func(s *style) *string { return &s.items }),
		"background":            setBackground,
		"background-color":      setBackground,
		"background-image":      setBackgroundImage,
		"background-repeat":     word(func(s *style) *string { return &s.repeat }),
		"background-size":       word(func(s *style) *string { return &s.cover }),
		"border":                func(c *computing, s, _ *style, v string) { c.borders(s, v, 0, 1, 2, 3) },
		"border-bottom":         func(c *computing, s, _ *style, v string) { c.borders(s, v, 2) },
		"border-collapse":       func(_ *computing, s, _ *style, v string) { s.collapseBorder = v == "collapse" },
		"border-color":          setBorderColor,
		"border-left":           func(c *computing, s, _ *style, v string) { c.borders(s, v, 3) },
		"border-radius":         func(c *computing, s, _ *style, v string) { s.radius = c.lengthOf(firstWord(v), s.fontSize) },
		"border-right":          func(c *computing, s, _ *style, v string) { c.borders(s, v, 1) },
		"border-style":          setBorderStyle,
		"border-top":            func(c *computing, s, _ *style, v string) { c.borders(s, v, 0) },
		"border-width":          setBorderWidth,
		"bottom":                size(func(s *style) *length { return &s.inset[2] }),
		"box-sizing":            func(_ *computing, s, _ *style, v string) { s.outer = v == "border-box" },
		"color":                 setColor,
		"display":               word(func(s *style) *string { return &s.display }),
		"flex":                  func(_ *computing, s, _ *style, v string) { s.grow, _ = number(firstWord(v)) },
		"flex-direction":        word(func(s *style) *string { return &s.direction }),
		"flex-grow":             func(_ *computing, s, _ *style, v string) { s.grow, _ = number(v) },
		"font":                  setFont,
		"font-family":           setFamily,
		"font-style":            func(_ *computing, s, _ *style, v string) { s.italic = v == "italic" || v == "oblique" },
		"font-weight":           setWeight,
		"gap":                   func(c *computing, s, _ *style, v string) { s.gap = c.lengthOf(firstWord(v), s.fontSize) },
		"grid-template-columns": func(_ *computing, s, _ *style, v string) { s.columns = columnsOf(v) },
		"height":                size(func(s *style) *length { return &s.height }),
		"inset":                 func(c *computing, s, _ *style, v string) { c.four(&s.inset, v, s.fontSize) },
	}
}

func otherProperties() map[string]setter {
	return map[string]setter{
		"justify-content":      word(func(s *style) *string { return &s.justify }),
		"left":                 size(func(s *style) *length { return &s.inset[3] }),
		"line-height":          setLineHeight,
		"list-style":           func(_ *computing, s, _ *style, v string) { s.bullet = firstWord(v) },
		"list-style-type":      word(func(s *style) *string { return &s.bullet }),
		"margin":               func(c *computing, s, _ *style, v string) { c.four(&s.margin, v, s.fontSize) },
		"margin-block":         pair(func(s *style) *[4]length { return &s.margin }, 0, 2),
		"margin-inline":        pair(func(s *style) *[4]length { return &s.margin }, 3, 1),
		"margin-inline-start":  size(func(s *style) *length { return &s.margin[3] }),
		"padding-block":        pair(func(s *style) *[4]length { return &s.padding }, 0, 2),
		"padding-inline":       pair(func(s *style) *[4]length { return &s.padding }, 3, 1),
		"padding-inline-start": size(func(s *style) *length { return &s.padding[3] }),
		"border-inline-start":  func(c *computing, s, _ *style, v string) { c.borders(s, v, 3) },
		"overflow":             func(_ *computing, s, _ *style, v string) { s.clip = v != "visible" },
		"margin-bottom":        size(func(s *style) *length { return &s.margin[2] }),
		"margin-left":          size(func(s *style) *length { return &s.margin[3] }),
		"margin-right":         size(func(s *style) *length { return &s.margin[1] }),
		"margin-top":           size(func(s *style) *length { return &s.margin[0] }),
		"max-height":           size(func(s *style) *length { return &s.maxHeight }),
		"max-width":            size(func(s *style) *length { return &s.maxWidth }),
		"min-height":           size(func(s *style) *length { return &s.minHeight }),
		"min-width":            size(func(s *style) *length { return &s.minWidth }),
		"object-fit":           word(func(s *style) *string { return &s.fit }),
		"opacity":              setOpacity,
		"padding":              func(c *computing, s, _ *style, v string) { c.four(&s.padding, v, s.fontSize) },
		"padding-bottom":       size(func(s *style) *length { return &s.padding[2] }),
		"padding-left":         size(func(s *style) *length { return &s.padding[3] }),
		"padding-right":        size(func(s *style) *length { return &s.padding[1] }),
		"padding-top":          size(func(s *style) *length { return &s.padding[0] }),
		"position":             word(func(s *style) *string { return &s.position }),
		"right":                size(func(s *style) *length { return &s.inset[1] }),
		"text-align":           word(func(s *style) *string { return &s.align }),
		"text-decoration":      setDecoration,
		"text-decoration-line": setDecoration,
		"text-transform":       word(func(s *style) *string { return &s.transform }),
		"top":                  size(func(s *style) *length { return &s.inset[0] }),
		"vertical-align":       word(func(s *style) *string { return &s.valign }),
		"visibility":           func(_ *computing, s, _ *style, v string) { s.hidden = v == "hidden" || v == "collapse" },
		"white-space":          word(func(s *style) *string { return &s.space }),
		"width":                size(func(s *style) *length { return &s.width }),
		"z-index":              func(_ *computing, s, _ *style, v string) { s.z, _ = strconv.Atoi(v) },
	}
}

// word sets a keyword; inherit and the like take the usual value.
func word(field func(*style) *string) setter {
	return func(_ *computing, s, parent *style, v string) {
		v = strings.ToLower(v)
		switch v {
		case "inherit":
			v = *field(parent)
		case "initial", "unset", "revert":
			return
		}
		*field(s) = v
	}
}

func size(field func(*style) *length) setter {
	return func(c *computing, s, parent *style, v string) {
		if v == "inherit" {
			*field(s) = *field(parent)
			return
		}
		*field(s) = c.lengthOf(v, s.fontSize)
	}
}

// pair sets the two sides of one direction.
func pair(field func(*style) *[4]length, start, end int) setter {
	return func(c *computing, s, _ *style, v string) {
		parts := strings.Fields(v)
		if len(parts) == 0 {
			return
		}
		to := field(s)
		to[start], to[end] = c.lengthOf(parts[0], s.fontSize), c.lengthOf(parts[len(parts)-1], s.fontSize)
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// four reads the values of the four sides.
func (c *computing) four(to *[4]length, v string, fontSize float64) {
	parts := strings.Fields(v)
	for i := range to {
		// One value is for all sides, two are for top and bottom and for the sides, three leave out the left one.
		switch n := len(parts); {
		case n == 0 || n > 4:
			return
		case i < n:
			to[i] = c.lengthOf(parts[i], fontSize)
		case i == 3 && n > 1:
			to[i] = to[1]
		case i == 3:
			to[i] = to[0]
		case i == 2:
			to[i] = to[0]
		default:
			to[i] = to[0]
		}
	}
}

var lineStyles = map[string]bool{"solid": true, "dashed": true, "dotted": true, "double": true, "ridge": true, "groove": true, "inset": true, "outset": true}

func (c *computing) borders(s *style, v string, which ...int) {
	e := edge{plain: true}
	for _, part := range outside(strings.ToLower(v), ' ') {
		switch col, ok := colorOf(part); {
		case lineStyles[part]:
			e.style = part
		case ok:
			e.color, e.plain = col, false
		// CSS leaves the three widths open; these are the ones that browsers use.
		case part == "thin":
			e.width = length{1, pixels}
		case part == "medium":
			e.width = length{3, pixels}
		case part == "thick":
			e.width = length{5, pixels}
		default:
			if l := c.lengthOf(part, s.fontSize); l.unit == pixels {
				e.width = l
			}
		}
	}
	if e.style != "" && e.width.unit == unset {
		e.width = length{3, pixels}
	}
	for _, i := range which {
		s.border[i] = e
	}
}

func setBorderColor(_ *computing, s, _ *style, v string) {
	if col, ok := colorOf(v); ok {
		for i := range s.border {
			s.border[i].color, s.border[i].plain = col, false
		}
	}
}

func setBorderStyle(_ *computing, s, _ *style, v string) {
	for i := range s.border {
		s.border[i].style = ""
		if lineStyles[firstWord(v)] {
			s.border[i].style = firstWord(v)
		}
		if s.border[i].color == (rgba{}) {
			s.border[i].plain = true
		}
	}
}

func setBorderWidth(c *computing, s, _ *style, v string) {
	var w [4]length
	c.four(&w, v, s.fontSize)
	for i := range w {
		s.border[i].width = w[i]
	}
}

func setColor(_ *computing, s, parent *style, v string) {
	if v == "inherit" || v == "currentcolor" {
		s.color = parent.color
	} else if col, ok := colorOf(v); ok {
		s.color = col
	}
}

func setBackground(_ *computing, s, _ *style, v string) {
	if g := gradientOf(v); g != nil {
		s.gradient = g
		return
	}
	for _, part := range outside(v, ' ') {
		part = strings.TrimSpace(part)
		if u, ok := addressOf(part); ok {
			s.image = u
		} else if col, ok := colorOf(part); ok {
			s.background = col
		} else if part == "no-repeat" {
			s.repeat = part
		} else if part == "cover" || part == "contain" { // after the position and a slash
			s.cover = part
		} else if part == "none" {
			s.background, s.image, s.gradient = rgba{}, "", nil
		}
	}
}

// setBackgroundImage leaves the colour as it is.
func setBackgroundImage(c *computing, s, parent *style, v string) {
	color := s.background
	s.image, s.gradient = "", nil
	setBackground(c, s, parent, v)
	s.background = color
}

// addressOf reads url(…).
func addressOf(s string) (string, bool) {
	if len(s) < 5 || !strings.EqualFold(s[:4], "url(") {
		return "", false
	}
	return strings.Trim(strings.TrimSuffix(s[4:], ")"), ` "'`), true
}

func setFamily(_ *computing, s, parent *style, v string) {
	if v == "inherit" {
		s.family = parent.family
		return
	}
	// There are two families to choose from, so all that does not look monospaced is sans.
	s.family = sans
	if v = strings.ToLower(v); strings.Contains(v, "mono") || strings.Contains(v, "courier") || strings.Contains(v, "consol") || strings.Contains(v, "menlo") {
		s.family = mono
	}
}

func setFont(c *computing, s, parent *style, v string) {
	for part := range strings.FieldsSeq(v) {
		switch l, _, _ := strings.Cut(part, "/"); {
		case part == "italic" || part == "bold":
			s.italic, s.bold = s.italic || part == "italic", s.bold || part == "bold"
		case c.lengthOf(l, parent.fontSize).unit != unset:
			c.fontSize(s, parent, l)
		}
	}
	setFamily(c, s, parent, v)
}

func setWeight(_ *computing, s, _ *style, v string) {
	switch f, ok := number(v); {
	case ok:
		// The fonts have two weights; browsers, too, take the bold one from 600 on.
		s.bold = f >= 600
	case v == "bold" || v == "bolder":
		s.bold = true
	case v == "normal" || v == "lighter":
		s.bold = false
	}
}

func setLineHeight(c *computing, s, _ *style, v string) {
	if f, ok := number(v); ok && f >= 0 && f < 100 {
		s.lineHeight = f
	} else if v == "normal" {
		// About what browsers take for normal; it depends on the font there.
		s.lineHeight = 1.2
	} else if l := c.lengthOf(v, s.fontSize); l.unit != unset && s.fontSize > 0 {
		s.lineHeight = l.of(s.fontSize, s.fontSize) / s.fontSize
	}
}

func setOpacity(_ *computing, s, _ *style, v string) {
	if f, ok := number(strings.TrimSuffix(v, "%")); ok {
		if strings.HasSuffix(v, "%") {
			f /= 100
		}
		s.opacity = min(max(f, 0), 1)
	}
}

func setDecoration(_ *computing, s, _ *style, v string) {
	if strings.Contains(v, "none") {
		s.underline, s.strike = false, false
		return
	}
	s.underline = s.underline || strings.Contains(v, "underline")
	s.strike = s.strike || strings.Contains(v, "line-through")
}

// columnsOf counts the columns of a grid.
func columnsOf(v string) int {
	if args, ok := strings.CutPrefix(v, "repeat("); ok {
		n, _ := strconv.Atoi(strings.TrimSpace(strings.Split(args, ",")[0]))
		// Bounded, since the number stands in a style that anybody may write.
		return min(max(n, 0), 100)
	}
	if v == "none" || v == "" {
		return 0
	}
	return min(len(outside(strings.TrimSpace(v), ' ')), 100)
}
