package search

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
)

type object = map[string]any

// A date is found by what the search answers as its key, by the text beside it, and by its day.
func TestTermsOfDates(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		at := time.Date(2026, 3, 1, 12, 30, 0, 250e6, time.UTC)
		w.Make(c, "/", "File", "a", storage.Props{"dc:issued": at})
		w.Make(c, "/", "File", "b", storage.Props{"dc:issued": at.AddDate(0, 0, 1)})
		w.Make(c, "/", "File", "c", storage.Props{"dc:title": "2026-03-01"})
		found, err := aggregateParams{Aggs: object{"when": object{"terms": object{"field": "dc:issued", "order": object{"_key": "asc"}}}}}.run(c, engine.Void{})
		if err != nil {
			t.Fatal(err)
		}
		buckets := found["aggregations"].(object)["when"].(object)["buckets"].([]any)
		if len(buckets) != 2 {
			t.Fatalf("got %v", buckets)
		}
		first := buckets[0].(object)
		if first["key"] != at.UnixMilli() || first["key_as_string"] != "2026-03-01T12:30:00.250Z" {
			t.Errorf("got %v", first)
		}
		for _, test := range []struct {
			term any
			want int
		}{
			{first["key"], 1},
			{float64(at.UnixMilli()), 1},
			{first["key_as_string"], 1},
			{"2026-03-01T13:30:00.25+01:00", 1},
			{"2026-03-01", 1},
			{[]any{"2026-03-01", "2026-03-02"}, 2},
			{"2026-03-01T12:30:00Z", 0},
			{"2026-03-03", 0},
			{"soon", 0},
			{int64(2026), 0},
		} {
			got, err := aggregateParams{Query: object{"terms": object{"dc:issued": test.term}}}.run(c, engine.Void{})
			if err != nil {
				t.Fatal(err)
			}
			if n := got["hits"].(object)["total"].(object)["value"]; n != test.want {
				t.Errorf("%v: got %v, want %d", test.term, n, test.want)
			}
		}
		// A text that looks like a date stays a text.
		got, err := aggregateParams{Query: object{"term": object{"dc:title": "2026-03-01"}}}.run(c, engine.Void{})
		if n := got["hits"].(object)["total"].(object)["value"]; err != nil || n != 1 {
			t.Errorf("got %v, %v", n, err)
		}
		return nil
	})
}

func TestAggregationsThatAreWrong(t *testing.T) {
	histogram := func(bounds any) object {
		return object{"date_histogram": object{"field": "dc:created", "interval": "day", "extended_bounds": object{"min": bounds, "max": bounds}}}
	}
	for _, test := range []struct {
		agg  object
		want string
	}{
		{object{"terms": object{"field": "a"}, "avg": object{"field": "a"}, "sum": object{}}, "must be of one kind, not avg and sum"},
		{object{"terms": object{"field": "a", "order": object{"_key": "asc", "_count": "asc"}}}, "order: must name one"},
		{histogram(true), "extended_bounds: min: must be a date"},
		{histogram([]any{1}), "extended_bounds: min: must be a date"},
		{histogram(math.Inf(1)), "extended_bounds: min: must be within"},
		{histogram(-1e300), "extended_bounds: min: must be within"},
		{histogram("x"), "extended_bounds: min"},
		{object{"range": object{"field": "a", "ranges": []any{object{"from": true, "to": true}}}}, "ranges: from: must be"},
	} {
		for range 20 { // errors do not depend on the order of members in memory
			_, err := parseTallies(object{"aggs": object{"x": test.agg}}, &conditions{fields: map[string]bool{}}, 0)
			if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v: got %v, want %s", test.agg, err, test.want)
			}
		}
	}
	all, err := parseTallies(object{"aggs": object{"x": histogram(float64(1000))}}, &conditions{fields: map[string]bool{}}, 0)
	if err != nil || all[0].min.UnixMilli() != 1000 {
		t.Errorf("got %v, %v", all, err)
	}
}

// Pages of saved searches follow one another whatever size is asked for, and no number of a page goes back to the first.
func TestPagesOfSavedSearches(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		for i := range 5 {
			w.Make(c, "/", "SavedSearch", fmt.Sprint("s", i), storage.Props{"dc:title": fmt.Sprint("s", i)})
		}
		for _, test := range []struct{ size, index, entries, pages int }{
			{2, 0, 2, 3},
			{2, 2, 1, 3},
			{0, 0, 5, 1},
			{-1, 0, 5, 1},
			{0, 1, 0, 1},
			{2, -1, 2, 3},
			{5000, 1, 0, 1},
		} {
			m, err := listParams{PageSize: test.size, Index: test.index}.run(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m["currentPageSize"] != test.entries || m["numberOfPages"] != test.pages {
				t.Errorf("%+v: got %v of %v pages", test, m["currentPageSize"], m["numberOfPages"])
			}
		}
		for _, index := range []int{math.MaxInt, math.MaxInt/2 + 1, 1 << 62} {
			if _, err := (listParams{PageSize: 4, Index: index}).run(c, nil); fault.Of(err) != fault.Invalid {
				t.Errorf("page %d: got %v", index, err)
			}
		}
		return nil
	})
}
