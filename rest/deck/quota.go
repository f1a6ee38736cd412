package deck

import (
	"fmt"
	"net/http"

	"catena/rest"
)

// quota is what an operation says of a bound of its own.
type quota struct{ Limit, Window, Left, Reset int64 }

func quotaOf(m map[string]any) *quota {
	q, ok := m["quota"].(map[string]any)
	if !ok {
		return nil
	}
	return &quota{rest.Member[int64](q, "limit"), rest.Member[int64](q, "window"), rest.Member[int64](q, "left"), rest.Member[int64](q, "reset")}
}

// tell adds the bound, which is that of exports, to what the caller is told of the general one.
func (q *quota) tell(h http.Header) {
	h.Add("RateLimit-Policy", fmt.Sprintf(`"exports";q=%d;w=%d`, q.Limit, q.Window))
	h.Add("RateLimit", fmt.Sprintf(`"exports";r=%d;t=%d`, q.Left, q.Reset))
}
