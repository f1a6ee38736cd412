package storage

import (
	"cmp"
	"fmt"
)

// SetCosts makes the planner choose as if the repository were large.
func (r *Repo) SetCosts(sorted, few, subtree, known, loads, factor int) {
	r.costs.sorted, r.costs.few, r.costs.subtree = sorted, few, subtree
	r.costs.known, r.costs.loads, r.costs.factor = known, loads, factor
}

// IndexProblems compares the index rows with what documents ask for.
func (t *Tx) IndexProblems() (problems []string, err error) {
	want := map[string]string{}
	for row, err := range t.kv.Scan(prefix([]byte{spaceTree})) {
		if err != nil {
			return nil, err
		}
		if n, err := parseNode(row.Value); err == nil && n.flags&flagTomb != 0 {
			continue
		}
		d, err := t.load(indexID(row.Key))
		if err != nil || d == nil {
			return nil, cmp.Or(err, fmt.Errorf("no document for %x", row.Key))
		}
		x, err := d.indexRows()
		if err != nil {
			return nil, err
		}
		for _, row := range x.rows {
			want[string(row.key())] = string(row.value())
		}
	}
	blobs := string(blobRows)
	for row, err := range t.kv.Scan(prefix([]byte{spaceIndex})) {
		if err != nil {
			return nil, err
		}
		key := string(row.Key)
		if len(key) >= len(blobs) && key[:len(blobs)] == blobs {
			continue
		}
		if cover, ok := want[key]; !ok || cover != string(row.Value) {
			problems = append(problems, fmt.Sprintf("row %q: %q, want %q", key, row.Value, cover))
		}
		delete(want, key)
	}
	for key := range want {
		problems = append(problems, fmt.Sprintf("row %q is missing", key))
	}
	return problems, nil
}

// IndexPrefix begins the keys of an index.
func (r *Repo) IndexPrefix(name string) []byte { return r.numbers.indexPrefix(name) }
