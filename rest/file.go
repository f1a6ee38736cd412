package rest

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// File is a blob on its way out.
type File struct {
	Blob     *engine.Blob
	Inline   bool
	modified time.Time
	Fresh    string // how long it may be kept without asking; "": not at all
}

// writeFile streams a blob: whole or one range, unless the client has it already. Several
// ranges, or one that makes no sense, are as if none was asked for.
func (x *Request) writeFile(a *Answer) {
	b := a.File.Blob
	h := x.Writer.Header()
	tag := `"` + b.Digest + `"`
	h.Set("Etag", tag)
	h.Set("Accept-Ranges", "bytes")
	h["Cache-Control"] = NoCache
	if a.File.Fresh != "" {
		h.Set("Cache-Control", a.File.Fresh)
	}
	if !a.File.modified.IsZero() {
		h.Set("Last-Modified", a.File.modified.UTC().Format(http.TimeFormat))
	}
	if x.unchanged(tag, a.File.modified) {
		x.Status = http.StatusNotModified
		x.Writer.WriteHeader(x.Status)
		return
	}
	r, err := b.Open()
	if err != nil {
		h.Del("Etag")
		x.fail(x.damaged(err))
		return
	}
	defer r.Close()
	if err := wantDigest(x.HTTP.Header.Get("Want-Digest"), b, r, h); err != nil {
		h.Del("Etag")
		x.fail(x.damaged(err))
		return
	}
	x.sendBlob(a, r, tag)
}

// damaged is an error of reading content for the caller, who learns which document it belongs to.
func (x *Request) damaged(err error) error {
	if x.Engine == nil {
		return err
	}
	return x.Engine.Explain(x.HTTP.Context(), x.As, err)
}

// sendBlob writes the head that describes a blob, and as much of its content as is asked for.
func (x *Request) sendBlob(a *Answer, r io.ReadSeeker, tag string) {
	b, h := a.File.Blob, x.Writer.Header()
	start, size, status := int64(0), b.Size, a.Status
	if from, n, ok := byteRange(x.HTTP.Header, tag, a.File.modified, b.Size); ok && status == http.StatusOK {
		start, size, status = from, n, http.StatusPartialContent
	}
	if err := b.Begin(r, start, size); err != nil {
		h.Del("Etag")
		x.fail(x.damaged(err))
		return
	}
	h.Set("Content-Type", contentType(b))
	h.Set("Content-Disposition", Disposition(b.Name, a.File.Inline))
	if b.Type != "application/pdf" { // browsers show no PDF in a sandbox
		h["Content-Security-Policy"] = NoScripts
	}
	if x.Status = status; status == http.StatusPartialContent {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, start+size-1, b.Size))
	}
	body := x.compressedFile(a, r)
	if body != nil {
		size = int64(len(body))
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	x.Writer.WriteHeader(x.Status)
	switch {
	case x.HTTP.Method == http.MethodHead:
		return
	case body != nil:
		_, _ = x.Writer.Write(body)
		return
	}
	if err := b.Send(x.Writer, r, start, size); err != nil {
		x.sentDamaged(err)
		x.Abort() // the length is promised
	}
}

// compressUpTo is the size of a file that is compressed in memory, in bytes.
const compressUpTo = 4 << 20

// compressedFile returns JSON or text that an operation made for a page of ours as a file, such as a vocabulary or the typings, as
// compressed would send it; nil for any other file, which is sent as it is.
func (x *Request) compressedFile(a *Answer, r io.ReadSeeker) []byte {
	b := a.File.Blob
	if x.HTTP.Method != http.MethodPost || x.Status != http.StatusOK || b.Type != "application/json" && b.Type != "text/plain" || b.Size > compressUpTo || !x.compresses(b.Size) {
		return nil
	}
	var text bytes.Buffer
	if err := b.Send(&text, r, 0, b.Size); err != nil {
		return nil // sending it fails in the same way
	}
	body := x.compressed(&Answer{Mime: MIMEJSON, Body: text.Bytes()})
	if len(body) == text.Len() {
		return nil
	}
	x.Writer.Header().Del("Etag") // of the content as it is
	x.Writer.Header().Del("Accept-Ranges")
	return body
}

// sentDamaged logs that damage ended the sending of a blob.
func (x *Request) sentDamaged(err error) {
	if fault.CodeOf(err) == fault.CodeContentDamaged {
		x.Report(http.StatusInternalServerError, "response was interrupted", x.damaged(err))
	}
}

