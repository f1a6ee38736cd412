package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// deckRoutes are the addresses of the deck service.
func deckRoutes() []route {
	const none = http.StatusNoContent
	id, deck := numberOf("id"), numberOf("deck_id")
	return slices.Concat(exportRoutes(), moreDeckRoutes(), []route{
		{method: "GET", path: "/v1/decks", handle: decks("Deck.List", http.StatusOK, viewOf, pageOf)},
		{method: "POST", path: "/v1/decks", handle: decks("Deck.Create", http.StatusCreated, viewOf, fieldsOf)},
		{method: "GET", path: "/v1/decks/trashed", handle: decks("Deck.ListTrashed", http.StatusOK, viewOf, pageOf)},
		{method: "GET", path: "/v1/decks/:id", handle: decks("Deck.Get", http.StatusOK, viewOf, id, htmlWanted, unlessOf)},
		{method: "PATCH", path: "/v1/decks/:id", body: patchBody, handle: decks("Deck.Update", http.StatusOK, viewOf, id, guardOf, fieldsOf)},
		{method: "POST", path: "/v1/decks/:id/recover", body: noBody, handle: decks("Deck.Recover", none, id)},
		{method: "GET", path: "/v1/decks/:id/files", handle: decks("Deck.ListFiles", http.StatusOK, id)},
		{method: "POST", path: "/v1/decks/:id/files", body: pictureBody, handle: addFile},
		{method: "GET", path: "/v1/decks/:id/files/:number", handle: ownFile},
		{method: "DELETE", path: "/v1/decks/:id/files/:number", handle: decks("Deck.RemoveFile", none, id, numberOf("number"), asked("force"))},
		{method: "GET", path: "/v1/decks/:id/slides", handle: decks("Deck.ListSlides", http.StatusOK, id)},
		{method: "POST", path: "/v1/decks/:id/slides", handle: shapedDecks("Deck.InsertSlide", http.StatusCreated, slidePlace, id, guardOf, membersOf("html after below"))},
		{method: "GET", path: "/v1/decks/:id/slides/:slide", handle: decks("Deck.GetSlide", http.StatusOK, id, numberOf("slide"))},
		{method: "PATCH", path: "/v1/decks/:id/slides/:slide", body: patchBody, handle: decks("Deck.UpdateSlide", http.StatusOK, id, numberOf("slide"), guardOf, membersOf("html"))},
		{method: "DELETE", path: "/v1/decks/:id/slides/:slide", handle: decks("Deck.RemoveSlide", none, id, numberOf("slide"), guardOf)},
		{method: "POST", path: "/v1/decks/:id/slides/:slide/move", handle: decks("Deck.MoveSlide", http.StatusOK, id, numberOf("slide"), guardOf, membersOf("after below"))},
		{method: "GET", path: "/v1/decks/:id/thumbnail", handle: deckThumbnail},
		{method: "POST", path: "/v1/decks/:id/trash", body: noBody, handle: decks("Deck.Trash", none, id, guardOf)},
		{method: "GET", path: "/v1/decks/:deck_id/share", handle: decks("Deck.ListShareLinks", http.StatusOK, baseOf, deck)},
		{method: "POST", path: "/v1/decks/:deck_id/share", handle: decks("Deck.CreateShareLink", http.StatusCreated, baseOf, deck, fieldsOf)},
		{method: "DELETE", path: "/v1/decks/:deck_id/share/:id", handle: decks("Deck.RevokeShareLink", none, deck, id)},
		{method: "GET", path: "/v1/decks/:deck_id/share/:id/views", handle: decks("Deck.ListShareViews", http.StatusOK, deck, id, pageOf)},
		{method: "GET", path: "/v1/decks/:id/versions", handle: decks("Deck.History", http.StatusOK, id, pageOf)},
		{method: "POST", path: "/v1/decks/:id/versions", body: noBody, handle: decks("Deck.KeepVersion", http.StatusOK, id)},
		{method: "POST", path: "/v1/decks/:id/versions/:version/restore", body: noBody, handle: decks("Deck.Restore", http.StatusOK, viewOf, id, versionOf)},
		{method: "GET", path: "/v1/notices", handle: decks("Deck.ListNotices", http.StatusOK, pageOf)},
		{method: "GET", path: "/v1/team/decks", handle: decks("Deck.ListTeam", http.StatusOK, viewOf, pageOf)},
		{method: "GET", path: "/v1/team/decks/:id", handle: decks("Deck.GetTeam", http.StatusOK, viewOf, id, htmlWanted)},
		{method: "GET", path: "/openapi.json", access: open, handle: described("union")},
		{method: "GET", path: "/openapi-a.json", access: open, handle: described("A")},
		{method: "GET", path: "/openapi-b.json", access: open, handle: described("B")},
		{method: "GET", path: "/v1/user", handle: decks("Deck.Account", http.StatusOK, viewOf)},
	})
}

