package deck

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
)

// What keys open.
const (
	KeyFile      = "file"
	KeyThumbnail = "thumbnail"
)

// keyTimes are how long keys hold at most.
var keyTimes = map[string]time.Duration{KeyFile: FileKeyTime, KeyThumbnail: thumbnailKeyTime}

// FileKeyTime is how long a key of a file holds.
const FileKeyTime = 24 * time.Hour

// PictureKey lets an address open pictures of a deck without cookies, with the rights of who calls, until then: the
// name and the number, the time and a signature. Those rights are looked at again whenever it is used.
func PictureKey(c *engine.Ctx, d *storage.Doc, opens string, until time.Time) string {
	end, number := strconv.FormatInt(until.Unix(), 10), strconv.FormatInt(c.As.ID, 10)
	return strings.Join([]string{
		base64.RawURLEncoding.EncodeToString([]byte(c.As.Name)), number, end, Sign(c.Tx, opens, d.ID(), c.As.Name, number, end),
	}, ".")
}

// KeyHolder returns whom a key was given, who has no name if it is none of ours or has ended.
func KeyHolder(tx *storage.Tx, d *storage.Doc, opens, key string) (o storage.Owned) {
	parts := strings.Split(key, ".")
	if len(parts) != 4 {
		return o
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	number, odd := strconv.ParseInt(parts[1], 10, 64)
	until, bad := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || odd != nil || bad != nil || !storage.Recent(tx.Now(), time.Unix(until, 0).Add(-keyTimes[opens]), keyTimes[opens]) ||
		!hmac.Equal([]byte(parts[3]), []byte(Sign(tx, opens, d.ID(), string(name), parts[1], parts[2]))) {
		return o
	}
	return storage.Owned{Owner: string(name), OwnerID: number}
}

// Sign makes a text of 24 bytes that only this server can make of parts.
func Sign(tx *storage.Tx, purpose string, parts ...string) string {
	m := hmac.New(sha256.New, tx.Repo().Secret("deck "+purpose))
	var room [128]byte
	b := room[:0]
	for _, part := range parts {
		b = append(append(strconv.AppendInt(b, int64(len(part)), 10), ':'), part...)
	}
	m.Write(b)
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:24])
}
