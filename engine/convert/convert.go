// Package convert converts files to other types: text, Markdown and HTML to HTML, text or PDF; pictures to smaller
// ones or PDF; and with programs of others, where they are installed, office documents, PDF files, audio and video. One
// table lists the conversions. A conversion in this process has bounds on what it reads, decodes and writes, and
// engine/program bounds those of others; who may convert what, and where results are kept, is decided elsewhere.
//
// A conversion decodes what somebody has uploaded, so its cost is bounded before it begins: by the size of the source, and by the number of conversions at the same time. Its result depends on the source
// alone; whether it is stored, and where, is decided by the caller.
package convert

import (
	"context"
	"path"
	"slices"
	"strings"

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
	fulltext "catena/storage/text"
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

// Tools are what conversions need of a server. The zero value has those that this program makes by itself.
type Tools struct {
	PDF      *pdf.Tool         // nil: PDF files are read in this process
	Programs *program.Programs // nil: there are none
	Blobs    *blob.Store       // where large results wait; nil: in memory
	Films    Films
}

// Films bounds which films are kept in the formats of browsers, beside their own. The zero value is all of them, in all formats.
type Films struct {
	Formats []string // such as mp4; nil: all
	Largest int64    // bytes; 0: any size
}

// Converter makes files of one type out of files of others.
type Converter struct {
	Name    string
	Aliases []string // other names
	To      string   // type of the result; "" the source's own
	Ways    []Way    // the first that takes the source, and whose program is there, is gone
}

// Way is one of the ways in which a converter works.
type Way struct {
	From []string      // types of sources; "text/*" is a group of them
	By   *program.Kind // program that does it; nil: this one

	// run returns the type it made, since for pictureResize that depends on the source. Conversions look at s.ctx
	// on the way, since nothing else ends one whose caller has gone.
	run func(s *source) (data []byte, typ string, err error)
	// file is in place of run where results are too large for memory.
	file func(s *source) (*blob.Blob, error)
}

// source is a file being converted.
type source struct {
	ctx   context.Context //nolint:containedctx // of the one conversion
	blob  *blob.Blob
	tools Tools
	// From the caller, unchecked: each converter parses those that it knows and ignores the others.
	params map[string]string
}

// names are those of the converters.
func names(yield func(string) bool) {
	for _, c := range Converters {
		for _, name := range append(c.Aliases, c.Name) {
			if !yield(name) {
				return
			}
		}
	}
}

// Named returns the converter of a name.
func Named(name string) (*Converter, error) {
	for _, c := range Converters {
		if c.Name == name || slices.Contains(c.Aliases, name) {
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
	return slices.ContainsFunc(c.Ways, func(w Way) bool { return w.takes(typ) })
}

func (w Way) takes(typ string) bool {
	return slices.ContainsFunc(w.From, func(from string) bool {
		group, wide := strings.CutSuffix(from, "*")
		return from == typ || wide && strings.HasPrefix(typ, group)
	})
}

// Missing returns why files of a type cannot be converted although the converter takes them: the program for it is not
// there. Nil if they can.
func (c *Converter) Missing(t Tools, typ string) error {
	_, err := c.way(t, typ)
	return err
}

// way chooses how files of a type are converted: without a program that is missing if that is possible.
func (c *Converter) way(t Tools, typ string) (w Way, err error) {
	err = fault.Invalid.Errorf("Converter %s is not available for type %q", c.Name, typ).WithCode(fault.CodeConverterUnsupported)
	for _, w := range c.Ways {
		switch {
		case !w.takes(typ):
		case w.By == nil:
			return w, nil
		default:
			missing := t.Programs.Missing(w.By)
			if missing == nil {
				return w, nil
			}
			if fault.Is(err, fault.Invalid) {
				err = fault.Wrap(missing, "converter %s", c.Name)
			}
		}
	}
	return w, err
}

// busy lets a few conversions run at once; those of pictures, which take much memory, one after the other.
var (
	// These hold for the whole process and all callers. In the worst case four texts and one picture
	// (maxBytes decoded, and a smaller copy of it) are in memory at the same time.
	busy    = make(chan struct{}, 4)
	drawing = make(chan struct{}, 1)
)

// Convert makes the result, called as the source with another extension.
func (c *Converter) Convert(ctx context.Context, t Tools, b *blob.Blob, params map[string]string) (out *blob.Blob, err error) {
	w, err := c.way(t, b.Type)
	if err != nil {
		return nil, err
	}
	leave, err := enter(ctx, w, b)
	if err != nil {
		return nil, err
	}
	defer leave()
	defer func() {
		if fault.Is(err, fault.Invalid) && encrypted(b) {
			err = fault.Invalid.Errorf("file %s: is encrypted; save it without a password to have it converted", b.Name)
		}
	}()
	// The decoders of pictures, fonts and PDF read bytes that a stranger chose. A panic in one of
	// them is a fault of this file, not of the server.
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fault.Invalid.Errorf("file %s: cannot be converted by %s: %v", b.Name, c.Name, p)
		}
	}()
	s := &source{ctx: ctx, blob: b, tools: t, params: params}
	// A converter with a type of its own ignores a "type" that the caller asks for; otherwise
	// pictureToPNG could be made to return a JPEG.
	if c.To != "" {
		s.params = withType(params, c.To)
	}
	if w.file != nil {
		return w.file(s)
	}
	data, typ, err := w.run(s)
	switch {
	case err != nil && (w.By != nil || strings.HasPrefix(err.Error(), "file "+b.Name+":")):
		return nil, err // it names the file
	case err != nil:
		return nil, fault.Wrap(err, "file %s", b.Name)
	}
	made := blob.FromBytes(renamed(b.Name, typ), typ, data)
	if strings.HasPrefix(typ, "text/") {
		made = made.WithEncoding("UTF-8")
	}
	return made, nil
}

// enter waits for a place among the conversions in this process. Those of programs have places of their own.
func enter(ctx context.Context, w Way, b *blob.Blob) (leave func(), err error) {
	slots := busy
	switch {
	case w.By != nil:
		return func() {}, nil
	case slices.Contains(pictures, b.Type):
		slots = drawing
	}
	// A call that ends while it waits for a slot gives up its place, so the queue never outlives
	// the requests in it.
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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

// extensions of the types that results and sources have.
var extensions = map[string]string{
	"application/msword":                  ".doc",
	"application/pdf":                     ".pdf",
	"application/rtf":                     ".rtf",
	"application/vnd.ms-excel":            ".xls",
	"application/vnd.ms-powerpoint":       ".ppt",
	odf + "graphics":                      ".odg",
	odf + "presentation":                  ".odp",
	odf + "presentation-template":         ".otp",
	odf + "spreadsheet":                   ".ods",
	odf + "spreadsheet-template":          ".ots",
	odf + "text":                          ".odt",
	odf + "text-template":                 ".ott",
	ooxml + "presentationml.presentation": ".pptx",
	ooxml + "presentationml.slideshow":    ".ppsx",
	ooxml + "presentationml.template":     ".potx",
	ooxml + "spreadsheetml.sheet":         ".xlsx",
	ooxml + "spreadsheetml.template":      ".xltx",
	ooxml + "wordprocessingml.document":   ".docx",
	ooxml + "wordprocessingml.template":   ".dotx",
	"application/vnd.sun.xml.calc":        ".sxc",
	"application/vnd.sun.xml.draw":        ".sxd",
	"application/vnd.sun.xml.impress":     ".sxi",
	"application/vnd.sun.xml.writer":      ".sxw",
	"audio/mpeg":                          ".mp3", "audio/ogg": ".ogg",
	"image/jpeg": ".jpg", "image/png": ".png",
	"text/html": ".html", "text/plain": ".txt", "text/rtf": ".rtf",
	"video/mp4": ".mp4", "video/ogg": ".ogv", "video/webm": ".webm",
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

// encrypted reports whether a file could not be read because it is an office document with a password.
func encrypted(b *blob.Blob) bool {
	r, err := b.Open()
	if err != nil {
		return false
	}
	defer r.Close()
	return fulltext.Encrypted(r, b.Size)
}
