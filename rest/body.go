package rest

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"catena/engine/lines"
	"catena/storage/fault"
)

// Body says what a route reads of a request's body. A body of another type is refused before any of it is
// read, so that nothing is ever taken for what it was not sent as.
type Body uint8

// What is read of a body.
const (
	JSONBody    Body = iota // JSON
	NoBody                  // nothing, whatever comes
	CallBody                // a call of an operation: JSON, JSON in a form, or JSON and files as parts
	FileBody                // the bytes of a file, whose type may be any
	FormBody                // the fields of a form
	LinesBody               // records, as JSON Lines or CSV
	PartsBody               // files as parts
	PatchBody               // JSON, or a patch to merge
	PictureBody             // a picture, or parts with one
	SlidesBody              // JSON, or a text that becomes slides
)

// MIMEForm is the media type of forms.
const MIMEForm = "application/x-www-form-urlencoded"

// Takes reports whether a body of a media type is read.
func (b Body) Takes(typ string) bool {
	k := bodies[b]
	return k.any || k.json && IsJSON(typ) || slices.Contains(k.types, typ) || k.among != nil && k.among(typ)
}

// bodies is the table of what is read of a body.
var bodies = map[Body]struct {
	any   bool
	json  bool
	types []string // other media types
	among func(typ string) bool
}{
	JSONBody:    {json: true},
	NoBody:      {},
	CallBody:    {json: true, types: []string{MIMEForm, "multipart/related", formData, "multipart/mixed"}},
	FileBody:    {any: true},
	FormBody:    {types: []string{MIMEForm}},
	LinesBody:   {among: func(typ string) bool { _, ok := lines.Types[typ]; return ok }},
	PartsBody:   {types: []string{formData, "multipart/related"}},
	PatchBody:   {json: true, types: []string{MIMEPatch}},
	PictureBody: {types: []string{formData}, among: func(typ string) bool { return strings.HasPrefix(typ, "image/") }},
	SlidesBody:  {json: true, among: func(typ string) bool { _, ok := SlideFormats[typ]; return ok }},
}

const formData = "multipart/form-data"

// Media returns the media type of the body, with its parameters, if the route takes that.
func (x *Request) Media() (string, map[string]string, error) {
	typ, ps := MediaType(x.HTTP.Header)
	if !x.Body.Takes(typ) {
		return "", nil, fault.Invalid.Errorf("content type %q is not accepted here", typ).WithCode(fault.CodeUnsupportedMediaType)
	}
	return typ, ps, nil
}

// Bodyless reports whether a request has neither a body nor a word about its type.
func (x *Request) Bodyless() bool {
	return x.HTTP.ContentLength == 0 && len(x.HTTP.Header["Content-Type"]) == 0
}

// MediaType returns the media type of the body without parameters, in lower case; "" if there is none.
func MediaType(h http.Header) (string, map[string]string) {
	v := h["Content-Type"]
	if len(v) == 0 {
		return "", nil
	}
	text := v[0]
	if text == MIMEJSON && len(v) == 1 {
		return MIMEJSON, nil
	}
	if len(v) > 1 { // which is none, for readers would choose
		text = strings.Join(v, ", ")
	}
	typ, ps, err := mime.ParseMediaType(text)
	if err != nil {
		typ, _, _ = strings.Cut(strings.ToLower(text), ";")
		return strings.TrimSpace(typ), nil
	}
	return typ, ps
}

// IsJSON reports whether a media type is one of the spellings of JSON.
func IsJSON(typ string) bool {
	switch typ {
	case MIMEJSON, "application/json+nxrequest", "application/json+platformrequest",
		"application/json+nxentity", "application/json+platformentity":
		return true
	}
	return false
}

// SlideFormats are the media types of texts that become slides, and what they are written in; "" is to be found out.
var SlideFormats = map[string]string{"text/html": "html", "text/markdown": "markdown", "text/plain": ""}

// Media types of the deck service.
const (
	MIMEPatch   = "application/merge-patch+json"
	MIMEProblem = "application/problem+json"
)
