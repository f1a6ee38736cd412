package rest

import (
	"mime"
	"net/http"
	"strings"

	"catena/storage/fault"
)

// body says what a route reads of a request's body. A body of another type is refused before any of it is
// read, so that nothing is ever taken for what it was not sent as.
type body uint8

const (
	jsonBody    body = iota // JSON
	noBody                  // nothing, whatever comes
	callBody                // a call of an operation: JSON, JSON in a form, or JSON and files as parts
	fileBody                // the bytes of a file, whose type may be any
	formBody                // the fields of a form
	partsBody               // files as parts
	patchBody               // JSON, or a patch to merge
	pictureBody             // a picture, or parts with one
	slidesBody              // JSON, or a text that becomes slides
)

const mimeForm = "application/x-www-form-urlencoded"

// takes reports whether a body of a media type is read.
func (b body) takes(typ string) bool {
	switch b {
	case jsonBody:
		return isJSON(typ)
	case callBody:
		return isJSON(typ) || typ == mimeForm || typ == "multipart/related" || typ == "multipart/form-data" || typ == "multipart/mixed"
	case fileBody:
		return true
	case formBody:
		return typ == mimeForm
	case partsBody:
		return typ == "multipart/form-data" || typ == "multipart/related"
	case patchBody:
		return isJSON(typ) || typ == mimePatch
	case pictureBody:
		return strings.HasPrefix(typ, "image/") || typ == "multipart/form-data"
	case slidesBody:
		_, text := slideFormats[typ]
		return text || isJSON(typ)
	}
	return false
}

// media returns the media type of the body, with its parameters, if the route takes that.
func (x *exchange) media() (string, map[string]string, error) {
	typ, ps := mediaType(x.r.Header)
	if !x.body.takes(typ) {
		return "", nil, fault.Invalid.Errorf("content type %q is not accepted here", typ).WithCode(fault.CodeUnsupportedMediaType)
	}
	return typ, ps, nil
}

// bodyless reports whether a request has neither a body nor a word about its type.
func (x *exchange) bodyless() bool {
	return x.r.ContentLength == 0 && len(x.r.Header["Content-Type"]) == 0
}

// mediaType returns the media type of the body without parameters, in lower case; "" if there is none.
func mediaType(h http.Header) (string, map[string]string) {
	v := h["Content-Type"]
	if len(v) == 0 {
		return "", nil
	}
	text := v[0]
	if text == mimeJSON && len(v) == 1 {
		return mimeJSON, nil
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

// isJSON reports whether a media type is one of the spellings of JSON.
func isJSON(typ string) bool {
	switch typ {
	case mimeJSON, "application/json+nxrequest", "application/json+platformrequest",
		"application/json+nxentity", "application/json+platformentity":
		return true
	}
	return false
}
