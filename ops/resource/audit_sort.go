package resource

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// moments are the fields that records are kept in the order of.
// Records are appended, so the order by any of these is the order of the log.
var moments = map[string]bool{"date": true, "eventDate": true, "id": true, "logDate": true}

// texts are the other fields that records can be sorted by.
var texts = map[string]func(e *storage.Entry) string{
	"category":      func(e *storage.Entry) string { return e.Category },
	"comment":       func(e *storage.Entry) string { return e.Comment },
	"docLifeCycle":  func(e *storage.Entry) string { return e.DocState },
	"docPath":       func(e *storage.Entry) string { return e.DocPath },
	"docType":       func(e *storage.Entry) string { return e.DocType },
	"docUUID":       func(e *storage.Entry) string { return e.DocID },
	"eventId":       func(e *storage.Entry) string { return e.Event },
	"principalName": func(e *storage.Entry) string { return e.User },
}

// maxSorted bounds the records that are read to be sorted.
// Sorting needs all of them in memory, for each page again: nothing is kept between two calls.
const maxSorted = maxPage

// sortable refuses fields that records do not have.
func sortable(by []storage.SortKey) error {
	for _, k := range by {
		if texts[k.Field] == nil && !moments[k.Field] {
			known := slices.AppendSeq(slices.Collect(maps.Keys(texts)), maps.Keys(moments))
			return fault.Invalid.Errorf("sortBy: audit records have no field %q%s", k.Field, fault.Perhaps(k.Field, slices.Values(known))).In("sortBy")
		}
	}
	return nil
}

// sorted returns a page of the records in an order they are not kept in, which is found by
// reading all of them.
func sorted(c *engine.Ctx, f storage.EntryFilter, by []storage.SortKey) (*storage.EntryPage, error) {
	want := f.PageOptions
	f.PageOptions = storage.PageOptions{Limit: maxSorted, CountLimit: -1}
	all, err := c.Tx.Entries(f)
	if err != nil {
		return nil, err
	}
	// A part of the records, sorted, would look like a complete answer.
	if all.HasNext {
		return nil, fault.Limit.Errorf("sortBy: more than %d records; sort by eventDate, or request fewer events", maxSorted).In("sortBy")
	}
	slices.SortStableFunc(all.Entries, func(a, b storage.Entry) int { return inOrder(&a, &b, by) })
	total := len(all.Entries)
	if want.Limit <= 0 {
		want.Limit = all.MaxPage
	}
	from := min(want.Offset, total)
	to := min(from+want.Limit, total)
	page := all.Page
	// There is no cursor: it would lead on in the order of the log.
	page.Offset, page.Limit, page.Total, page.More, page.HasNext, page.Next = want.Offset, want.Limit, total, false, to < total, ""
	return &storage.EntryPage{Entries: all.Entries[from:to], Page: page}, nil
}

func inOrder(a, b *storage.Entry, by []storage.SortKey) int {
	for _, k := range by {
		var n int
		if text := texts[k.Field]; text != nil {
			n = strings.Compare(text(a), text(b))
		} else {
			// Several records may have the same time; their numbers keep the order of two pages
			// consistent.
			n = cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
		}
		if k.Desc {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return 0
}
