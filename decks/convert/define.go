package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"catena/decks/field"
	"catena/storage/fault"
)

// definition is a presentation defined in JSON: slides as Markdown, HTML or blocks.
// The names of members are matched without regard to case.
type definition struct {
	Title, Description string
	Width, Height      int64
	CSS                string
	Slides             []json.RawMessage
}

// defined is one slide.
// Its parts appear in the order Markdown, HTML, blocks, notes, whatever their order in the source.
type defined struct {
	ID, Class, Markdown, HTML, Notes string
	BackgroundColor                  string `json:"background-color"`
	BackgroundImage                  string `json:"background-image"`
	BackgroundSize                   string `json:"background-size"`
	BackgroundVideo                  string `json:"background-video"`
	AutoAnimate                      bool   `json:"auto-animate"`
	Blocks                           []block
}

// block is one thing on a slide, at a place of its own.
type block struct {
	Type, Value, Format    string
	Align, Class, Language string
	// Numbers are pixels; strings are pixels or percent. Anything else is left out.
	X, Y, Width, Height any
	Data                [][]any
	AnimationType       string `json:"animation-type"`
	FragmentIndex       *int64 `json:"fragment-index"`
}

func readDefine(ctx context.Context, src string) (*Deck, error) {
	var def definition
	if err := json.Unmarshal([]byte(src), &def); err != nil {
		return nil, fault.Invalid.Errorf("definition: %v", err).WithCode(fault.CodeInvalidDefinition)
	}
	d := &Deck{Title: def.Title, Description: def.Description, Width: def.Width, Height: def.Height, CSS: def.CSS}
	if err := d.defineOptions([]byte(src)); err != nil {
		return nil, err
	}
	var out strings.Builder
	for i, raw := range def.Slides {
		if err := defineSlide(ctx, &out, raw, true); err != nil {
			return nil, fault.Wrap(err, "slides/%d", i)
		}
	}
	d.HTML = strings.TrimSpace(out.String())
	if d.HTML == "" {
		return nil, fault.Invalid.Errorf("definition: slides are missing").In("slides").WithCode(fault.CodeInvalidDefinition)
	}
	return d, nil
}

// defineOptions reads how the deck looks: members named like its fields, with hyphens.
func (d *Deck) defineOptions(src []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil {
		return fault.Invalid.Errorf("definition: %v", err).WithCode(fault.CodeInvalidDefinition)
	}
	// In order: of two spellings of a name the same one always counts.
	for _, name := range slices.Sorted(maps.Keys(members)) {
		raw := members[name]
		f := field.Fields.Find(strings.ReplaceAll(strings.ToLower(name), "-", "_"))
		if f == nil || f.Write != field.Appearance || string(raw) == "null" {
			continue
		}
		value, err := optionOf(f.Type, raw)
		if err != nil {
			return fault.Invalid.Errorf("definition: %s: %v", name, err).WithCode(fault.CodeInvalidDefinition)
		}
		d.set(f.Name, value)
	}
	return nil
}

func optionOf(t field.Type, raw json.RawMessage) (value any, err error) {
	switch t {
	case field.Boolean:
		var b bool
		err = json.Unmarshal(raw, &b)
		value = b
	case field.Number:
		var n float64
		err = json.Unmarshal(raw, &n)
		value = n
	case field.Text, field.Integer, field.Object, field.Address, field.Moment: // options of reveal.js are nothing but text then
		var s string
		err = json.Unmarshal(raw, &s)
		value = s
	}
	return value, err
}

