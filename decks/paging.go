package decks

import (
	"errors"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

const (
	maxPerPage = 100
	maxTotal   = 100_000
)

// paging is which part of a list is wanted.
type paging struct {
	Page    int64 `json:"page" default:"1" min:"1" doc:"Number of the page, from 1."`
	PerPage int64 `json:"per_page" alias:"perPage" default:"20" min:"1" max:"100" doc:"Items a page, 1 to 100."`
}

// check reports what is out of range.
func (p paging) check() error {
	var errs []error
	if p.Page < 1 || p.Page > maxTotal {
		errs = append(errs, invalid("page", fault.CodeOutOfRange, "page: %d is not from 1 to %d", p.Page, maxTotal))
	}
	if p.PerPage < 1 || p.PerPage > maxPerPage {
		errs = append(errs, invalid("per_page", fault.CodeOutOfRange, "per_page: %d is not from 1 to %d", p.PerPage, maxPerPage))
	}
	return errors.Join(errs...)
}

// folder returns the page of a folder's decks that have a property they are listed by, the
// last first, and how many there are.
func (p paging) folder(tx *storage.Tx, folder, by string) (storage.Docs, counts, error) {
	if err := p.check(); err != nil {
		return nil, counts{}, err
	}
	total, err := counted(tx, folder)
	if err != nil {
		return nil, counts{}, err
	}
	l := deckList{by, folder}
	below, offset, err := l.leap(tx, l.of(total), (p.Page-1)*p.PerPage)
	if err != nil {
		return nil, counts{}, err
	}
	query := "SELECT * FROM Deck WHERE " + by + " >= ? AND " + by + " < ?" + live + " ORDER BY " + by + " DESC"
	page, err := tx.Query(query, storage.QueryOptions{Args: []any{folder + "/", below}, PageOptions: storage.PageOptions{
		Offset: int(offset), Limit: int(p.PerPage), CountLimit: -1,
	}})
	if err != nil {
		return nil, counts{}, err
	}
	return page.Docs, total, nil
}

// answer is a page as the service's lists look.
func (p paging) answer(data []any, total int) map[string]any {
	return map[string]any{
		"data": data,
		"meta": map[string]any{"page": p.Page, "per_page": p.PerPage, "total": int64(total)},
	}
}

// none is the page of a list with nothing in it, if nothing is wrong.
func (p paging) none(err error) (map[string]any, error) {
	if err = errors.Join(err, p.check()); err != nil {
		return nil, err
	}
	return p.answer([]any{}, 0), nil
}

// instantOf is a property that holds a moment, null without one.
func instantOf(d *storage.Doc, xpath string) any {
	return stampOrNone(storage.Prop[time.Time](d, xpath))
}
