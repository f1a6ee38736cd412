package storage

import "catena/storage/fault"

// Query runs a query of the query language; parameters are bound, never pasted.
func (t *Tx) Query(src string, o QueryOptions) (*Page, error) {
	return nil, fault.Unavailable.Errorf("query: no planner")
}

// Select runs a query and returns its columns as rows.
func (t *Tx) Select(src string, o QueryOptions) (*Rows, error) {
	return nil, fault.Unavailable.Errorf("query: no planner")
}

// Explain says which index a query would use and why.
func (t *Tx) Explain(src string, o QueryOptions) (string, error) {
	return "", fault.Unavailable.Errorf("query: no planner")
}