const (
	mimePatch   = "application/merge-patch+json"
	mimeProblem = "application/problem+json"
)

// isDecks reports whether an address is of the deck service, whose errors look their own way.
func isDecks(path string) bool {
	_, v1 := under(path, "/v1")
	_, mcp := under(path, "/mcp")
	return v1 || mcp
}

// described makes a handler that describes the deck service in one revision.
func described(revision string) handler {
	return func(x *exchange) error {
		res, err := x.s.Engine.Run(x.r.Context(), engine.Call{
			Op: "Deck.Describe", Params: values{"revision": revision, "base": x.host()}, As: x.s.Engine.Guest(), Door: engine.REST, RequestID: x.id,
		})
		if err != nil {
			return err
		}
		return x.json(http.StatusOK, res.Value)
	}
}

// deckParams reads a part of the request as a part of the parameters.
type deckParams func(x *exchange, p rawParams) (rawParams, error)

// decks makes a handler that runs one operation of the deck service.
func decks(op string, status int, parts ...deckParams) handler {
	return shapedDecks(op, status, func(v any) any { return v }, parts...)
}

// deckRevision is the revision asked for: by header, by the address, by the key; else both.
func (x *exchange) deckRevision() string {
	revision := "union"
	switch {
	case x.r.Header.Get("Deck-Revision") != "":
		revision = x.r.Header.Get("Deck-Revision")
	case x.query().Get("revision") != "":
		revision = x.query().Get("revision")
	case x.as.Revision != "":
		revision = x.as.Revision
	}
	h := x.w.Header()
	h.Add("Vary", "Deck-Revision, Authorization")
	switch revision {
	case "a", "b":
		h.Set("Deck-Revision", strings.ToUpper(revision))
	case "A", "B", "union":
		h.Set("Deck-Revision", revision)
	}
	return revision
}

var knownRevisions = map[string]bool{"A": true, "B": true, "a": true, "b": true, "union": true}

// acceptsJSON reports whether the caller can read JSON.
func (x *exchange) acceptsJSON() bool {
	accept := x.r.Header.Values("Accept")
	if len(accept) == 0 {
		return true
	}
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(accept, ",")), ",") {
		typ, ps, _ := strings.Cut(strings.TrimSpace(item), ";")
		switch typ = strings.TrimSpace(typ); {
		case strings.ReplaceAll(ps, " ", "") == "q=0":
		case typ == "", typ == "*/*", typ == "application/*", strings.HasSuffix(typ, "json"):
			return true
		}
	}
	return false
}

func pageOf(x *exchange, p rawParams) (rawParams, error) {
	for _, name := range [...]string{"page", "per_page"} {
		if v := x.query(); v.Has(name) {
			p = p.text(name, v.Get(name))
		}
	}
	return p, nil
}

// viewOf passes on in which revision the answer is wanted, and where the server is.
func viewOf(x *exchange, p rawParams) (rawParams, error) {
	p, err := baseOf(x, p)
	return p.text("revision", x.revision), err
}

