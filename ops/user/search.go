package user

import (
	"encoding/json"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// The bounds of a search.
const (
	maxFound = 1_000
	maxRead  = 100_000
)

// search reads the rows of a table and returns the names of those that pick takes.
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
	return names, nil
}

// matches reports whether one of the texts holds what is looked for, in any case. A star,
// or nothing, is in all of them.
func matches(q string, texts ...string) bool {
	if q = strings.ToLower(strings.TrimSpace(q)); q == "" || q == "*" {
		return true
	}
	q = strings.Trim(q, "*%")
	for _, s := range texts {
		if strings.Contains(strings.ToLower(s), q) {
			return true
		}
	}
	return false
}
