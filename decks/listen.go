package decks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// Listen keeps the rules of decks also where they are changed as documents: HTML is made
// harmless before it is written, every deck has a number and an address of its own, its
// visibility is what its permissions say, and what belongs to a deleted deck goes with it. It
// is called once, before the repository is used.
func Listen(r *storage.Repo) { r.OnEvent(heard) }

func heard(tx *storage.Tx, e storage.Event) error {
	if e.Doc == nil || e.Doc.Type().Name != "Deck" || e.Doc.IsProxy() || e.Doc.IsVersion() {
		return nil
	}
	d := e.Doc
	switch e.Name {
	case "aboutToCreate":
		if number(d) == 0 {
			if err := newNumber(tx, d); err != nil {
				return err
			}
		}
		if _, err := relist(d); err != nil {
			return err
		}
		return purify(tx, d)
	case "beforeDocumentModification":
		if err := stay(tx, d); err != nil {
			return err
		}
		return purify(tx, d)
	case "documentCreated":
		if err := recount(tx, d, [2]string{}, false); err != nil {
			return err
		}
		if v := prop[string](d, "deck:visibility"); v != "self" {
			return reveal(tx, d, v)
		}
	case "documentModified":
		if slices.Contains(e.Changed, "deck:visibility") {
			return reveal(tx, d, prop[string](d, "deck:visibility"))
		}
	default:
		return moved(tx, d, e.Name)
	}
	return nil
}

// moved hears of decks that are somewhere else now.
func moved(tx *storage.Tx, d *storage.Doc, event string) error {
	switch event {
	case "documentCreatedByCopy":
		if err := newNumber(tx, d); err != nil {
			return err
		}
		if _, err := relist(d); err != nil {
			return err
		}
		if err := recount(tx, d, [2]string{}, false); err != nil {
			return err
		}
		return keep(tx, d)
	case "documentMoved":
		slug, err := freeSlugIn(tx, d, prop[string](d, "deck:slug"))
		if err == nil {
			err = d.Set("deck:slug", slug)
		}
		if err != nil {
			return err
		}
		return relisted(tx, d)
	case "beforeRestoringDocument":
		return remember(tx, d)
	case "documentRestored":
		return remind(tx, d)
	case "documentTrashed":
		if err := d.Set("deck:trashed_at", tx.Now()); err != nil {
			return err
		}
		return relisted(tx, d)
	case "documentUntrashed":
		if err := d.Set("deck:trashed_at", nil); err != nil {
			return err
		}
		return relisted(tx, d)
	case "documentRemoved":
		if err := recount(tx, d, [2]string{prop[string](d, "deck:listing"), prop[string](d, "deck:binned")}, true); err != nil {
			return err
		}
		return forget(tx, d)
	}
	return nil
}

// stay keeps what a deck is found by as it is, whatever was set. A slug that changes has to be
// free.
func stay(tx *storage.Tx, d *storage.Doc) error {
	if slug := prop[string](d, "deck:slug"); prop[string](d, "deck:place") != d.ParentID()+"/"+slug {
		free, err := freeSlugIn(tx, d, slug)
		if err != nil {
			return err
		}
		if free != slug {
			return fault.Exists.Errorf("slug %.60q: is taken, or no slug; %s is free", slug, free).In("deck:slug")
		}
	}
	_, err := relist(d)
	return err
}

// asSystem is the transaction of the server, acting for whoever asks.
func asSystem(tx *storage.Tx) *storage.Tx {
	system := tx.Repo().System()
	system.Actor = or(tx.Principal().Actor, tx.Principal().Name)
	return tx.As(system)
}

// keep saves what the service itself notes on a deck.
func keep(tx *storage.Tx, d *storage.Doc) error {
	_, err := asSystem(tx).Save(d, storage.SaveOptions{Quiet: true})
	return err
}

// newNumber gives a deck a number and an address that no other has.
func newNumber(tx *storage.Tx, d *storage.Doc) error {
	n, err := tx.Next("decks")
	if err != nil {
		return err
	}
	if err := d.Set("deck:number", n); err != nil {
		return err
	}
	slug, err := freeSlugIn(tx, d, or(d.Title(), d.Name()))
	if err != nil {
		return err
	}
	return d.Set("deck:slug", slug)
}

// freeSlugIn returns a slug for a deck that no other in its folder has.
func freeSlugIn(tx *storage.Tx, d *storage.Doc, title string) (string, error) {
	return freeSlug(asSystem(tx), d.ParentID(), title, d.ID())
}

// purify makes HTML harmless that did not come through here, and notes what is in it.
func purify(tx *storage.Tx, d *storage.Doc) error {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil || hmac.Equal([]byte(prop[string](d, "deck:clean")), []byte(cleanMark(tx.Repo(), b))) {
		return err
	}
	text, err := b.Bytes(maxHTML)
	if err != nil {
		return err
	}
	f := fields{}
	src := string(text)
	f.Data = &src
	props := storage.Props{}
	if _, err := f.applyHTML(tx, props); err != nil {
		return err
	}
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
	}
	return nil
}

// cleanMark is what deck:clean holds for HTML that was made harmless here.
func cleanMark(r *storage.Repo, b *storage.Blob) string {
	m := hmac.New(sha256.New, r.Secret("deck clean "+cleanRules))
	m.Write([]byte(b.Digest))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:24])
}

// reveal gives others the right to read a deck, as its visibility says.
func reveal(tx *storage.Tx, d *storage.Doc, visibility string) error {
	var entries []storage.ACE
	switch visibility {
	case "all":
		entries = []storage.ACE{{User: "Everyone", Permission: "Read", Granted: true}}
	case "team":
		u, err := tx.User(ownerName(tx, d))
		if err != nil {
			return err
		}
		if u.AccountType != "team" || u.TeamID == 0 {
			return errNoTeam()
		}
		entries = []storage.ACE{{User: teamGroup(u.TeamID), Permission: "Read", Granted: true}}
	}
	_, err := tx.SetACL(d, "visibility", entries)
	return err
}

func errNoTeam() error {
	return fault.Denied.Errorf("visibility team: only team accounts have it").In("visibility").WithCode("plan_required")
}

// ownerName is whose deck a document is: the folder's it is in, or of a deck somewhere else
// whoever made it.
func ownerName(tx *storage.Tx, d *storage.Doc) string {
	name, ok := strings.CutPrefix(d.Path(), "/"+homes+"/")
	folder, _, inside := strings.Cut(name, "/")
	if user, err := url.PathUnescape(folder); ok && inside && err == nil {
		return user
	}
	return or(prop[string](d, "dc:creator"), tx.Principal().Name)
}

// forget removes the share links of a deck that is gone.
func forget(tx *storage.Tx, d *storage.Doc) error {
	tx = asSystem(tx)
	for _, raw := range tx.Table(linkTable).Scan(d.ID()+"/", d.ID()+"0", false, maxLinks) {
		l, err := readRow[link](raw)
		if err == nil {
			err = l.remove(tx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