func baseOf(x *exchange, p rawParams) (rawParams, error) { return p.text("base", x.host()), nil }

// numberOf reads a number in the address; what is no number is no address of anything.
func numberOf(name string) deckParams {
	return func(x *exchange, p rawParams) (rawParams, error) {
		text, err := x.param(name)
		if err != nil {
			return p, err
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text != strconv.FormatInt(n, 10) {
			return p, fault.NotFound.Errorf("number %.40q: does not exist", text)
		}
		return p.add(name, json.RawMessage(text)), nil
	}
}

func versionOf(x *exchange, p rawParams) (rawParams, error) {
	version, err := x.param("version")
	return p.text("version", version), err
}

func htmlWanted(x *exchange, p rawParams) (rawParams, error) {
	const name = "include_deck_html"
	if !x.query().Has(name) {
		return p, nil
	}
	text := x.query().Get(name)
	switch text {
	case "1":
		text = "true"
	case "0":
		text = "false"
	}
	return p.text(name, text), nil
}

// unlessOf passes on what the client has already.
func unlessOf(x *exchange, p rawParams) (rawParams, error) {
	if tags := x.r.Header.Values("If-None-Match"); len(tags) > 0 {
		p = p.text("ifNoneMatch", strings.Join(tags, ","))
	}
	return p, nil
}

func guardOf(x *exchange, p rawParams) (rawParams, error) {
	if tags := x.r.Header.Values("If-Match"); len(tags) > 0 {
		p = p.text("ifMatch", strings.Join(tags, ","))
	}
	return p, nil
}

// fieldsOf passes the body on whole, so that the operation sees everything that is in it.
func fieldsOf(x *exchange, p rawParams) (rawParams, error) {
	if x.bodyless() {
		return p, nil
	}
	if _, _, err := x.media(); err != nil {
		return p, err
	}
	body, err := x.readBody()
	if err != nil {
		return p, err
	}
	if err := checkJSON(body); err != nil {
		return p, err
	}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return p, fault.Invalid.Errorf("body: is not a JSON object").WithCode(fault.CodeMalformedJSON)
	}
	return p.add("fields", body), nil
}

// deckAnswer is what a call of the deck service answers, kept for an idempotency key: the
// first line of what is kept, the body follows.
type deckAnswer struct {
	Tag      string `json:"tag,omitempty"`
	Location string `json:"location,omitempty"`
	Quota    *quota `json:"quota,omitempty"`

	List *deckList `json:"list,omitempty"`
}

// runDeck carries out a call and answers with what it returns, once that has its shape.
func (x *exchange) runDeck(call engine.Call, status int, shape func(any) any) error {
	x.introduce(&call)
	call.DryRun = x.flag("dryRun")
	re := &reply{body: call.RawParams}
	if b, ok := call.Input.(*engine.Blob); ok {
		re.files = []*engine.Blob{b}
	}
	if x.keyed(&call, re); call.IdempotencyKey != "" {
		x.w.Header().Set("Idempotency-Key", call.IdempotencyKey)
	}
	call.Encode = func(_ *engine.Ctx, v any) ([]byte, error) { return encodeDeck(shape(v), status, call.DryRun) }
	res, err := x.s.Engine.Run(x.r.Context(), call)
	if err != nil {
		return err
	}
	if call.DryRun {
		a, err := dryAnswer(res)
		if err == nil {
			x.write(a)
		}
		return err
	}
	line, body, _ := bytes.Cut(res.Body, []byte{'\n'})
	var k deckAnswer
	if err := json.Unmarshal(line, &k); err != nil {
		return fault.Internal.Errorf("idempotency: kept answer is broken")
	}
	switch {
	case res.Replayed:
		x.w.Header().Set("Idempotency-Replayed", "true")
	case k.Quota != nil:
		k.Quota.tell(x.w.Header())
	}
	if status == http.StatusNoContent {
		return x.noContent()
	}
	x.links(k.List)
	x.write(&answer{status: status, mime: mimeJSON, body: body, etag: k.Tag, location: x.located(k.Location)})
	return nil
}

