package rest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// reply is how the answer to a call is made.
type reply struct {
	status  int    // of an answer that has a body
	empty   int    // status of one that has none; 0: 204
	body    []byte // of the request, for the fingerprint
	files   []*engine.Blob
	options *entity.Options
	tagged  bool   // documents get an entity tag
	inline  bool   // files are shown, not saved
	bare    bool   // maps and lists are written as they are, not as entities
	base    string // what a relative address in a result is below; "" leaves it relative

	choose func(v any) int   // the status, where the result decides it
	then   func()            // called between the call and its answer
	sent   func(name string) // called once a file of this name went out, or began to

	run func(call engine.Call) (*engine.Result, error) // carries the call out; nil: the engine, by its operation

	modified *time.Time // of a file; set while the call runs
}

// run carries out a call for whoever asks and answers with what it returns.
func (x *exchange) run(call engine.Call, re reply) error {
	e := x.encoder(&call, re)
	if x.held != nil {
		*x.held = append(*x.held, held{call, e})
		return nil
	}
	e.buf = x.buf
	if re.run == nil {
		re.run = func(call engine.Call) (*engine.Result, error) { return x.engine.Run(x.r.Context(), call) }
	}
	res, err := re.run(call)
	if err != nil {
		return err
	}
	if re.then != nil {
		re.then()
	}
	a, err := e.answer(res)
	if err != nil {
		return err
	}
	if call.IdempotencyKey != "" {
		x.w.Header().Set("Idempotency-Key", call.IdempotencyKey)
		if res.Replayed {
			x.w.Header().Set("Idempotency-Replayed", "true")
		}
	} else if a.body != nil {
		x.buf = a.body[:0]
	}
	if call.Trace && res.Trace != nil {
		x.w.Header().Set("Catena-Trace", res.Trace.ID)
	}
	x.led(e, a)
	if x.invoked != "" && len(res.Ignored) > 0 {
		x.w.Header().Set(ignoredHeader, escapedList(res.Ignored))
	}
	x.write(a)
	if re.sent != nil && a.file != nil {
		re.sent(a.file.blob.Name) // also when the client has left
	}
	return nil
}

// ignoredHeader names the parameters that were given and that the operation called does not
// have: clients send such, people misspell.
const ignoredHeader = "Catena-Ignored"

// escapedList joins names by commas, percent-encoded.
func escapedList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = url.QueryEscape(name)
	}
	return strings.Join(list, ",")
}

// encoder completes a call with what the request says about it and returns what will
// encode its result.
func (x *exchange) encoder(call *engine.Call, re reply) *encoder {
	x.introduce(call)
	call.DryRun, call.Trace = x.flag("dryRun"), x.flag("trace")
	call.Timeout = transactionTimeout(x.r.Header)
	call.KeepUploads = x.keepsUploads()
	x.keyed(call, &re)
	if re.options == nil {
		re.options = x.options()
	}
	e := &encoder{re: re, keep: call.IdempotencyKey != "", limit: int64(x.engine.Limits().Replies), dry: call.DryRun}
	e.void = header(x.r.Header, "X-Nxvoidoperation", "X-Platform-Voidoperation") == "true"
	call.Encode = e.encode
	return e
}

// introduce says in a call for whom it is and where it comes from.
func (x *exchange) introduce(call *engine.Call) {
	call.As, call.Door, call.RequestID, call.Remote = x.as, x.door(), x.id, x.client()
}

// keepsUploads reports whether the client will use what it uploaded once more.
func (x *exchange) keepsUploads() bool { return x.r.Header.Get("X-Batch-No-Drop") == "true" }

// door is where calls come from: a handler with a principal of its own is the command line's.
func (x *exchange) door() engine.Door {
	if x.s.As != nil {
		return engine.CLI
	}
	return engine.REST
}

// transactionTimeout reads the seconds a client gives the transaction; 0 if none.
func transactionTimeout(h http.Header) time.Duration {
	text := header(h, "Nuxeo-Transaction-Timeout", "X-Platform-Transaction-Timeout")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Second * time.Duration(min(n, 86_400))
}

// traceID is that of the request's traceparent header; "" if it has none.
func (x *exchange) traceID() string { return engine.TraceID(x.r.Context()) }

// keyed gives the call the idempotency key of a POST. It counts for one address of one
// repository, however that is spelled.
func (x *exchange) keyed(call *engine.Call, re *reply) {
	key := x.r.Header["Idempotency-Key"]
	if len(key) != 1 || key[0] == "" || x.r.Method != http.MethodPost || call.DryRun {
		return
	}
	call.IdempotencyKey, call.Fingerprint = key[0], x.fingerprint(re)
	call.KeyScope = x.r.Method + " " + x.repo + " " + strings.TrimRight(locate(x.s.ContextPath, x.r.URL.EscapedPath()).path, "/")
}

