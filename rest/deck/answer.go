package deck

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/rest"
	"catena/storage/fault"
)

// run carries out a call and answers as the route says.
func (s *service) run(x *rest.Request, call engine.Call, files ...*engine.Blob) error {
	x.Engine, call.Quotes = x.Server.Engine, true
	return x.Run(call, rest.Reply{Status: s.Status, Body: call.RawParams, Files: files, Encode: func(dst []byte, v any) (rest.Encoded, error) {
		return s.encode(x, dst, v)
	}})
}

// encode makes the body of an answer, and what goes into its headers.
func (s *service) encode(x *rest.Request, dst []byte, v any) (out rest.Encoded, err error) {
	if strings.HasPrefix(s.Op, "Webhook.") {
		v = webhooks(v)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return out, fault.Internal.Errorf("decks: %T is not a result of the deck service", v)
	}
	out.Tag, _ = m["etag"].(string)
	if data, ok := m["data"].(map[string]any); ok && s.Location != "" {
		out.Location = fill(s.Location, data)
	}
	out.Tell = func(h http.Header) {
		if q := quotaOf(m); q != nil {
			q.tell(h)
		}
		links(x, listOf(m))
	}
	start := len(dst)
	if dst, err = entity.AppendPlain(append(dst, `{"data":`...), m["data"]); err != nil {
		return out, err
	}
	if meta := m["meta"]; meta != nil {
		if dst, err = entity.AppendPlain(append(dst, `,"meta":`...), meta); err != nil {
			return out, err
		}
	}
	out.Body = append(dst, '}')
	if out.Tag == "" && s.Status == http.StatusOK {
		out.Tag = `"` + rest.Sum(out.Body[start:]) + `"`
	}
	return out, nil
}

// part is a part of a location that a member of the data fills.
var part = regexp.MustCompile(`\{\w+\}`)

// fill puts members of the data into a location.
func fill(location string, data map[string]any) string {
	return part.ReplaceAllStringFunc(location, func(name string) string { return fmt.Sprint(data[strings.Trim(name, "{}")]) })
}

// list says which part of how long a list an answer is.
type list struct{ page, perPage, total int64 }

// listOf reads from a result which part of a list it is; nil if it is none.
func listOf(m map[string]any) *list {
	meta, _ := m["meta"].(map[string]any)
	l := &list{rest.Member[int64](meta, "page"), rest.Member[int64](meta, "per_page"), rest.Member[int64](meta, "total")}
	if l.perPage == 0 {
		return nil
	}
	return l
}

// links tells where the pages next to that of a list are.
func links(x *rest.Request, l *list) {
	if !x.Reads() || l == nil {
		return
	}
	last := max(1, (l.total+l.perPage-1)/l.perPage)
	var all []string
	add := func(rel string, page int64) {
		q := url.Values{"page": {strconv.FormatInt(page, 10)}, "per_page": {strconv.FormatInt(l.perPage, 10)}}
		if r := x.Query().Get("revision"); r != "" {
			q.Set("revision", r)
		}
		all = append(all, fmt.Sprintf(`<%s>; rel=%q`, x.Host()+x.HTTP.URL.Path+"?"+q.Encode(), rel))
	}
	add("first", 1)
	if l.page > 1 {
		add("prev", min(l.page-1, last))
	}
	if l.page < last {
		add("next", l.page+1)
	}
	add("last", last)
	x.Writer.Header().Set("Link", strings.Join(all, ", "))
}

// quota is what an operation says of a bound of its own.
type quota struct{ limit, window, left, reset int64 }

func quotaOf(m map[string]any) *quota {
	q, ok := m["quota"].(map[string]any)
	if !ok {
		return nil
	}
	return &quota{rest.Member[int64](q, "limit"), rest.Member[int64](q, "window"), rest.Member[int64](q, "left"), rest.Member[int64](q, "reset")}
}

// tell adds the bound, which is that of exports, to what the caller is informed of the general one.
func (q *quota) tell(h http.Header) {
	h.Add("RateLimit-Policy", fmt.Sprintf(`"exports";q=%d;w=%d`, q.limit, q.window))
	h.Add("RateLimit", fmt.Sprintf(`"exports";r=%d;t=%d`, q.left, q.reset))
}

// webhooks shows the result of an operation on webhooks as the deck service shows things.
func webhooks(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = webhook(v[i])
		}
		return map[string]any{"data": all, "meta": map[string]any{"total": int64(len(all))}}
	case map[string]any:
		return map[string]any{"data": webhook(v)}
	}
	return map[string]any{"data": nil}
}

// webhookNames are the members of webhooks and their deliveries that are called otherwise here.
var webhookNames = map[string]string{
	"created": "created_at", "failingSince": "failing_since", "finished": "finished_at", "updated": "updated_at",
}

func webhook(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for name, value := range m {
		if to := webhookNames[name]; to != "" {
			name = to
		}
		if at, ok := value.(time.Time); ok {
			value = at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		out[name] = value
	}
	return out
}
