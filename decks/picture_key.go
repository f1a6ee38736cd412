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
// name and the number, the time and a signature. Those rights are looked at anew whenever it is used.
func pictureKey(c *engine.Ctx, d *storage.Doc, opens string, until time.Time) string {
	end, number := strconv.FormatInt(until.Unix(), 10), strconv.FormatInt(c.As.ID, 10)
	return strings.Join([]string{
		base64.RawURLEncoding.EncodeToString([]byte(c.As.Name)), number, end, sign(c.Tx, opens, d.ID(), c.As.Name, number, end),
	}, ".")
}

// keyHolder returns whom a key was given, who has no name if it is none of ours or has ended.
func keyHolder(tx *storage.Tx, d *storage.Doc, opens, key string) (o storage.Owned) {
	parts := strings.Split(key, ".")
	if len(parts) != 4 {
		return o
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	number, odd := strconv.ParseInt(parts[1], 10, 64)
	until, bad := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || odd != nil || bad != nil || !tx.Now().Before(time.Unix(until, 0)) ||
		!hmac.Equal([]byte(parts[3]), []byte(sign(tx, opens, d.ID(), string(name), parts[1], parts[2]))) {
		return o
	}
	return storage.Owned{Owner: string(name), OwnerID: number}
}
