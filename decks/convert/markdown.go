package convert

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"go.yaml.in/yaml/v3"

	"catena/engine/markdown"
	"catena/storage/fault"
	"catena/storage/lazy"
)

// fromMarkdown keeps the HTML in Markdown, since all HTML of an import is cleaned when the deck is stored.
var fromMarkdown = markdown.New(goldmark.WithExtensions(extension.GFM, extension.DefinitionList, markdown.Steps), goldmark.WithRendererOptions(html.WithUnsafe()))

var (
	// Three or more hyphens alone on a line divide slides in all dialects; two, the slides of a stack in reveal.js.
	newSlide  = lazy.Regexp(`^-{3,}\s*$`)
	newBelow  = lazy.Regexp(`^--\s*$`)
	fence     = lazy.Regexp("^ {0,3}(```+|~~~+)")
	startNote = lazy.Regexp(`(?i)^\s*notes?:\s*(.*)$`)
	remark    = lazy.Regexp(`(?s)<!--(.*?)-->`)
	directive = lazy.Regexp(`^\s*(_?[a-zA-Z]+)\s*:\s*(.*)$`)
	bgImage   = lazy.Regexp(`!\[bg([^\]]*)\]\(([^)\s]+)[^)]*\)`)
	pair      = lazy.Regexp(`^[A-Za-z_][\w-]*:(\s|$)`)
)

// slide is a slide of Markdown: its text and what stands in front of it.
type slide struct {
	lines []string
	front map[string]any
	below bool // the slide before it is above it
}

// readMarkdown reads slides divided by lines of three hyphens, and by two for those of a
// stack. What is at the top between such lines, or after one in front of a slide, is YAML.
func readMarkdown(ctx context.Context, src string) (*Deck, error) {
	slides, err := split(src)
	if err != nil {
		return nil, err
	}
	d := &Deck{}
	d.about(slides[0].front)
	var out strings.Builder
	for i := 0; i < len(slides); {
		end := i + 1
		for end < len(slides) && slides[end].below {
			end++
		}
		stack := end-i > 1
		if stack {
			out.WriteString("<section>\n")
		}
		for ; i < end; i++ {
			section, err := slides[i].section(ctx, slides[0].front)
			if err != nil {
				return nil, fault.Wrap(err, "slide %d", i+1)
			}
			out.WriteString(section)
		}
		if stack {
			out.WriteString("</section>\n")
		}
	}
	d.HTML = strings.TrimSpace(out.String())
	if d.Title == "" {
		if d.Title, err = firstHeading(ctx, src); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// split divides the text into slides, outside of fenced code.
func split(src string) ([]slide, error) {
	lines := strings.Split(src, "\n")
	slides, code := []slide{{}}, codeFence("")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		code.read(line)
		divides, below := newSlide().MatchString(line), newBelow().MatchString(line)
		if code != "" || !divides && !below {
			last := &slides[len(slides)-1]
			last.lines = append(last.lines, line)
			continue
		}
		if !isFirst(slides) || below {
			slides = append(slides, slide{below: below})
		}
		if end := frontEnd(lines, i); divides && end > 0 {
			front, err := readFront(lines[i+1:end], i+2)
			if err != nil {
				return nil, err
			}
			slides[len(slides)-1].front = front
			i = end
		}
	}
	if last := len(slides) - 1; last > 0 && slides[last].isEmpty() {
		slides = slides[:last]
	}
	return slides, nil
}

// codeFence is the fence that began the code block being read; "" outside of one.
type codeFence string

// read enters or leaves a code block if the line is a fence. A block ends at a fence of the same
// characters that is at least as long as the one that began it.
func (f *codeFence) read(line string) {
	m := fence().FindStringSubmatch(line)
	switch {
	case m == nil:
	case *f == "":
		*f = codeFence(m[1])
	case strings.HasPrefix(m[1], string(*f)):
		*f = ""
	}
}

// isEmpty reports whether the slide has neither text nor front matter.
func (s *slide) isEmpty() bool {
	return s.front == nil && strings.TrimSpace(strings.Join(s.lines, "")) == ""
}

// isFirst reports whether nothing has been read but blank lines.
func isFirst(slides []slide) bool {
	return len(slides) == 1 && slides[0].front == nil && strings.TrimSpace(strings.Join(slides[0].lines, "")) == ""
}

// frontEnd is the line that ends the YAML that begins after a line of hyphens; 0 if none does.
// A line of hyphens may also be a plain separator, so everything up to the next such line must look like
// YAML, and the first line like a pair. Blank lines are allowed only at the top of the file.
func frontEnd(lines []string, at int) int {
	for i := at + 1; i < len(lines); i++ {
		line := lines[i]
		switch {
		case newSlide().MatchString(line):
			if i > at+1 {
				return i
			}
			return 0
		case line == "" && at > 0, startNote().MatchString(line), i == at+1 && !pair().MatchString(line),
			!pair().MatchString(line) && line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "#"):
			return 0
		}
	}
	return 0
}

