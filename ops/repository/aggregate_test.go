package repository

import (
	"fmt"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
)

// groups are the numbers of the groups of an aggregate that are not empty.
func groups(page *storage.Page, name string) string {
	all, _ := page.Extra["aggregations"].(map[string]any)
	one, _ := all[name].(map[string]any)
	buckets, _ := one["buckets"].([]any)
	out := ""
	for _, b := range buckets {
		if m := b.(map[string]any); m["docCount"] != 0 {
			out += fmt.Sprintf("%v:%v ", m["key"], m["docCount"])
		}
	}
	return out
}

// Aggregates count what a search finds; a selection narrows the results and the other aggregates, not
// its own.
func TestAggregates(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		root, err := c.Tx.Root()
		for i, nature := range []string{"article", "article", "memo", ""} {
			if err != nil {
				return err
			}
			p := storage.Props{"dc:title": fmt.Sprint("n", i), "common:size": int64(i) * 200_000, "dc:subjects": []any{"art", "law"}[:i%3]}
			if nature != "" {
				p["dc:nature"] = nature
			}
			_, err = c.Tx.Create(root, "File", fmt.Sprint("n", i), p)
		}
		return err
	})
	w.Do("alice", func(c *engine.Ctx) error {
		for _, x := range []struct {
			named                          storage.Props
			total                          int
			nature, subjects, size, change string
		}{
			{nil, 4, "article:2 memo:1 ", "art:2 law:1 ", "tiny:1 small:3 ", "last24h:4 "},
			{storage.Props{"dc_nature_agg": `["article"]`}, 2, "article:2 memo:1 ", "art:1 ", "tiny:1 small:1 ", "last24h:2 "},
			{storage.Props{"dc_nature_agg": `["article"]`, "common_size_agg": `["small"]`}, 1, "article:1 memo:1 ", "art:1 ", "tiny:1 small:1 ", "last24h:1 "},
			{storage.Props{"dc_modified_agg": `["priorToLastYear"]`}, 0, "", "", "", "last24h:4 "},
			{storage.Props{"dc_creator": `["bob"]`}, 0, "", "", "", ""},
		} {
			c.Now = time.Now()
			page, err := pageProviderParams{Provider: "default_search", Named: x.named, Language: "NXQL", Quick: []string{"noFolder"}}.run(c, builtin())
			if err != nil {
				return err
			}
			got := []string{groups(page, "dc_nature_agg"), groups(page, "dc_subjects_agg"), groups(page, "common_size_agg"), groups(page, "dc_modified_agg")}
			want := []string{x.nature, x.subjects, x.size, x.change}
			if page.Total != x.total || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v: got %d %q, want %d %q", x.named, page.Total, got, x.total, want)
			}
			if quick := fmt.Sprint(page.Extra["quickFilters"]); quick != "[map[active:false name:mostRecent] map[active:true name:noFolder] map[active:false name:onlyValidated]]" {
				t.Errorf("quick filters %s", quick)
			}
		}
		return nil
	})
}

func TestAggregatesAreChecked(t *testing.T) {
	for _, y := range []tally{
		{Type: "terms"},
		{Field: "dc:title", Type: "terms?"},
		{Field: "common:size", Type: "range"},
		{Field: "common:size", Type: "range", Ranges: []bound{{From: "x"}}},
		{Field: "dc:modified", Type: "date_range", Ranges: []bound{{To: "yesterday"}}},
	} {
		if err := y.check(); err == nil {
			t.Errorf("%+v: accepted", y)
		}
	}
}
