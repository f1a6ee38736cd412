package deck

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/storage"
	"catena/storage/fault"

	"golang.org/x/text/unicode/norm"
)

const maxSlug = 80

// SlugOf makes a title into a part of an address: letters without accents, digits, hyphens.
func SlugOf(title string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(title)) {
		switch {
		case b.Len() >= 4*maxSlug: // composed again, it is still longer than a slug
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := norm.NFC.String(b.String())
	// Cut between letters, not between the parts that a letter was taken apart into.
	for end, r := range slug {
		if end+utf8.RuneLen(r) > maxSlug {
			slug = slug[:end]
			break
		}
	}
	if slug = strings.Trim(slug, "-"); slug != "" {
		return slug
	}
	return "deck"
}

// FreeSlug returns a slug that no other deck in the folder has, trashed ones included.
func FreeSlug(tx *storage.Tx, folder, title, self string) (string, error) {
	base := SlugOf(title)
	slug := base
	for range 10 {
		d, err := deckAt(tx, folder, slug)
		if err != nil {
			return "", err
		}
		if d == nil || d.ID() == self {
			return slug, nil
		}
		id := tx.NewID()
		slug = base + "-" + id[len(id)-6:]
	}
	return "", fault.Conflict.Errorf("slug %s: is taken", base)
}

// FreeSlugIn returns a slug for a deck that no other in its folder has.
func FreeSlugIn(tx *storage.Tx, d *storage.Doc, title string) (string, error) {
	return FreeSlug(AsSystem(tx), d.ParentID(), title, d.ID())
}
