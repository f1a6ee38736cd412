package automation

import (
	"fmt"
	"net/url"

	"catena/engine"
	"catena/rest"
)

// deprecated tells in the head of the answer that the operation called is better not used any more (RFC 9745), where
// that is explained, and what to use instead. Nothing is removed on a day that is known, so there is no Sunset.
func deprecated(x *rest.Request, d *engine.Def) {
	since, ok := d.Deprecated.Day()
	if !ok {
		return
	}
	h := x.Writer.Header()
	h.Set("Deprecation", fmt.Sprintf("@%d", since.Unix()))
	h.Add("Link", fmt.Sprintf(`<%s/site/automation/doc#op-%s>; rel="deprecation"; type="text/html"`, x.Prefix(), url.PathEscape(d.Name)))
	if instead := d.Deprecated.Instead; instead != "" {
		h.Add("Link", fmt.Sprintf(`<%s/api/v1/automation/%s>; rel="successor-version"`, x.Prefix(), url.PathEscape(instead)))
	}
}
