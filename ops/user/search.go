package user

import (
	"encoding/json"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// The bounds of a search. It is not paged, so it finds at most one page of the largest size
// (limit-page by default), and it reads as many rows of the table as a query may read without an
// index by default.
const (
	maxFound = 1_000
	maxRead  = 100_000
)

// search reads the rows of a table and returns the names of those that pick takes.
// A search that finds too much fails instead of returning a part: the caller could not tell that
// something is missing.
func search(t storage.Table, pick func(name string, row json.RawMessage) (bool, error)) ([]string, error) {
	var names []string
	read := 0
	for name, row := range t.Scan("", "", false, 0) {
		if read++; read > maxRead {
			return nil, fault.Limit.Errorf("search: more than %d entries read", maxRead).WithCode(fault.CodeQueryTooCostly)
		}
		ok, err := pick(name, row)
		if err != nil {
			return nil, err
		}
		if ok && len(names) == maxFound {
			return nil, fault.Limit.Errorf("search: more than %d results", maxFound).WithCode(fault.CodeSearchTooWide).In("q")
		}
		if ok {
			names = append(names, name)
		}
	}
	return people.InOrder(names), nil
}

// matches reports whether one of the texts holds what is looked for, in any case. A star,
// or nothing, is in all of them.
func matches(q string, texts ...string) bool {
	if q = strings.ToLower(strings.TrimSpace(q)); q == "" || q == "*" {
		return true
	}
	// Both mark a prefix in the platform; a text that may stand anywhere needs no mark.
	q = strings.Trim(q, "*%")
	for _, s := range texts {
		if strings.Contains(strings.ToLower(s), q) {
			return true
		}
	}
	return false
}