func readFront(lines []string, at int) (map[string]any, error) {
	front := map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &front); err != nil {
		return nil, fault.Invalid.Errorf("front matter at line %d: %v", at, err).WithCode(fault.CodeInvalidMarkdown).At(at, 1)
	}
	return front, nil
}

// section writes a slide as HTML.
func (s *slide) section(ctx context.Context, deck map[string]any) (string, error) {
	attributes := map[string]string{}
	// What the deck says is overridden by the slide's front matter, and that by the comments on the slide.
	for _, front := range []map[string]any{deck, s.front} {
		// Two names may say the same: the later one in the alphabet counts, which is the more specific one.
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if v, ok := front[name]; ok {
				attributes[settings[name]] = scalar(v)
			}
		}
	}
	text, notes := s.notes()
	text = bgImage().ReplaceAllStringFunc(text, func(image string) string {
		m := bgImage().FindStringSubmatch(image)
		attributes["data-background-image"] = m[2]
		if strings.Contains(m[1], "contain") || strings.Contains(m[1], "fit") {
			attributes["data-background-size"] = "contain"
		}
		return ""
	})
	text = remark().ReplaceAllStringFunc(text, func(comment string) string {
		body := remark().FindStringSubmatch(comment)[1]
		if m := directive().FindStringSubmatch(strings.TrimSpace(body)); m != nil {
			// Marp's underscore limits a setting to one slide. Here each comment counts for its own slide, with or without it.
			if to, ok := settings[strings.TrimPrefix(m[1], "_")]; ok {
				attributes[to] = strings.Trim(m[2], `"' `)
				return ""
			}
			if known[strings.TrimPrefix(m[1], "_")] {
				return ""
			}
		}
		notes = append(notes, strings.TrimSpace(body))
		return ""
	})
	body, err := render(ctx, text)
	if err != nil {
		return "", err
	}
	var list []string
	for _, name := range []string{"class", "data-background-color", "data-background-image", "data-background-size", "data-transition"} {
		list = append(list, name, attributes[name])
	}
	out := open(list...) + "\n" + body
	if len(notes) > 0 {
		note, err := render(ctx, strings.Join(notes, "\n\n"))
		if err != nil {
			return "", err
		}
		out += `<aside class="notes">` + "\n" + note + "</aside>\n"
	}
	return out + "</section>\n", nil
}

// notes takes the lines from one that begins with "Note:" off the text.
func (s *slide) notes() (text string, notes []string) {
	for i, line := range s.lines {
		if m := startNote().FindStringSubmatch(line); m != nil {
			note := strings.TrimSpace(strings.Join(append([]string{m[1]}, s.lines[i+1:]...), "\n"))
			return strings.Join(s.lines[:i], "\n"), []string{note}
		}
	}
	return strings.Join(s.lines, "\n"), nil
}

func render(ctx context.Context, text string) (string, error) {
	var b bytes.Buffer
	if err := fromMarkdown.Convert(ctx, []byte(text), &b); err != nil {
		return "", err
	}
	return balanced(ctx, b.String()), nil
}

// scalar is a plain value of YAML as text; lists and maps have no place in an attribute.
func scalar(v any) string {
	switch v.(type) {
	case string, int, float64, bool:
		return fmt.Sprint(v)
	}
	return ""
}
