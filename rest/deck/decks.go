// Package deck serves the deck service below /v1.
package deck

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
	"catena/rest"
	"catena/storage/fault"
)

// Routes are the addresses of the deck service.
func Routes() []rest.Route {
	const none = http.StatusNoContent
	id, deck := numberOf("id"), numberOf("deck_id")
	return slices.Concat(exportRoutes(), moreDeckRoutes(), []rest.Route{
		{Method: "GET", Path: "/v1/decks", Handle: decks("Deck.List", http.StatusOK, viewOf, pageOf)},
		{Method: "POST", Path: "/v1/decks", Handle: decks("Deck.Create", http.StatusCreated, viewOf, fieldsOf)},
		{Method: "GET", Path: "/v1/decks/trashed", Handle: decks("Deck.ListTrashed", http.StatusOK, viewOf, pageOf)},
		{Method: "GET", Path: "/v1/decks/:id", Handle: decks("Deck.Get", http.StatusOK, viewOf, id, htmlWanted, unlessOf)},
		{Method: "PATCH", Path: "/v1/decks/:id", Body: rest.PatchBody, Handle: decks("Deck.Update", http.StatusOK, viewOf, id, guardOf, fieldsOf)},
		{Method: "POST", Path: "/v1/decks/:id/recover", Body: rest.NoBody, Handle: decks("Deck.Recover", none, id)},
		{Method: "GET", Path: "/v1/decks/:id/files", Handle: decks("Deck.ListFiles", http.StatusOK, id)},
		{Method: "POST", Path: "/v1/decks/:id/files", Body: rest.PictureBody, Handle: addFile},
		{Method: "GET", Path: "/v1/decks/:id/files/:number", Handle: ownFile},
		{Method: "DELETE", Path: "/v1/decks/:id/files/:number", Handle: decks("Deck.RemoveFile", none, id, numberOf("number"), asked("force"))},
		{Method: "GET", Path: "/v1/decks/:id/slides", Handle: decks("Deck.ListSlides", http.StatusOK, id)},
		{Method: "POST", Path: "/v1/decks/:id/slides", Handle: shapedDecks("Deck.InsertSlide", http.StatusCreated, slidePlace, id, guardOf, membersOf("html after below"))},
		{Method: "GET", Path: "/v1/decks/:id/slides/:slide", Handle: decks("Deck.GetSlide", http.StatusOK, id, numberOf("slide"))},
		{Method: "PATCH", Path: "/v1/decks/:id/slides/:slide", Body: rest.PatchBody, Handle: decks("Deck.UpdateSlide", http.StatusOK, id, numberOf("slide"), guardOf, membersOf("html"))},
		{Method: "DELETE", Path: "/v1/decks/:id/slides/:slide", Handle: decks("Deck.RemoveSlide", none, id, numberOf("slide"), guardOf)},
		{Method: "POST", Path: "/v1/decks/:id/slides/:slide/move", Handle: decks("Deck.MoveSlide", http.StatusOK, id, numberOf("slide"), guardOf, membersOf("after below"))},
		{Method: "GET", Path: "/v1/decks/:id/thumbnail", Handle: deckThumbnail},
		{Method: "POST", Path: "/v1/decks/:id/trash", Body: rest.NoBody, Handle: decks("Deck.Trash", none, id, guardOf)},
		{Method: "GET", Path: "/v1/decks/:deck_id/share", Handle: decks("Deck.ListShareLinks", http.StatusOK, baseOf, deck)},
		{Method: "POST", Path: "/v1/decks/:deck_id/share", Handle: decks("Deck.CreateShareLink", http.StatusCreated, baseOf, deck, fieldsOf)},
		{Method: "DELETE", Path: "/v1/decks/:deck_id/share/:id", Handle: decks("Deck.RevokeShareLink", none, deck, id)},
		{Method: "GET", Path: "/v1/decks/:deck_id/share/:id/views", Handle: decks("Deck.ListShareViews", http.StatusOK, deck, id, pageOf)},
		{Method: "GET", Path: "/v1/decks/:id/versions", Handle: decks("Deck.History", http.StatusOK, id, pageOf)},
		{Method: "POST", Path: "/v1/decks/:id/versions", Body: rest.NoBody, Handle: decks("Deck.KeepVersion", http.StatusOK, id)},
		{Method: "POST", Path: "/v1/decks/:id/versions/:version/restore", Body: rest.NoBody, Handle: decks("Deck.Restore", http.StatusOK, viewOf, id, versionOf)},
		{Method: "GET", Path: "/v1/notices", Handle: decks("Deck.ListNotices", http.StatusOK, pageOf)},
		{Method: "GET", Path: "/v1/team/decks", Handle: decks("Deck.ListTeam", http.StatusOK, viewOf, pageOf)},
		{Method: "GET", Path: "/v1/team/decks/:id", Handle: decks("Deck.GetTeam", http.StatusOK, viewOf, id, htmlWanted)},
		{Method: "GET", Path: "/openapi.json", Access: rest.Open, Handle: described("union")},
		{Method: "GET", Path: "/openapi-a.json", Access: rest.Open, Handle: described("A")},
		{Method: "GET", Path: "/openapi-b.json", Access: rest.Open, Handle: described("B")},
		{Method: "GET", Path: "/v1/user", Handle: decks("Deck.Account", http.StatusOK, viewOf)},
	})
}

