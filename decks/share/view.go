package share

import (
	"fmt"
	"strings"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

// The log of views of each link, and the notices of each owner. Both keep the latest only.
const (
	viewTable   = "deck-views"   // deck's id "/" link "/" number of the view
	noticeTable = "deck-notices" // owner "/" number
	keptViews   = 1000           // of a link
	keptNotices = 1000           // of an owner
	maxAgent    = 200            // characters kept of what a viewer's program says
)

// viewRow is one view through a link.
type viewRow struct {
	At              time.Time
	Agent, Referrer string `json:",omitempty"`
}

// viewKey numbers the views of a link from 1, so the row to drop is known without a scan.
func viewKey(doc string, id, view int64) string { return fmt.Sprintf("%s/%019d/%019d", doc, id, view) }

// bots are parts of the names of programs that open links by themselves.
// The previews that messengers make of a link would otherwise be its first view, and notify the owner.
// Matching is by substring of the name in lower case.
var bots = []string{
	"bot", "crawl", "spider", "slurp", "preview", "facebookexternalhit", "whatsapp", "telegram", "embedly", "skypeuri",
	"vkshare", "curl/", "wget/", "python-requests", "python-urllib", "go-http-client", "okhttp", "headless", "monitor", "lighthouse",
	"mattermost", "bitlybot", "iframely", "outbrain", "pinterest", "quora link", "w3c_validator", "safelinks", "scanner",
}

// automatic reports whether a viewer's program says that nobody is looking.
func automatic(agent string) bool {
	agent = strings.ToLower(agent)
	for _, bot := range bots {
		if strings.Contains(agent, bot) {
			return true
		}
	}
	return false
}

// count notes a view. Of the first one the owner hears: link, event, notice and mail are
// written in one transaction, so that it is the first only once.
func (p openShareParams) count(c *engine.Ctx, d *storage.Doc, l *link) error {
	l.Views++
	first := l.FirstViewed.IsZero()
	if first {
		l.FirstViewed = c.Now
	}
	if err := l.save(c, d); err != nil {
		return err
	}
	views := c.Tx.Table(viewTable)
	row := viewRow{At: c.Now, Agent: short(p.Agent), Referrer: short(p.Referrer)}
	if err := views.Put(viewKey(d.ID(), l.ID, l.Views), row); err != nil {
		return err
	}
	if l.Views > keptViews {
		if err := views.Delete(viewKey(d.ID(), l.ID, l.Views-keptViews)); err != nil {
			return err
		}
	}
	if !first {
		return nil
	}
	err := c.Tx.Fire(storage.Event{Name: "share_link.first_viewed", Doc: d, Extra: map[string]any{"link": l.ID, "deck": deck.Number(d), "name": l.Name, "owner": l.Owner}})
	if err != nil || !l.Notify {
		return err
	}
	return l.notify(c, d, p.Base)
}

// short bounds what comes from a header of the request, which may hold any bytes; rows hold UTF-8.
func short(s string) string {
	if r := []rune(s); len(r) > maxAgent {
		s = string(r[:maxAgent])
	}
	return strings.ToValidUTF8(s, "")
}

// remove deletes a link, its token and its log.
func (l *link) remove(tx *storage.Tx, d *storage.Doc) error {
	views := tx.Table(viewTable)
	prefix := linkKey(d.ID(), l.ID)
	for key := range views.Scan(prefix+"/", prefix+"0", false, keptViews+1) {
		if err := views.Delete(key); err != nil {
			return err
		}
	}
	if err := tx.Table(tokenTable).Delete(tokenKey(l.token(tx, d.ID()))); err != nil {
		return err
	}
	return tx.Table(linkTable).Delete(prefix)
}

// Forget removes the links of a deck that is gone.
func Forget(tx *storage.Tx, d *storage.Doc) error {
	for _, raw := range tx.Table(linkTable).Scan(d.ID()+"/", d.ID()+"0", false, maxLinks) {
		l, err := deck.ReadRow[link](raw)
		if err == nil {
			err = l.remove(tx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
