// Package convert converts files to other types: text, Markdown and HTML to HTML, text or PDF; pictures to smaller
// ones or PDF. One table lists the conversions. A conversion runs in this process with bounds on what it reads,
// decodes and writes; who may convert what, and where results are kept, is decided elsewhere.
//
// A conversion decodes what somebody has uploaded, so its cost is bounded before it begins: by the size of the source, and by the number of conversions at the same time. Its result depends on the source
// alone; whether it is stored, and where, is decided by the caller.
package convert

import (
	"context"
	"path"
	"slices"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
)

// Bounds of one conversion.
const (
	// The parsed page and its paragraphs take several times the bytes of the text, so the bound on
	// text is much lower than the one on pixels, which are decoded into one array.
	maxText  = 10 << 20  // bytes of text
	maxBytes = 200 << 20 // that a picture is decoded to: 50 million pixels of four bytes
	maxPages = 2000
	maxSide  = 10_000 // pixels of a picture's side that may be asked for
)

// Converter makes files of one type out of files of others.
type Converter struct {
	Name string
	To   string   // type of the result; "" the source's own
	From []string // types of sources; "text/*" is a group of them

	// run returns the type it made, since for pictureResize that depends on the source. Conversions
	// of text look at s.ctx on the way, since nothing else ends one whose caller has gone; those of
	// pictures do not, and are bounded by the size of the picture alone.
	run func(s *source) (data []byte, typ string, err error)
}

// source is a file being converted.
type source struct {
	ctx  context.Context //nolint:containedctx // of the one conversion
	blob *blob.Blob
	// From the caller, unchecked: each converter parses those that it knows and ignores the others.
	params map[string]string
}

// Types that hold text people can read, office documents that their text can be taken out of, and pictures that can be decoded.
var (
	texts    = []string{"text/*", "application/json", "application/xml", "application/yaml", "application/xhtml+xml", "image/svg+xml"}
	office   = []string{"application/vnd.openxmlformats-officedocument.*", "application/vnd.oasis.opendocument.*"}
	pictures = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp"}
)

// Converters are what there is, in the order in which a type is looked for.
// Find takes the first that fits, so the general converters (any2…) stand before the special ones,
// which are there for clients that name one. The names are those of the platform.
var Converters = []*Converter{
	{Name: "any2html", To: "text/html", From: texts, run: toHTML},
	{Name: "any2text", To: "text/plain", From: slices.Concat(texts, office), run: toText},
	{Name: "any2pdf", To: "application/pdf", From: slices.Concat(texts, pictures), run: toPDF},
	{Name: "html2text", To: "text/plain", From: []string{"text/html", "application/xhtml+xml"}, run: toText},
	{Name: "md2html", To: "text/html", From: []string{"text/markdown", "text/plain"}, run: toHTML},
	{Name: "office2html", To: "text/html", From: texts, run: toHTML},
	{Name: "office2text", To: "text/plain", From: office, run: toText},
	{Name: "pictureConvertToPDF", To: "application/pdf", From: pictures, run: toPDF},
	{Name: "pictureResize", From: pictures, run: resize},
	{Name: "pictureToJPEG", To: "image/jpeg", From: pictures, run: resize},
	{Name: "pictureToPNG", To: "image/png", From: pictures, run: resize},
}

// names are those of the converters.
func names(yield func(string) bool) {
	for _, c := range Converters {
		if !yield(c.Name) {
			return
		}
	}
}

// Named returns the converter of a name.
func Named(name string) (*Converter, error) {
	for _, c := range Converters {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fault.Invalid.Errorf("Converter %s is not registered%s", name, fault.Perhaps(name, names)).WithCode(fault.CodeConverterUnknown)
}

// Find returns a converter from one type to another; nil if there is none.
// pictureResize, which has no type of its own, is therefore only found by its name.
func Find(from, to string) *Converter {
	for _, c := range Converters {
		if c.To == to && c.Takes(from) {
			return c
		}
	}
	return nil
}

// Takes reports whether sources may be of a type.
func (c *Converter) Takes(typ string) bool {
	return slices.ContainsFunc(c.From, func(from string) bool {
		group, wide := strings.CutSuffix(from, "*")
		return from == typ || wide && strings.HasPrefix(typ, group)
	})
}

// busy lets a few conversions run at once; those of pictures, which take much memory, one after the other.
var (
	// These hold for the whole process and all callers. In the worst case four texts and one picture
	// (maxBytes decoded, and a smaller copy of it) are in memory at the same time.
	busy    = make(chan struct{}, 4)
	drawing = make(chan struct{}, 1)
)

// Convert makes the result, called as the source with another extension.
func (c *Converter) Convert(ctx context.Context, b *blob.Blob, params map[string]string) (out *blob.Blob, err error) {
	if !c.Takes(b.Type) {
		return nil, fault.Invalid.Errorf("Converter %s is not available for type %q", c.Name, b.Type).WithCode(fault.CodeConverterUnsupported)
	}
	slots := busy
	if slices.Contains(pictures, b.Type) {
		slots = drawing
	}
	// A call that ends while it waits for a slot gives up its place, so the queue never outlives
	// the requests in it.
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// The decoders of pictures, fonts and PDF read bytes that a stranger chose. A panic in one of
	// them is a fault of this file, not of the server.
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fault.Invalid.Errorf("file %s: cannot be converted by %s: %v", b.Name, c.Name, p)
		}
	}()
	s := &source{ctx: ctx, blob: b, params: params}
	// A converter with a type of its own ignores a "type" that the caller asks for; otherwise
	// pictureToPNG could be made to return a JPEG.
	if c.To != "" {
		s.params = withType(params, c.To)
	}
	data, typ, err := c.run(s)
	if err != nil {
		return nil, fault.Wrap(err, "file %s", b.Name)
	}
	made := blob.FromBytes(renamed(b.Name, typ), typ, data)
	if strings.HasPrefix(typ, "text/") {
		made = made.WithEncoding("UTF-8")
	}
	return made, nil
}

func withType(params map[string]string, typ string) map[string]string {
	out := map[string]string{"type": typ}
	for k, v := range params {
		if k != "type" {
			out[k] = v
		}
	}
	return out
}

// extensions of the types that results have.
var extensions = map[string]string{
	"application/pdf": ".pdf", "image/jpeg": ".jpg", "image/png": ".png", "text/html": ".html", "text/plain": ".txt",
}

// renamed gives a name the extension of a type.
func renamed(name, typ string) string {
	if name == "" {
		name = "file"
	}
	ext := path.Ext(name)
	// The table has one extension for each type; ".jpeg" is as good as ".jpg" and stays.
	if ext == ".jpeg" && typ == "image/jpeg" {
		return name
	}
	return strings.TrimSuffix(name, ext) + extensions[typ]
}

// TypeOf returns the type that a format's short name stands for, as in "pdf"; "" if unknown.
func TypeOf(format string) string {
	typ, _ := blob.TypeOf("", strings.TrimPrefix(strings.ToLower(format), "."), nil)
	if typ == blob.Unknown {
		return ""
	}
	return typ
}