// host is the public address of the server without the context path.
func (x *exchange) host() string { return strings.TrimSuffix(x.base(), x.s.ContextPath) }

func (x *exchange) located(path string) string {
	if path == "" {
		return ""
	}
	return x.host() + path
}

// encodeDeck makes the body of an answer, with what goes into headers before it.
func encodeDeck(v any, status int, dry bool) ([]byte, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Internal.Errorf("decks: %T is no result of the deck service", v)
	}
	var k deckAnswer
	k.Tag, _ = m["etag"].(string)
	k.Quota = quotaOf(m)
	if status == http.StatusAccepted {
		k.Location, _ = m["location"].(string)
	}
	if at, ok := m["location"].(string); ok && status == http.StatusCreated {
		k.Location = at
	} else if data, ok := m["data"].(map[string]any); ok && status == http.StatusCreated {
		if k.Location = fmt.Sprintf("/v1/decks/%v", data["id"]); data["deck_id"] != nil {
			k.Location = fmt.Sprintf("/v1/decks/%v/share/%v", data["deck_id"], data["id"])
		}
	}
	k.List = listOf(m)
	start := 0
	var out []byte
	var err error
	if !dry && (k.Tag != "" || status != http.StatusOK) {
		if out, err = k.line(); err != nil {
			return nil, err
		}
		start = len(out)
	}
	if out, err = appendDeck(out, m); err != nil || dry || start > 0 {
		return out, err
	}
	k.Tag = `"` + strconv.FormatUint(uint64(crc32.Checksum(out, castagnoli)), 36) + `"`
	line, err := k.line()
	return append(line, out...), err
}

// line is the answer as it is kept before the body.
func (k *deckAnswer) line() ([]byte, error) {
	line, err := json.Marshal(k)
	return append(line, '\n'), err
}

// appendDeck appends the body of an answer.
func appendDeck(dst []byte, m map[string]any) ([]byte, error) {
	dst, err := entity.AppendPlain(append(dst, `{"data":`...), m["data"])
	if meta := m["meta"]; err == nil && meta != nil {
		dst, err = entity.AppendPlain(append(dst, `,"meta":`...), meta)
	}
	return append(dst, '}'), err
}

// deckList says which part of how long a list an answer is.
type deckList struct {
	Page    int64 `json:"page"`
	PerPage int64 `json:"per_page"`
	Total   int64 `json:"total"`
}

// listOf reads from a result which part of a list it is; nil if it is none.
func listOf(m map[string]any) *deckList {
	meta, _ := m["meta"].(map[string]any)
	l := &deckList{member[int64](meta, "page"), member[int64](meta, "per_page"), member[int64](meta, "total")}
	if l.PerPage == 0 {
		return nil
	}
	return l
}

// links tells where the pages next to that of a list are.
func (x *exchange) links(m *deckList) {
	if !x.reads() || m == nil {
		return
	}
	last := max(1, (m.Total+m.PerPage-1)/m.PerPage)
	var all []string
	add := func(rel string, page int64) {
		q := url.Values{"page": {strconv.FormatInt(page, 10)}, "per_page": {strconv.FormatInt(m.PerPage, 10)}}
		if r := x.query().Get("revision"); r != "" {
			q.Set("revision", r)
		}
		all = append(all, fmt.Sprintf(`<%s>; rel=%q`, x.located(x.r.URL.Path+"?"+q.Encode()), rel))
	}
	add("first", 1)
	if m.Page > 1 {
		add("prev", min(m.Page-1, last))
	}
	if m.Page < last {
		add("next", m.Page+1)
	}
	add("last", last)
	x.w.Header().Set("Link", strings.Join(all, ", "))
}
