package deck

import (
	"net/url"
	"time"

	"catena/engine"
	"catena/storage"
)

const thumbnailKeyTime = 48 * time.Hour

// Thumbnail is the address of the picture of a deck's first slide. What is not for everyone,
// such as a deck in the trash, has a key in it, so that pages can show it without signing in; it lasts a day or two, and
// the rights of who was given it are looked at again.
func (v View) Thumbnail(c *engine.Ctx, owner string, d *storage.Doc) string {
	q := url.Values{"v": {AppearanceVersion(d)}}
	if storage.Prop[string](d, "deck:visibility") != "all" || d.IsTrashed() {
		q.Set("key", PictureKey(c, d, KeyThumbnail, c.Now.Truncate(thumbnailKeyTime/2).Add(thumbnailKeyTime)))
	}
	return v.Address(owner, d) + "/thumbnail?" + q.Encode()
}
