package theme

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed slides.css
var slides string

// CSS returns the style sheet of a theme; names there are none of stand for the first.
// The fonts' files are in the folder that base names, with a slash at its end.
func CSS(color, font, base string) string {
	var b strings.Builder
	c, f := ColorOf(color), fontOf(font)
	for i := range f.families {
		f.families[i].faces(&b, base)
	}
	upper, tracking := "none", "normal"
	if f.Upper {
		upper = "uppercase"
	}
	if f.Tracking != "" {
		tracking = f.Tracking
	}
	fmt.Fprintf(&b, `:root {
  --r-background-color: %s;
  --r-main-color: %s;
  --r-heading-color: %s;
  --r-link-color: %s;
  --r-main-font: %s;
  --r-heading-font: %s;
  --r-heading-font-weight: %s;
  --r-heading-text-transform: %s;
  --r-heading-letter-spacing: %s;
}
`, c.Background, c.Text, c.Heading, c.Link, f.Body, f.Heading, f.Weight, upper, tracking)
	b.WriteString(slides)
	return b.String()
}

// FacesCSS returns a style sheet with all built-in faces, which browsers load where they are
// used.
func FacesCSS(base string) string {
	var b strings.Builder
	done := map[string]bool{}
	for i := range Fonts {
		for _, f := range Fonts[i].families {
			if !done[f.name] {
				done[f.name] = true
				f.faces(&b, base)
			}
		}
	}
	return b.String()
}

// FontFiles returns the names of the built-in files that a theme of fonts needs, as its
// style sheet names them.
func FontFiles(font string) []string {
	var out []string
	for _, f := range fontOf(font).families {
		for _, subset := range f.subsets() {
			for _, style := range f.styles() {
				out = append(out, f.path(subset, style))
			}
		}
	}
	return out
}

// The letters of the subsets, as the fonts' packages cut them.
const (
	latin    = "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD"
	latinExt = "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF"
)

func (f *family) subsets() []string {
	if f.latin {
		return []string{"latin"}
	}
	return []string{"latin", "latin-ext"}
}

func (f *family) styles() []string {
	out := []string{"400-normal"}
	if f.italic {
		out = append(out, "400-italic")
	}
	if !f.single {
		out = append(out, "700-normal")
	}
	return out
}

func (f *family) path(subset, style string) string {
	return "fonts/" + f.file + "-" + subset + "-" + style + ".woff2"
}

func (f *family) faces(b *strings.Builder, base string) {
	for _, subset := range f.subsets() {
		letters := latin
		if subset == "latin-ext" {
			letters = latinExt
		}
		for _, style := range f.styles() {
			weight, slant, _ := strings.Cut(style, "-")
			fmt.Fprintf(b, "@font-face { font-family: %q; font-style: %s; font-weight: %s; font-display: swap; src: url(%q) format(\"woff2\"); unicode-range: %s; }\n",
				f.name, slant, weight, base+f.path(subset, style), letters)
		}
	}
}