// fingerprint tells requests with one idempotency key at one address apart by their content.
func (x *exchange) fingerprint(re *reply) string {
	h := sha256.New()
	h.Write([]byte(x.r.URL.RawQuery + "\n"))
	h.Write(re.body)
	for _, b := range re.files {
		h.Write([]byte("\n" + b.Digest + " " + b.Name))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// options are what the request asks of the entities in its answer.
func (x *exchange) options() *entity.Options {
	c := readControls(x.r.Header, x.query())
	return &entity.Options{
		Base: x.base(), Repo: x.repo, Depth: c.levels(), Language: x.r.Header.Get("Accept-Language"),
		Codec:      x.query().Get("URLCodecName"),
		Properties: c.properties, Enrichers: c.enrichers, Fetch: c.fetch, Translate: c.translate,
	}
}

// encoder turns the result of a call into the bytes of its answer, inside the transaction.
type encoder struct {
	re    reply
	keep  bool  // the bytes are kept for an idempotency key
	limit int64 // of what is kept
	dry   bool
	void  bool
	buf   []byte
	etag  string

	conversation, download string // the UI session that the call worked in, and again if it left a file there
}

// kept is the first line of an answer kept for an idempotency key; its body follows.
type kept struct {
	Status int    `json:"status"`
	Mime   string `json:"mime,omitempty"`
	Name   string `json:"name,omitempty"` // of a file
	Lost   bool   `json:"lost,omitempty"` // too large, or several files
}

func (e *encoder) encode(c *engine.Ctx, v any) ([]byte, error) {
	e.conversed(c, v)
	if e.void && !e.dry {
		v = nil
	}
	body, err := e.append(c, v)
	if err != nil || !e.keep {
		return body, err
	}
	k := kept{Status: e.status(v), Mime: mimeJSON}
	switch v := v.(type) {
	case nil:
		k = kept{Status: http.StatusNoContent}
	case *engine.Blob:
		k.Mime, k.Name = contentType(v), v.Name
		if body, err = v.Bytes(e.limit); err != nil {
			k.Lost, body = true, nil
		}
	case engine.Blobs:
		k.Lost = true
	}
	line, err := json.Marshal(k)
	return append(append(line, '\n'), body...), err
}

// status is that of an answer with this result.
func (e *encoder) status(v any) int {
	if e.re.choose != nil {
		return e.re.choose(v)
	}
	return e.re.status
}

// append writes an entity. Files are not written here: they are sent after the transaction.
func (e *encoder) append(c *engine.Ctx, v any) ([]byte, error) {
	e.etag = ""
	switch v.(type) {
	case nil:
		return nil, nil
	case *engine.Blob, engine.Blobs:
		if !e.dry {
			return nil, nil
		}
	}
	if e.re.base != "" {
		v = absolute(v, e.re.base)
	}
	dst := e.buf[:0]
	if e.keep {
		dst = nil // what is kept must not be written over
	}
	write := entity.Append
	if e.re.bare {
		switch v.(type) {
		case map[string]any, []any:
			write = entity.AppendValue
		}
	}
	body, err := write(dst, c, v, e.re.options)
	if err != nil {
		return nil, err
	}
	if d, ok := v.(interface{ ChangeToken() string }); ok && e.re.tagged {
		e.etag = entityTag(d.ChangeToken(), body)
	}
	return body, nil
}

// entityTag is the tag of a document as it is shown: its change token, which If-Match
// compares, and a sum of the body, for that also depends on what was asked for.
func entityTag(token string, body []byte) string {
	return `"` + token + "." + strconv.FormatUint(uint64(crc32.Checksum(body, castagnoli)), 36) + `"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// answer makes the answer of a finished call.
func (e *encoder) answer(res *engine.Result) (*answer, error) {
	switch {
	case res.Replayed && res.Void:
		return &answer{status: http.StatusNoContent}, nil
	case res.Replayed:
		return replayed(res.Body)
	}
	body := res.Body
	if e.keep {
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			body = body[i+1:]
		}
	}
	if e.dry {
		return dryAnswer(res)
	}
	a := &answer{status: e.status(res.Value), mime: mimeJSON, body: body, etag: e.etag}
	switch v := res.Value.(type) {
	case *engine.Blob:
		if v != nil && !e.void && !res.Void {
			a.body, a.file = nil, &file{blob: v, inline: e.re.inline}
			if e.re.modified != nil {
				a.file.modified = *e.re.modified
			}
			return a, nil
		}
	case engine.Blobs:
		if !e.void && !res.Void {
			a.body, a.files = nil, v
			if len(v) == 0 {
				a.files, a.status = nil, http.StatusNoContent
			}
			return a, nil
		}
	}
	if e.void || res.Void || len(a.body) == 0 {
		return &answer{status: cmp.Or(e.re.empty, http.StatusNoContent)}, nil
	}
	return a, nil
}

// replayed makes the answer that an earlier request with the same key got.
func replayed(stored []byte) (*answer, error) {
	var k kept
	i := bytes.IndexByte(stored, '\n')
	if i < 0 || json.Unmarshal(stored[:i], &k) != nil {
		return nil, fault.Internal.Errorf("idempotency: kept answer is broken")
	}
	if k.Lost {
		return nil, fault.Conflict.Errorf("idempotency: the request was carried out, its answer was too large to keep").
			WithCode(fault.CodeIdempotencyAnswerLost)
	}
	if k.Name != "" || k.Mime != mimeJSON && k.Mime != "" {
		return &answer{status: k.Status, file: &file{blob: engine.NewBlob(k.Name, k.Mime, stored[i+1:])}}, nil
	}
	return &answer{status: k.Status, mime: k.Mime, body: stored[i+1:]}, nil
}

// dryAnswer shows what a call would have returned and changed.
func dryAnswer(res *engine.Result) (*answer, error) {
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
	return &answer{status: http.StatusOK, mime: mimeJSON, body: body}, err
}
