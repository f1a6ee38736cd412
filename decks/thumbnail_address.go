package decks

import (
	"crypto/hmac"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/decks/export"
	"catena/engine"
	"catena/storage"
)

// thumbnail is the address of the picture of a deck's first slide. What is not for everyone
// has a key in it, so that pages can show it without signing in; it lasts a day or two, and
// the rights of who was given it are looked at anew.
func (v view) thumbnail(c *engine.Ctx, owner string, d *storage.Doc) string {
	if d.IsTrashed() {
		return ""
	}
	q := url.Values{"v": {export.Version(d)}}
	if prop[string](d, "deck:visibility") != "all" {
		const day = 24 * time.Hour
		until := strconv.FormatInt(c.Now.Truncate(day).Add(2*day).Unix(), 10)
		q.Set("key", fmt.Sprintf("%s.%s.%s", base64.RawURLEncoding.EncodeToString([]byte(c.As.Name)), until, sign(c.Tx, "thumbnail", d.ID(), c.As.Name, until)))
	}
	return v.address(owner, d) + "/thumbnail?" + q.Encode()
}

// thumbKeyOf returns whom a key was given; "" if it is none of ours or has ended.
func thumbKeyOf(tx *storage.Tx, d *storage.Doc, key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return ""
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	until, bad := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || bad != nil || !hmac.Equal([]byte(parts[2]), []byte(sign(tx, "thumbnail", d.ID(), string(name), parts[1]))) || !tx.Now().Before(time.Unix(until, 0)) {
		return ""
	}
	return string(name)
}
