package decks

import (
	"net/url"
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
	if storage.Prop[string](d, "deck:visibility") != "all" {
		const day = 24 * time.Hour
		q.Set("key", pictureKey(c, d, keyThumbnail, c.Now.Truncate(day).Add(2*day)))
	}
	return v.address(owner, d) + "/thumbnail?" + q.Encode()
}
