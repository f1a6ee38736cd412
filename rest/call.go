package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// Reply is how the answer to a call is made. Two kinds of addresses share it. Those of the platform write
// entities and honour the platform's headers; those with an Encode function, such as the deck service, write
// their own format.
type Reply struct {
	Status  int    // of an answer that has a body
	empty   int    // status of one that has none; 0: 204
	Body    []byte // of the request, for the fingerprint
	Files   []*engine.Blob
	Options *entity.Options
	Tagged  bool   // documents get an entity tag
	Inline  bool   // files are shown, not saved
	Bare    bool   // maps and lists are written as they are, not as entities
	base    string // what a relative address in a result is below; "" leaves it relative

	Choose func(v any) int   // the status, where the result decides it
	Then   func()            // called between the call and its answer
	Sent   func(name string) // called once a file of this name went out, or began to

	Encode func(dst []byte, v any) (Encoded, error) // writes the result; nil: as an entity, and the platform's headers count

	run func(call engine.Call) (*engine.Result, error) // carries the call out; nil: the engine, by its operation

	Modified *time.Time // of a file; set while the call runs
}

// Encoded is a result as it goes out.
type Encoded struct {
	Body     []byte              // appended to what was given
	Tag      string              // entity tag, with its quotes
	Location string              // of what was made, below the address of the server
	Tell     func(h http.Header) // adds what else the answer says, unless that is of an earlier request or a dry run
}

// Run carries out a call for the signed-in user and answers with what it returns.
func (x *Request) Run(call engine.Call, re Reply) error {
	call.Expect = cmp.Or(call.Expect, x.Expect)
	e := &x.encoding
	if x.held != nil {
		e = new(encoder)
	}
	x.complete(e, &call, re)
	// A request of a batch stops here: the batch carries the calls of all its requests out in one
	// transaction.
	if x.held != nil {
		*x.held = append(*x.held, held{call, e})
		return nil
	}
	// The buffer of the request before this one. An answer that is stored for an idempotency key gets its own
	// memory instead (append).
	e.buf = x.buf
	if re.Encode != nil && call.IdempotencyKey != "" { // also when it fails
		x.Writer.Header().Set("Idempotency-Key", call.IdempotencyKey)
	}
	res, err := x.carryOut(call, re)
	if err != nil {
		return err
	}
	if re.Then != nil {
		re.Then()
	}
	a, err := e.answer(res)
	if err != nil {
		return err
	}
	if call.IdempotencyKey == "" && a.Body != nil {
		x.buf = a.Body[:0]
	}
	x.led(e, a)
	if a.Location != "" && re.Encode != nil {
		a.Location = x.Host() + a.Location
	}
	x.report(&call, res, e.out.Tell)
	x.Write(a)
	if re.Sent != nil && a.File != nil {
		// A download is noted when it begins: whether a client keeps what it receives cannot be known.
		re.Sent(a.File.Blob.Name) // also when the client has left
	}
	return nil
}

// report sets the headers that say how a call was run, and those that tell adds unless the result is that of an earlier
// request or of a dry run.
func (x *Request) report(call *engine.Call, res *engine.Result, tell func(h http.Header)) {
	h := x.Writer.Header()
	if call.IdempotencyKey != "" {
		h.Set("Idempotency-Key", call.IdempotencyKey)
		if res.Replayed {
			h.Set("Idempotency-Replayed", "true")
		}
	}
	if call.Trace && res.Trace != nil {
		h.Set("Catena-Trace", res.Trace.ID)
	}
	if res.Age > 0 {
		h.Set("Age", strconv.Itoa(int(math.Ceil(res.Age.Seconds()))))
	}
	if tell != nil && !res.Replayed && !call.DryRun {
		tell(h)
	}
	if x.Invoked != "" && len(res.Ignored) > 0 {
		h.Set(ignoredHeader, escapedList(res.Ignored))
	}
}

// ignoredHeader names the parameters that were given and that the operation called does not
// have or does not use: clients send such, people misspell.
const ignoredHeader = "Catena-Ignored"

// escapedList joins names by commas, percent-encoded.
func escapedList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = url.QueryEscape(name)
	}
	return strings.Join(list, ",")
}

// Value runs an operation for the caller, unless the call names somebody, and returns its result.
func (x *Request) Value(call engine.Call) (any, error) {
	return x.ValueIn(x.HTTP.Context(), call)
}

