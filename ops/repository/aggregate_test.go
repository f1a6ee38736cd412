package repository

import (
	"fmt"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
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
			p := storage.Props{"dc:title": fmt.Sprint("n", i), "file:content": blob.FromBytes("a.txt", "text/plain", make([]byte, i*200_000)), "dc:subjects": []any{"art", "law"}[:i%3]}
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
			page, err := pageProviderParams{Provider: "default_search", Named: x.named, Language: "NXQL", Quick: []string{"noFolder"}}.run(c, builtin)
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

// TestHistograms groups numbers and dates by steps; a step is chosen by its key.
func TestHistograms(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		root, err := c.Tx.Root()
		for i, day := range []string{"2026-01-01", "2026-03-31", "2026-04-01", "2027-01-03"} {
			if err != nil {
				return err
			}
			issued, _ := time.Parse(time.DateOnly, day)
			_, err = c.Tx.Create(root, "File", fmt.Sprint("n", i), storage.Props{"common:size": int64(i*40 - 10), "dc:issued": issued})
		}
		return err
	})
	p := &provider{From: "File", Aggregates: map[string]aggregate{
		"size": {Field: "common:size", Type: "histogram", Step: "50"}, "sizes": {Field: "common:size", Type: "terms"},
		"quarter": {Field: "dc:issued", Type: "date_histogram", Step: "quarter"}, "week": {Field: "dc:issued", Type: "date_histogram", Step: "week"},
		"year": {Field: "dc:issued", Type: "date_histogram", Step: "year"},
	}}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	w.Do("alice", func(c *engine.Ctx) error {
		for _, x := range []struct {
			named                              storage.Props
			total                              int
			size, sizes, quarter, weeks, years string
		}{
			{nil, 4, "-50:1 0:1 50:1 100:1 ", "-10:1 110:1 30:1 70:1 ", "2026-01:2 2026-04:1 2027-01:1 ", "2025-12-29:1 2026-03-30:2 2026-12-28:1 ", "2026:3 2027:1 "},
			{storage.Props{"quarter": `["2026-01"]`}, 2, "-50:1 0:1 ", "-10:1 30:1 ", "2026-01:2 2026-04:1 2027-01:1 ", "2025-12-29:1 2026-03-30:1 ", "2026:2 "},
			{storage.Props{"size": `["100"]`}, 1, "-50:1 0:1 50:1 100:1 ", "110:1 ", "2027-01:1 ", "2026-12-28:1 ", "2027:1 "},
			{storage.Props{"sizes": `["70"]`}, 1, "50:1 ", "-10:1 110:1 30:1 70:1 ", "2026-04:1 ", "2026-03-30:1 ", "2026:1 "},
			{storage.Props{"year": `["never"]`}, 0, "", "", "", "", "2026:3 2027:1 "},
		} {
			page, err := pageProviderParams{Provider: "p", Named: x.named, Language: "NXQL"}.run(c, func() *Providers { return &Providers{byName: map[string]*provider{"p": p}} })
			if err != nil {
				return err
			}
			got := fmt.Sprint(groups(page, "size"), groups(page, "sizes"), groups(page, "quarter"), groups(page, "week"), groups(page, "year"))
			if want := fmt.Sprint(x.size, x.sizes, x.quarter, x.weeks, x.years); page.Total != x.total || got != want {
				t.Errorf("%v: got %d %q, want %d %q", x.named, page.Total, got, x.total, want)
			}
		}
		return nil
	})
}

func TestAggregatesAreChecked(t *testing.T) {
	for _, y := range []aggregate{
		{Type: "terms"},
		{Field: "dc:title", Type: "terms?"},
		{Field: "common:size", Type: "range"},
		{Field: "common:size", Type: "range", Ranges: []bound{{From: "x"}}},
		{Field: "dc:modified", Type: "date_range", Ranges: []bound{{To: "yesterday"}}},
		{Field: "dc:modified", Type: "date_histogram", Step: "fortnight"},
		{Field: "common:size", Type: "histogram", Step: "0"},
	} {
		if err := y.check(); err == nil {
			t.Errorf("%+v: accepted", y)
		}
	}
}