// defineSlide writes a slide, or the stack that a list of slides is.
func defineSlide(ctx context.Context, out *strings.Builder, raw json.RawMessage, top bool) error {
	// Stacks have one level, as in the framework: within one, a list is not a slide and fails below.
	var stack []json.RawMessage
	if top && json.Unmarshal(raw, &stack) == nil {
		out.WriteString("<section>\n")
		for _, below := range stack {
			if err := defineSlide(ctx, out, below, false); err != nil {
				return err
			}
		}
		out.WriteString("</section>\n")
		return nil
	}
	var s defined
	if err := json.Unmarshal(raw, &s); err != nil {
		return fault.Invalid.Errorf("slide: %v", err).WithCode(fault.CodeInvalidDefinition)
	}
	head := open("data-id", s.ID, "class", s.Class, "data-background-color", s.BackgroundColor, "data-background-image", s.BackgroundImage,
		"data-background-size", s.BackgroundSize, "data-background-video", s.BackgroundVideo)
	if s.AutoAnimate {
		head = strings.TrimSuffix(head, ">") + " data-auto-animate>"
	}
	out.WriteString(head + "\n")
	if s.Markdown != "" {
		text, err := render(ctx, s.Markdown)
		if err != nil {
			return err
		}
		out.WriteString(text)
	}
	out.WriteString(balanced(ctx, s.HTML))
	for i := range s.Blocks {
		text, err := s.Blocks[i].html(ctx)
		if err != nil {
			return fault.Wrap(err, "blocks/%d", i)
		}
		out.WriteString(text + "\n")
	}
	if s.Notes != "" {
		out.WriteString(`<aside class="notes">` + strings.ReplaceAll(html.EscapeString(s.Notes), "\n", "<br>") + "</aside>\n")
	}
	out.WriteString("</section>\n")
	return nil
}

// html writes a block at its place.
func (b *block) html(ctx context.Context) (string, error) {
	inner, err := b.content(ctx)
	if err != nil {
		return "", err
	}
	style := ""
	for _, p := range []struct {
		name string
		v    any
	}{{"left", b.X}, {"top", b.Y}, {"width", b.Width}, {"height", b.Height}} {
		if text := length(p.v); text != "" {
			style += p.name + ": " + text + "; "
		}
	}
	class, index := "sl-block", ""
	if b.Class != "" {
		class += " " + b.Class
	}
	if b.FragmentIndex != nil || b.AnimationType != "" {
		class += " fragment"
		if b.AnimationType != "" {
			class += " " + b.AnimationType
		}
		if b.FragmentIndex != nil {
			index = fmt.Sprint(*b.FragmentIndex)
		}
	}
	return tag("div", "class", class, "data-block-type", b.Type, "data-fragment-index", index, "style", strings.TrimSpace("position: absolute; "+style)) + inner + "</div>", nil
}

// length is a measure in pixels or percent.
func length(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) + "px"
	case string:
		// Only these characters can be in a measure, so a value cannot add declarations to the style attribute.
		if strings.Trim(v, "0123456789.-px%") == "" {
			return v
		}
	}
	return ""
}

func (b *block) content(ctx context.Context) (string, error) {
	style := ""
	// Other values are dropped for the same reason as in length: they would be written into a style attribute.
	if b.Align == "left" || b.Align == "center" || b.Align == "right" {
		style = "text-align: " + b.Align + ";"
	}
	content := tag("div", "class", "sl-block-content", "style", style)
	switch b.Type {
	case "text", "html", "":
		text := balanced(ctx, b.Value)
		if b.Format == "markdown" {
			var err error
			if text, err = render(ctx, b.Value); err != nil {
				return "", err
			}
		}
		return content + text + "</div>", nil
	case "image":
		return content + tag("img", "src", b.Value, "style", "width: 100%; height: 100%; object-fit: contain;") + "</div>", nil
	case "video":
		return content + tag("video", "src", b.Value, "controls", "controls", "style", "width: 100%; height: 100%;") + "</video></div>", nil
	case "iframe":
		return content + tag("iframe", "src", b.Value, "style", "width: 100%; height: 100%;") + "</iframe></div>", nil
	case "code":
		return content + "<pre>" + tag("code", "class", strings.TrimSpace("language-"+b.Language)) + html.EscapeString(b.Value) + "</code></pre></div>", nil
	case "math":
		// The delimiters by which decks mark displayed formulas.
		return content + `\[` + html.EscapeString(b.Value) + `\]</div>`, nil
	case "table":
		return content + table(b.Data) + "</div>", nil
	}
	return "", fault.Invalid.Errorf("block: type %.40q is not one of code, html, iframe, image, math, table, text, video", b.Type).WithCode(fault.CodeInvalidDefinition)
}

func table(rows [][]any) string {
	var out strings.Builder
	out.WriteString("<table><tbody>")
	for _, row := range rows {
		out.WriteString("<tr>")
		for _, cell := range row {
			out.WriteString("<td>" + html.EscapeString(cellText(cell)) + "</td>")
		}
		out.WriteString("</tr>")
	}
	return out.String() + "</tbody></table>"
}

// cellText is a cell as it is read: numbers as they are written, nothing for null.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