// unchanged reports whether the client's copy is still good.
func (x *Request) unchanged(tag string, modified time.Time) bool {
	if !x.Reads() {
		return false
	}
	if v := x.HTTP.Header.Values("If-None-Match"); len(v) > 0 {
		return matches(v, tag)
	}
	since, err := http.ParseTime(x.HTTP.Header.Get("If-Modified-Since"))
	return err == nil && !modified.IsZero() && !modified.Truncate(time.Second).After(since)
}

// byteRange returns where the one range asked for starts and how long it is.
func byteRange(h http.Header, tag string, modified time.Time, size int64) (start, n int64, ok bool) {
	spec, ok := strings.CutPrefix(h.Get("Range"), "bytes=")
	if !ok || strings.Contains(spec, ",") {
		return 0, 0, false
	}
	if cond := h.Get("If-Range"); cond != "" && cond != tag {
		if t, err := http.ParseTime(cond); err != nil || !modified.Truncate(time.Second).Equal(t) {
			return 0, 0, false
		}
	}
	return span(strings.TrimSpace(spec), size)
}

// span reads a range such as 0-99, 100- or -50 of a file.
func span(spec string, size int64) (start, n int64, ok bool) {
	from, to, ok := strings.Cut(spec, "-")
	if !ok {
		return 0, 0, false
	}
	if from == "" {
		last, err := strconv.ParseInt(to, 10, 64)
		if err != nil || last <= 0 || size == 0 {
			return 0, 0, false
		}
		last = min(last, size)
		return size - last, last, true
	}
	start, err := strconv.ParseInt(from, 10, 64)
	if err != nil || start < 0 || start >= size {
		return 0, 0, false
	}
	end := size - 1
	if to != "" {
		if end, err = strconv.ParseInt(to, 10, 64); err != nil || end < start {
			return 0, 0, false
		}
	}
	return start, min(end, size-1) - start + 1, true
}

// wantDigest adds the digest a client asks for: that of the store, or MD5, for which the
// content is read once more.
func wantDigest(want string, b *engine.Blob, r io.Reader, h http.Header) error {
	want = strings.ToLower(want)
	switch {
	case strings.Contains(want, "sha-256"):
		sum, err := hex.DecodeString(b.Digest)
		h.Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum))
		return err
	case strings.Contains(want, "md5"):
		sum := md5.New() //nolint:gosec // a checksum, no protection
		if _, err := io.Copy(sum, r); err != nil {
			return err
		}
		name, prefix := "Digest", "MD5="
		if strings.Contains(want, "contentmd5") {
			name, prefix = "Content-Md5", ""
		}
		h.Set(name, prefix+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return nil
}

func contentType(b *engine.Blob) string {
	typ := b.Type
	if typ == "" {
		return "application/octet-stream"
	}
	if b.Encoding != "" && !strings.Contains(typ, "charset=") {
		return typ + "; charset=" + b.Encoding
	}
	return typ
}

// Disposition writes a file name as RFC 6266 wants it.
func Disposition(name string, inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	if name == "" {
		return kind
	}
	if token(name) {
		return kind + "; filename=" + name
	}
	return kind + "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(strings.ToValidUTF8(name, "_")), "+", "%20")
}

// token reports whether a name needs neither quotes nor encoding.
func token(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("!#$&+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

// writeFiles sends several blobs as one multipart body; none at all is no content.
func (x *Request) writeFiles(a *Answer) {
	if len(a.files) == 0 {
		_ = x.NoContent()
		return
	}
	m := multipart.NewWriter(x.Writer)
	h := x.Writer.Header()
	h.Set("Content-Type", `multipart/mixed; boundary="`+m.Boundary()+`"`)
	h["Cache-Control"] = NoCache
	x.Status = a.Status
	x.Writer.WriteHeader(a.Status)
	for _, b := range a.files {
		if err := writePart(m, b); err != nil {
			x.Report(http.StatusInternalServerError, "response was interrupted", err)
			x.Abort()
			return
		}
	}
	_ = m.Close()
}

func writePart(m *multipart.Writer, b *engine.Blob) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := m.CreatePart(textproto.MIMEHeader{
		"Content-Type":        {contentType(b)},
		"Content-Disposition": {Disposition(b.Name, false)},
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
