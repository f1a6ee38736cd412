package deck

import (
	"strings"

	"catena/decks/field"
	"catena/storage"
	"catena/storage/fault"
)

// Number returns the number of a deck.
func Number(d *storage.Doc) int64 { return storage.Prop[int64](d, "deck:number") }

// Version counts how often a deck was changed.
func Version(d *storage.Doc) string {
	token := d.ChangeToken()
	return token[strings.LastIndexByte(token, '-')+1:]
}

// MatchVersion refuses unless one of the entity tags is of the deck's present version, in
// whatever revision it was read.
func MatchVersion(d *storage.Doc, tags string) error {
	if tags == "" {
		return nil
	}
	for tag := range strings.SplitSeq(tags, ",") {
		tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
		n, _, _ := strings.Cut(tag, "-")
		if n == "*" || n == Version(d) {
			return nil
		}
	}
	return fault.Conflict.Errorf("deck %d: was changed in the meantime", Number(d)).WithCode(fault.CodePreconditionFailed)
}

// HasTag reports whether an entity tag is among those of a list.
func HasTag(tags, tag string) bool {
	for item := range strings.SplitSeq(tags, ",") {
		if item = strings.TrimPrefix(strings.TrimSpace(item), "W/"); item == "*" || item == tag {
			return true
		}
	}
	return false
}

// TagOf is the entity tag of a deck as a revision shows it, with its HTML or without.
func TagOf(d *storage.Doc, in field.Revision, withHTML bool) string {
	tag := Version(d)
	switch in {
	case field.A:
		tag += "-a"
	case field.B:
		tag += "-b"
	default:
		tag += "-u"
	}
	if withHTML && in&field.A != 0 {
		tag += "h"
	}
	return `"` + tag + `"`
}