// ValueIn is Value in a context that is made of that of the request.
func (x *Request) ValueIn(ctx context.Context, call engine.Call) (any, error) {
	x.introduce(&call)
	res, err := x.Engine.Run(ctx, call)
	if err != nil {
		return nil, err
	}
	return res.Value, nil
}

// complete completes a call with what the request says about it, and has e encode its result.
func (x *Request) complete(e *encoder, call *engine.Call, re Reply) {
	x.introduce(call)
	call.DryRun = x.Flag("dryRun")
	x.keyed(call, &re)
	if re.Encode == nil {
		call.Trace = x.Flag("trace")
		// The platform's headers do not count for the deck service, whose specification does not have them.
		call.Timeout = transactionTimeout(x.HTTP.Header)
		call.KeepUploads = x.KeepsUploads()
	}
	*e = encoder{re: re, keep: call.IdempotencyKey != "", limit: int64(x.Engine.Limits().Replies), dry: call.DryRun}
	if re.Encode == nil {
		e.void = Header(x.HTTP.Header, "X-Nxvoidoperation", "X-Platform-Voidoperation") == "true"
		if re.Options == nil {
			e.options = x.readOptions()
			e.re.Options = &e.options
		}
	}
	call.Encode = e.encode
}

// maxDevice is the longest name of a computer that is believed, in bytes.
const maxDevice = 200

// introduce says in a call for whom it is and where it comes from.
func (x *Request) introduce(call *engine.Call) {
	if call.As == nil {
		call.As = x.As
	}
	// A name that is too long is ignored rather than refused: it only serves to show where a document was
	// changed.
	if call.EntryPoint == 0 {
		call.EntryPoint = x.EntryPoint()
	}
	call.RequestID, call.Remote, call.MaxStale = x.ID, x.client(), maxStale(x.HTTP.Header)
	if device := x.HTTP.Header.Get("X-Device-Id"); len(device) <= maxDevice {
		call.Device = device
	}
}

// KeepsUploads reports whether the client will use what it uploaded once more.
func (x *Request) KeepsUploads() bool { return x.HTTP.Header.Get("X-Batch-No-Drop") == "true" }

// EntryPoint is where calls come from: a handler with a principal of its own is the command line's.
func (x *Request) EntryPoint() engine.EntryPoint {
	if x.Server.As != nil {
		return engine.CLI
	}
	return engine.REST
}

// transactionTimeout reads the seconds a client gives the transaction; 0 if none.
func transactionTimeout(h http.Header) time.Duration {
	text := Header(h, "Nuxeo-Transaction-Timeout", "X-Platform-Transaction-Timeout")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	// The platform ignores a value that is not a positive number, and clients send such values.
	if err != nil || n <= 0 {
		return 0
	}
	// A day is far above every limit that the engine permits, and keeps the product from overflowing.
	return time.Second * time.Duration(min(n, 86_400))
}

// traceID is that of the request: of its traceparent header, or one of its own while traces are sent; otherwise "".
func (x *Request) traceID() string { return engine.TraceID(x.HTTP.Context()) }

// keyed gives the call the idempotency key of a POST. It counts for one address of one
// repository, however that is spelled.
func (x *Request) keyed(call *engine.Call, re *Reply) {
	// Only POST needs a key: the other methods may be repeated by definition. Several keys in one request are
	// a mistake of a proxy, and no key is better than the wrong one.
	key := x.HTTP.Header["Idempotency-Key"]
	if len(key) != 1 || key[0] == "" || x.HTTP.Method != http.MethodPost || call.DryRun {
		return
	}
	call.IdempotencyKey, call.Fingerprint = key[0], x.fingerprint(re)
	call.KeyScope = x.HTTP.Method + " " + x.Repo + " " + strings.TrimRight(Locate(x.Server.ContextPath, x.HTTP.URL.EscapedPath()).Path, "/")
}

