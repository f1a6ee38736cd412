package decks

import (
	"crypto/hmac"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
)

// What keys open.
const (
	keyFile      = "file"
	keyThumbnail = "thumbnail"
)

// pictureKey lets an address open pictures of a deck without cookies, with the rights of who calls, until then: the
// name, the time and a signature. Those rights are looked at anew whenever it is used.
func pictureKey(c *engine.Ctx, d *storage.Doc, opens string, until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	return base64.RawURLEncoding.EncodeToString([]byte(c.As.Name)) + "." + end + "." + sign(c.Tx, opens, d.ID(), c.As.Name, end)
}

// keyHolder returns whom a key was given; "" if it is none of ours or has ended.
func keyHolder(tx *storage.Tx, d *storage.Doc, opens, key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return ""
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	until, bad := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || bad != nil || !hmac.Equal([]byte(parts[2]), []byte(sign(tx, opens, d.ID(), string(name), parts[1]))) ||
		!tx.Now().Before(time.Unix(until, 0)) {
		return ""
	}
	return string(name)
}
