package rest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
	"unicode/utf8"

	"catena/engine"
	"catena/storage/fault"
)

// ReadBody reads a JSON body, which may not be larger than allowed nor take for ever.
func (x *Request) ReadBody() ([]byte, error) {
	limit := x.Server.Limits.JSON
	// The announced length is compared first, so that a body which is too large is refused before it is sent.
	if x.HTTP.ContentLength > limit {
		return nil, TooLarge("JSON body", limit)
	}
	if x.HTTP.Body == nil || x.HTTP.Body == http.NoBody {
		return nil, nil
	}
	data, err := readAll(x.HTTP.Body, x.HTTP.ContentLength, limit)
	if err == nil {
		x.BodyRead()
	}
	return data, err
}

// expectBody gives a body its time. The deadline stays unless the body is read: net/http
// takes in what is left of one before it answers, and must not wait for ever.
func (x *Request) expectBody() {
	if x.HTTP.Body != nil && x.HTTP.Body != http.NoBody {
		_ = http.NewResponseController(x.Writer).SetReadDeadline(time.Now().Add(x.Server.Limits.Body)) // not every connection has deadlines
	}
}

// BodyRead lifts the deadline, for net/http goes on reading to see whether the client leaves.
func (x *Request) BodyRead() { _ = http.NewResponseController(x.Writer).SetReadDeadline(time.Time{}) }

// timedBody lifts the deadline when the body is at its end, for handlers of others.
type timedBody struct {
	io.ReadCloser
	w http.ResponseWriter
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = http.NewResponseController(b.w).SetReadDeadline(time.Time{})
	}
	return n, err
}

// readAll reads a body of the announced length, or of unknown length, within limit. A small announced length
// is allocated at once; a large one is not believed before it comes, or a thousand clients that announce much
// and send nothing would take all memory.
func readAll(r io.Reader, announced, limit int64) ([]byte, error) {
	if announced >= 0 && announced <= 256<<10 {
		data := make([]byte, announced)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, fault.Invalid.Errorf("body: is incomplete").WithCode(fault.CodeBodyIncomplete)
		}
		return data, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fault.Invalid.Errorf("body: is incomplete").WithCode(fault.CodeBodyIncomplete)
	}
	if int64(len(data)) > limit {
		return nil, TooLarge("JSON body", limit)
	}
	if announced >= 0 && int64(len(data)) != announced {
		return nil, fault.Invalid.Errorf("body: is incomplete").WithCode(fault.CodeBodyIncomplete)
	}
	return data, nil
}

// TooLarge says that something of a request is larger than allowed.
func TooLarge(what string, limit int64) error {
	return fault.Limit.Errorf("%s: more than %d bytes", what, limit).WithCode(fault.CodeBodyTooLarge)
}

// ReadJSON reads a body that must be one JSON object.
func (x *Request) ReadJSON() (json.RawMessage, error) {
	if _, _, err := x.Media(); err != nil {
		return nil, err
	}
	body, err := x.ReadBody()
	if err != nil {
		return nil, err
	}
	return body, CheckJSON(body)
}

// ReadParts reads a multipart body: the first part is JSON when wanted, every further one a
// file that goes to the spool as it comes. Where none is JSON, the fields of a form that have
// no file name come last.
func (x *Request) ReadParts(boundary string, first bool) (head []byte, files []*engine.Blob, err error) {
	if boundary == "" {
		return nil, nil, fault.Invalid.Errorf("body: multipart has no boundary")
	}
	var fields []*engine.Blob
	m := multipart.NewReader(x.Moving(), boundary)
	for n := 0; ; n++ {
		part, err := m.NextRawPart()
		if errors.Is(err, io.EOF) {
			x.BodyRead()
			return head, append(files, fields...), nil
		}
		if err != nil {
			return nil, nil, fault.Invalid.Errorf("body: multipart is malformed or incomplete").WithCode(fault.CodeBodyIncomplete)
		}
		if n > x.Server.Limits.Parts {
			return nil, nil, fault.Limit.Errorf("body: more than %d files", x.Server.Limits.Parts).WithCode(fault.CodeBodyTooLarge)
		}
		if n == 0 && first {
			if head, err = readAll(part, -1, x.Server.Limits.JSON); err != nil {
				return nil, nil, err
			}
			continue
		}
		b, err := x.spool(part)
		if err != nil {
			return nil, nil, err
		}
		if !first && !strings.Contains(part.Header.Get("Content-Disposition"), "filename") {
			// Without a JSON part, the fields of a form may come before or after the file; the files come
			// first for the operation.
			fields = append(fields, b)
			continue
		}
		files = append(files, b)
	}
}