// fingerprint tells requests with one idempotency key at one address apart by their content.
func (x *Request) fingerprint(re *Reply) string {
	h := sha256.New()
	h.Write([]byte(x.HTTP.URL.RawQuery + "\n"))
	h.Write(re.Body)
	// The digest stands for the content: files are not read again.
	for _, b := range re.Files {
		h.Write([]byte("\n" + b.Digest + " " + b.Name))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// encoder turns the result of a call into the bytes of its answer, inside the transaction. After a lost race
// it runs again, so everything it sets is set again each time.
type encoder struct {
	re    Reply
	keep  bool  // the bytes are kept for an idempotency key
	limit int64 // of what is kept
	dry   bool
	void  bool
	buf   []byte
	out   Encoded
	a     Answer

	options                entity.Options // if the reply has none
	conversation, download string         // the UI session that the call worked in, and again if it left a file there
}

// kept is the first line of an answer kept for an idempotency key; its body follows.
type kept struct {
	Status int    `json:"status"`
	Mime   string `json:"mime,omitempty"`
	Name   string `json:"name,omitempty"` // of a file
	Lost   bool   `json:"lost,omitempty"` // too large, or several files

	Tag      string `json:"tag,omitempty"`
	Location string `json:"location,omitempty"`
}

func (e *encoder) encode(c *engine.Ctx, v any) ([]byte, error) {
	e.conversed(c, v)
	// The client does not want the result, only the effect; a dry run exists for its result.
	if e.void && !e.dry {
		v = nil
	}
	body, err := e.append(c, v)
	if err != nil || !e.keep {
		return body, err
	}
	k := kept{Status: e.status(v), Mime: MIMEJSON}
	if e.re.Encode != nil {
		k.Tag, k.Location = e.out.Tag, e.out.Location
		return keep(&k, body)
	}
	switch v := v.(type) {
	case nil:
		k = kept{Status: http.StatusNoContent}
	case *engine.Blob:
		k.Mime, k.Name = contentType(v), v.Name
		if body, err = v.Bytes(e.limit); err != nil {
			k.Lost, body = true, nil
		}
	// Several files are sent as parts whose boundary is made while they are sent, so there are no bytes to
	// store.
	case engine.Blobs:
		k.Lost = true
	}
	return keep(&k, body)
}

// keep puts the first line before an answer.
func keep(k *kept, body []byte) ([]byte, error) {
	line, err := json.Marshal(k)
	return append(append(line, '\n'), body...), err
}

// status is that of an answer with this result.
func (e *encoder) status(v any) int {
	if e.re.Choose != nil {
		return e.re.Choose(v)
	}
	return e.re.Status
}

// append writes an entity. Files are not written here: they are sent after the transaction.
func (e *encoder) append(c *engine.Ctx, v any) ([]byte, error) {
	e.out = Encoded{}
	dst := e.buf[:0]
	if e.keep {
		dst = nil // what is kept must not be written over
	}
	if e.re.Encode != nil {
		var err error
		e.out, err = e.re.Encode(dst, v)
		return e.out.Body, err
	}
	switch v.(type) {
	case nil:
		return nil, nil
	// A dry run has no committed file to send; it shows the description of the file instead.
	case *engine.Blob, engine.Blobs:
		if !e.dry {
			return nil, nil
		}
	}
	if e.re.base != "" {
		v = absolute(v, e.re.base)
	}
	v, write := e.form(v)
	body, err := write(dst, c, v, e.re.Options)
	if err != nil {
		return nil, err
	}
	if d, ok := v.(interface{ ChangeToken() string }); ok && e.re.Tagged {
		e.out.Tag = entityTag(d.ChangeToken(), body)
	}
	return body, nil
}

// entityTag is the tag of a document as it is shown. It has two parts: the change token, which If-Match
// compares, and a sum of the body, since the same version looks different with other properties, enrichers or
// languages, and a cache must not mix these up.
func entityTag(token string, body []byte) string {
	return `"` + token + "." + Sum(body) + `"`
}

// Sum is a sum of a body, for its entity tag.
func Sum(body []byte) string { return strconv.FormatUint(uint64(crc32.Checksum(body, castagnoli)), 36) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// answer makes the answer of a finished call.
func (e *encoder) answer(res *engine.Result) (*Answer, error) {
	// A repeated answer is written as it was then, whatever the request asks for now: its fingerprint says it
	// is the same.
	switch {
	case res.Replayed && res.Void:
		return &Answer{Status: http.StatusNoContent}, nil
	case res.Replayed:
		return e.replayed(res.Body)
	}
	body := res.Body
	if e.keep {
		// The first line is for the store (kept); the client gets what follows.
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			body = body[i+1:]
		}
	}
	if e.dry {
		return dryAnswer(res)
	}
	a := &e.a
	*a = Answer{Status: e.status(res.Value), Mime: MIMEJSON, Body: body, Etag: e.out.Tag, Location: e.out.Location}
	void := e.void || res.Void
	if !void && e.files(a, res.Value) {
		return a, nil
	}
	if void || len(a.Body) == 0 || a.Status == http.StatusNoContent {
		return &Answer{Status: cmp.Or(e.re.empty, http.StatusNoContent)}, nil
	}
	return a, nil
}

// files makes the files that a call returns the content of its answer, if it does.
func (e *encoder) files(a *Answer, v any) bool {
	switch v := v.(type) {
	case *engine.Blob:
		if v == nil {
			return false
		}
		a.Body, a.File = nil, &File{Blob: v, Inline: e.re.Inline}
		if e.re.Modified != nil {
			a.File.modified = *e.re.Modified
		}
	case engine.Blobs:
		a.Body, a.files = nil, v
		if len(v) == 0 {
			a.files, a.Status = nil, http.StatusNoContent
		}
	default:
		return false
	}
	return true
}

// replayed makes the answer that an earlier request with the same key got.
func (e *encoder) replayed(stored []byte) (*Answer, error) {
	var k kept
	i := bytes.IndexByte(stored, '\n')
	if i < 0 || json.Unmarshal(stored[:i], &k) != nil {
		return nil, fault.Internal.Errorf("idempotency: the stored response is damaged")
	}
	if k.Lost {
		return nil, fault.Conflict.Errorf("idempotency: the request was executed, but its response was too large to store").
			WithCode(fault.CodeIdempotencyAnswerLost)
	}
	if k.Name != "" || k.Mime != MIMEJSON && k.Mime != "" {
		return &Answer{Status: k.Status, File: &File{Blob: engine.NewBlob(k.Name, k.Mime, stored[i+1:])}}, nil
	}
	a := &Answer{Status: cmp.Or(k.Status, e.re.Status), Mime: cmp.Or(k.Mime, MIMEJSON), Body: stored[i+1:], Etag: k.Tag, Location: k.Location}
	if a.Status == http.StatusNoContent {
		a.Body = nil
	}
	return a, nil
}

// dryAnswer shows what a call would have returned and changed.
func dryAnswer(res *engine.Result) (*Answer, error) {
	value := json.RawMessage("null")
	if len(res.Body) > 0 && !res.Void {
		value = res.Body
	}
	body, err := json.Marshal(struct {
		EntityType string          `json:"entity-type"`
		Value      json.RawMessage `json:"value"`
		Changes    any             `json:"changes"`
		Trace      *engine.Trace   `json:"trace,omitempty"`
	}{"dryRun", value, res.Changes, res.Trace})
	return &Answer{Status: http.StatusOK, Mime: MIMEJSON, Body: body}, err
}

// Begun is the status of a result that says what was begun, and tells where to ask for it: below base, by a member
// of the result.
func (x *Request) Begun(member, base string) func(any) int {
	return func(v any) int {
		m, _ := v.(map[string]any)
		if at, ok := m[member].(string); ok {
			x.Writer.Header().Set("Location", base+at)
		}
		return http.StatusAccepted
	}
}

// conversationHeader names the UI session that a call worked in.
const conversationHeader = "Catena-Conversation"

// conversed notes the UI session that a call worked in, and whether it left a file there to be downloaded.
func (e *encoder) conversed(c *engine.Ctx, v any) {
	e.conversation, _ = c.Vars["conversationId"].(string)
	e.download = ""
	if v == nil {
		e.download, _ = c.Vars["Seam.DownloadFile"].(string)
	}
}

// led describes the UI session that a call worked in, and leads to the file that is to be downloaded.
func (x *Request) led(e *encoder, a *Answer) {
	if e.conversation != "" {
		x.Writer.Header().Set(conversationHeader, url.QueryEscape(e.conversation))
	}
	if e.download != "" && a.Status == http.StatusNoContent {
		a.Status, a.Location = http.StatusSeeOther, x.Base()+"/api/v1/uisession/"+url.PathEscape(e.download)+"/file"
	}
}

// DeckValue runs an operation on decks, which all are in the first repository, and returns its result.
func (x *Request) DeckValue(call engine.Call) (any, error) {
	x.Engine = x.Server.Engine
	return x.Value(call)
}
