package deck

import (
	"encoding/json"
	"errors"

	"catena/storage"
	"catena/storage/fault"
)

const (
	// MaxPerPage is the largest number of decks on a page.
	MaxPerPage = 100
	maxPage    = 1 << 50 // beyond any list; no offset overflows
)

// Paging is which part of a list is wanted.
type Paging struct {
	Page    int64 `json:"page" default:"1" min:"1" doc:"Number of the page, starting at 1."`
	PerPage int64 `json:"per_page" alias:"perPage" default:"20" min:"1" max:"100" doc:"Items per page, 1 to 100."`
}

// Check reports what is out of range.
func (p Paging) Check() error {
	var errs []error
	if p.Page < 1 {
		errs = append(errs, Invalid("page", fault.CodeOutOfRange, "page: must be at least 1, not %d", p.Page))
	}
	if p.PerPage < 1 || p.PerPage > MaxPerPage {
		errs = append(errs, Invalid("per_page", fault.CodeOutOfRange, "per_page: must be between 1 and %d, not %d", MaxPerPage, p.PerPage))
	}
	return errors.Join(errs...)
}

// Offset is how many items of the list come before the page.
func (p Paging) Offset() int64 { return (min(p.Page, maxPage) - 1) * p.PerPage }

// Answer is a page as the service's lists look.
func (p Paging) Answer(data []any, total int) map[string]any {
	return map[string]any{
		"data": data,
		"meta": map[string]any{"page": p.Page, "per_page": p.PerPage, "total": int64(total)},
	}
}

// Empty is the page of a list with nothing in it, if nothing is wrong.
func (p Paging) Empty(err error) (map[string]any, error) {
	if err = errors.Join(err, p.Check()); err != nil {
		return nil, err
	}
	return p.Answer([]any{}, 0), nil
}

// Rows returns a page of at most limit rows of a table below a prefix, last first.
func (p Paging) Rows(table storage.Table, prefix string, limit int, shape func(json.RawMessage) (any, error)) (map[string]any, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	data, total := []any{}, 0
	for _, raw := range table.Scan(prefix, prefix+"~", true, limit) {
		if total++; int64(total) <= p.Offset() || len(data) >= int(p.PerPage) {
			continue
		}
		row, err := shape(raw)
		if err != nil {
			return nil, fault.Internal.Errorf("row: %w", err)
		}
		data = append(data, row)
	}
	return p.Answer(data, total), nil
}

// ReadRow decodes a row that a scan found.
func ReadRow[T any](raw json.RawMessage) (T, error) {
	var row T
	err := json.Unmarshal(raw, &row)
	return row, err
}