// Holds reports whether an address is of the deck service, whose errors look their own way.
func Holds(path string) bool {
	_, v1 := rest.Under(path, "/v1")
	_, mcp := rest.Under(path, "/mcp")
	return v1 || mcp
}

// described makes a handler that describes the deck service in one revision.
func described(revision string) rest.HandlerFunc {
	return func(x *rest.Request) error {
		res, err := x.Server.Engine.Run(x.HTTP.Context(), engine.Call{
			Op: "Deck.Describe", Params: rest.Values{"revision": revision, "base": x.Host()}, As: x.Server.Engine.Guest(), Door: engine.REST, RequestID: x.ID,
		})
		if err != nil {
			return err
		}
		return x.JSON(http.StatusOK, res.Value)
	}
}

// deckParams reads a part of the request as a part of the parameters.
type deckParams func(x *rest.Request, p rest.RawParams) (rest.RawParams, error)

// decks makes a handler that runs one operation of the deck service.
func decks(op string, status int, parts ...deckParams) rest.HandlerFunc {
	return shapedDecks(op, status, func(v any) any { return v }, parts...)
}

// deckRevision is the revision asked for: by header, by the address, by the key; else both.
func deckRevision(x *rest.Request) string {
	revision := "union"
	switch {
	case x.HTTP.Header.Get("Deck-Revision") != "":
		revision = x.HTTP.Header.Get("Deck-Revision")
	case x.Query().Get("revision") != "":
		revision = x.Query().Get("revision")
	case x.As.Revision != "":
		revision = x.As.Revision
	}
	h := x.Writer.Header()
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
func acceptsJSON(x *rest.Request) bool {
	accept := x.HTTP.Header.Values("Accept")
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

func pageOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	for _, name := range [...]string{"page", "per_page"} {
		if v := x.Query(); v.Has(name) {
			p = p.Text(name, v.Get(name))
		}
	}
	return p, nil
}

// viewOf passes on in which revision the answer is wanted, and where the server is.
func viewOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	p, err := baseOf(x, p)
	return p.Text("revision", x.Revision), err
}

func baseOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	return p.Text("base", x.Host()), nil
}

// numberOf reads a number in the address; what is no number is no address of anything.
func numberOf(name string) deckParams {
	return func(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
		text, err := x.Param(name)
		if err != nil {
			return p, err
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text != strconv.FormatInt(n, 10) {
			return p, fault.NotFound.Errorf("number %.40q: does not exist", text)
		}
		return p.Add(name, json.RawMessage(text)), nil
	}
}

func versionOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	version, err := x.Param("version")
	return p.Text("version", version), err
}

func htmlWanted(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	const name = "include_deck_html"
	if !x.Query().Has(name) {
		return p, nil
	}
	text := x.Query().Get(name)
	switch text {
	case "1":
		text = "true"
	case "0":
		text = "false"
	}
	return p.Text(name, text), nil
}

