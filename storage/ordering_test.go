package storage_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage"
	"catena/storage/schema"
	"catena/storage/search"
)

// itemTypes declare a type as a user would, whose documents are found and ordered by three properties.
const itemTypes = `
schemas:
  item:
    fields:
      status: {type: string, index: true}
      priority: {type: long, index: true}
      rank: {type: long, index: true}
      shelf: {type: string, index: sparse}
      note: string
types:
  Item: {parent: File, schemas: [item]}
`

// withTypes adds declarations to those of every repository.
func withTypes(t testing.TB, yaml string) func(*storage.Config) {
	return func(c *storage.Config) {
		c.Types = must(schema.Load(schema.Defaults(), fstest.MapFS{"more.yaml": {Data: []byte(yaml)}}))(t)
	}
}

// orderKey returns text in the order of the first field of ORDER BY.
func orderKey(d *storage.Doc, src string) string {
	_, by, _ := strings.Cut(src, "ORDER BY ")
	by, _, _ = strings.Cut(by, ",")
	field, desc := strings.CutSuffix(by, " DESC")
	v, _ := d.Get(field)
	n, ok := v.(int64)
	switch {
	case v == nil && desc:
		return "z"
	case v == nil:
		return ""
	case !ok:
		n = 0
		for _, c := range fmt.Sprintf("%-6.6s", v) {
			n = n<<7 | int64(c)
		}
	}
	if desc {
		n = 1<<50 - n
	}
	return fmt.Sprintf("%016d", n)
}

// TestIndexesOfBefore opens a repository whose indexes have no rows for documents without a value, as those of earlier
// versions: they are used as they are, and completed.
func TestIndexesOfBefore(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	for i := range 6 {
		p := storage.Props{}
		if i%2 == 0 {
			p["item:rank"] = int64(i)
		}
		w.make(fmt.Sprintf("/default-domain/workspaces/n%d", i), "Item", p)
	}
	if err := w.ForgetNulls(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, complete := range []bool{false, true} {
		search.SetCosts(w.Repo, search.Costs{Known: 10, Loads: 10, Factor: 10})
		w.view(w.System(), func(tx *storage.Tx) error {
			var got string
			p, err := search.Query(tx, "SELECT * FROM Item ORDER BY item:rank DESC", search.Options{})
			if err != nil {
				return err
			}
			for _, d := range p.Docs {
				got += d.Name()
			}
			plan, err := search.Explain(tx, "SELECT * FROM Item ORDER BY item:rank DESC", search.Options{})
			if got != "n4n2n0n5n3n1" || strings.Contains(plan, "without item:rank") == complete {
				t.Errorf("complete %t: %s\n%s", complete, got, plan)
			}
			return err
		})
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		problems, err := tx.IndexProblems()
		if len(problems) > 0 {
			t.Error(problems)
		}
		return err
	})
}

// TestOrderOrSort: documents are read along the order of an index as long as that promises to cost less than sorting what
// another index finds, and what was read is little if it does not.
func TestOrderOrSort(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.many(3000, func(i int) (string, string, string, storage.Props) {
		status := []string{"open", "approved"}[i%2]
		if i >= 2000 && i < 2900 {
			status = "late"
		}
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{"item:status": status, "item:note": fmt.Sprint("n", i%4), "item:rank": int64(i)}
	})
	for _, test := range []struct {
		src   string
		count int
		docs  int // at most this many are read
	}{
		{"SELECT * FROM Item WHERE item:status = 'approved' AND item:note = 'n1' ORDER BY item:rank", -1, 250},
		{"SELECT * FROM Item WHERE item:status = 'late' AND item:note = 'n1' ORDER BY item:rank", -1, 900 + 900/4 + 1},
		{"SELECT * FROM Item WHERE item:status = 'late' AND item:note = 'n1' ORDER BY item:rank", 1000, 900},
	} {
		w.view(user("ann"), func(tx *storage.Tx) error {
			o := search.Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: test.count}}
			plan, err := search.Explain(tx, test.src, o)
			if err != nil {
				return err
			}
			var rows, docs int
			if _, after, ok := strings.Cut(plan, "\nread: "); !ok {
				t.Errorf("%s: %s", test.src, plan)
			} else if _, err := fmt.Sscanf(after, "%d rows, %d documents", &rows, &docs); err != nil || docs > test.docs {
				t.Errorf("%s: %v, %d documents read, want at most %d\n%s", test.src, err, docs, test.docs, plan)
			}
			p, err := search.Query(tx, test.src, o)
			if err == nil && len(p.Docs) != 50 {
				t.Errorf("%s: %d documents", test.src, len(p.Docs))
			}
			return err
		})
	}
}