// spool takes one part in as a file.
func (x *Request) spool(part *multipart.Part) (*engine.Blob, error) {
	field, name, err := partName(part.Header)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = field
	}
	return x.SpoolFrom(name, part.Header.Get("Content-Type"), part)
}

// SpoolFrom takes in as a file what r holds.
func (x *Request) SpoolFrom(name, typ string, r io.Reader) (*engine.Blob, error) {
	b, err := x.Engine.Repo().Blobs().Spool(x.HTTP.Context(), name, typ, r, x.BlobLimit())
	if fault.Is(err, fault.Limit) {
		return nil, TooLarge("file", x.BlobLimit())
	}
	return b, err
}

// BlobLimit is the number of bytes that a file may have.
func (x *Request) BlobLimit() int64 { return x.Engine.Repo().Limits().BlobSize }

// slowest is how many bytes a second a sender has to send of a large body, on the whole.
const slowest = 1 << 10

// moving reads a body and moves its deadline with every piece, so that a sender that stops is cut off, and one
// that sends so slowly that it might never end.
type moving struct {
	r     io.Reader
	rc    *http.ResponseController
	stall time.Duration
	began time.Time
	bytes int64
}

// Moving reads the body while it keeps coming.
func (x *Request) Moving() io.Reader {
	return &moving{r: x.HTTP.Body, rc: http.NewResponseController(x.Writer), stall: x.Server.Limits.Stall, began: time.Now()}
}

func (m *moving) Read(b []byte) (int, error) {
	// Besides the pause between two pieces, the whole is bounded: a sender that keeps the minimum rate earns
	// time with what it sends.
	now, earned := time.Now(), time.Duration(m.bytes/slowest)*time.Second
	_ = m.rc.SetReadDeadline(now.Add(min(m.stall, m.began.Add(m.stall+earned).Sub(now)))) // not every connection has deadlines
	n, err := m.r.Read(b)
	m.bytes += int64(n)
	return n, err
}

// partName reads the file name a part of a multipart body gives, which clients send as
// raw UTF-8, in the extended form, percent-encoded or as an encoded word.
func partName(h textproto.MIMEHeader) (field, filename string, err error) {
	raw := h.Get("Content-Disposition")
	_, ps, err := mime.ParseMediaType(raw)
	if err != nil {
		if ps, err = looseParams(raw); err != nil {
			return "", "", fault.Invalid.Errorf("body: a part has a malformed Content-Disposition")
		}
	}
	filename = ps["filename"]
	if decoded, err := new(mime.WordDecoder).DecodeHeader(filename); err == nil {
		filename = decoded
	}
	if !utf8.ValidString(filename) {
		filename = latin1(filename)
	}
	// Some browsers send the whole path of the file on the user's disk.
	if i := strings.LastIndexAny(filename, `/\`); i >= 0 {
		filename = filename[i+1:]
	}
	return ps["name"], filename, nil
}

// looseParams takes a Content-Disposition apart that breaks the rules of media types, for
// example with a file name that is neither quoted nor encoded.
func looseParams(raw string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(raw, ";") {
		if name, value, ok := strings.Cut(part, "="); ok {
			out[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if len(out) == 0 {
		return nil, fault.Invalid.Errorf("no parameters")
	}
	return out, nil
}

func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