// unlessOf passes on what the client has already.
func unlessOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	if tags := x.HTTP.Header.Values("If-None-Match"); len(tags) > 0 {
		p = p.Text("ifNoneMatch", strings.Join(tags, ","))
	}
	return p, nil
}

func guardOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	if tags := x.HTTP.Header.Values("If-Match"); len(tags) > 0 {
		p = p.Text("ifMatch", strings.Join(tags, ","))
	}
	return p, nil
}

// fieldsOf passes the body on whole, so that the operation sees everything that is in it.
func fieldsOf(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	if x.Bodyless() {
		return p, nil
	}
	if _, _, err := x.Media(); err != nil {
		return p, err
	}
	body, err := x.ReadBody()
	if err != nil {
		return p, err
	}
	if err := rest.CheckJSON(body); err != nil {
		return p, err
	}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return p, fault.Invalid.Errorf("body: must be a JSON object").WithCode(fault.CodeMalformedJSON)
	}
	return p.Add("fields", body), nil
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
func runDeck(x *rest.Request, call engine.Call, status int, shape func(any) any) error {
	x.Introduce(&call)
	call.DryRun = x.Flag("dryRun")
	re := &rest.Reply{Body: call.RawParams}
	if b, ok := call.Input.(*engine.Blob); ok {
		re.Files = []*engine.Blob{b}
	}
	if x.Keyed(&call, re); call.IdempotencyKey != "" {
		x.Writer.Header().Set("Idempotency-Key", call.IdempotencyKey)
	}
	call.Encode = func(_ *engine.Ctx, v any) ([]byte, error) { return encodeDeck(shape(v), status, call.DryRun) }
	res, err := x.Server.Engine.Run(x.HTTP.Context(), call)
	if err != nil {
		return err
	}
	if call.DryRun {
		a, err := rest.DryAnswer(res)
		if err == nil {
			x.Write(a)
		}
		return err
	}
	line, body, _ := bytes.Cut(res.Body, []byte{'\n'})
	var k deckAnswer
	if err := json.Unmarshal(line, &k); err != nil {
		return fault.Internal.Errorf("idempotency: the stored response is damaged")
	}
	switch {
	case res.Replayed:
		x.Writer.Header().Set("Idempotency-Replayed", "true")
	case k.Quota != nil:
		k.Quota.tell(x.Writer.Header())
	}
	if status == http.StatusNoContent {
		return x.NoContent()
	}
	links(x, k.List)
	x.Write(&rest.Answer{Status: status, Mime: rest.MIMEJSON, Body: body, Etag: k.Tag, Location: located(x, k.Location)})
	return nil
}

func located(x *rest.Request, path string) string {
	if path == "" {
		return ""
	}
	return x.Host() + path
}

// encodeDeck makes the body of an answer, with what goes into headers before it.
func encodeDeck(v any, status int, dry bool) ([]byte, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Internal.Errorf("decks: %T is not a result of the deck service", v)
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
	k.Tag = `"` + strconv.FormatUint(uint64(crc32.Checksum(out, rest.Castagnoli)), 36) + `"`
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
	l := &deckList{rest.Member[int64](meta, "page"), rest.Member[int64](meta, "per_page"), rest.Member[int64](meta, "total")}
	if l.PerPage == 0 {
		return nil
	}
	return l
}

// links tells where the pages next to that of a list are.
func links(x *rest.Request, m *deckList) {
	if !x.Reads() || m == nil {
		return
	}
	last := max(1, (m.Total+m.PerPage-1)/m.PerPage)
	var all []string
	add := func(rel string, page int64) {
		q := url.Values{"page": {strconv.FormatInt(page, 10)}, "per_page": {strconv.FormatInt(m.PerPage, 10)}}
		if r := x.Query().Get("revision"); r != "" {
			q.Set("revision", r)
		}
		all = append(all, fmt.Sprintf(`<%s>; rel=%q`, located(x, x.HTTP.URL.Path+"?"+q.Encode()), rel))
	}
	add("first", 1)
	if m.Page > 1 {
		add("prev", min(m.Page-1, last))
	}
	if m.Page < last {
		add("next", m.Page+1)
	}
	add("last", last)
	x.Writer.Header().Set("Link", strings.Join(all, ", "))
}
