package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/zone"
)

// condition is a random condition, at most so deep.
func condition(rnd *rand.Rand, depth int) string {
	one := func(of ...string) string { return of[rnd.IntN(len(of))] }
	if depth > 0 && rnd.IntN(3) > 0 {
		c := "(" + condition(rnd, depth-1) + one(" AND ", " OR ") + condition(rnd, depth-1) + ")"
		return one("", "NOT ") + c
	}
	value := func() string { return "'" + one("a", "b", "c", "/a", "/a/b", "/a/b/c", "") + "'" }
	field := one("eventId", "category", "principalName", "docType", "docPath", "docPath", "docLifeCycle", "source", "comment", "docUUID", "repositoryId")
	when := func() string { return fmt.Sprintf("'2026-01-01T00:%02d:00Z'", rnd.IntN(60)) }
	return one(
		field+one(" = ", " <> ", " < ", " >= ")+value(),
		field+one(" IN (", " NOT IN (")+value()+", "+value()+")",
		field+one(" IS NULL", " IS NOT NULL"),
		field+one(" LIKE ", " NOT LIKE ", " ILIKE ")+"'"+one("a%", "/a/%", "/a/b%", "/a/b/_", "/A/%", `/a/\\b/%`, "%", "/a")+"'",
		"id"+one(" = ", " <> ", " < ", " <= ", " > ", " >= ")+fmt.Sprint(rnd.IntN(300)),
		"id"+one(" BETWEEN ", " NOT BETWEEN ")+fmt.Sprintf("%d AND %d", rnd.IntN(150), 100+rnd.IntN(200)),
		one("logDate", "eventDate")+one(" = ", " < ", " <= ", " > ", " >= ", " <> ")+when(),
	)
}

// TestParts: no part of a run of records is left out that has a record which meets the condition.
func TestParts(t *testing.T) {
	left := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		one := func(of ...string) string { return of[rnd.IntN(len(of))] }
		var b zone.Builder
		parts := make([][]storage.Entry, 1+rnd.IntN(10))
		first := rnd.IntN(200)
		for part := range parts {
			b.Begin([16]byte{})
			for range 1 + rnd.IntN(2) {
				at := time.Date(2026, 1, 1, 0, rnd.IntN(60), 0, 0, time.UTC)
				e := storage.Entry{
					ID: int64(first + part), Event: one("a", "b", "d"), Category: one("a", "d"), User: one("a", "b", ""), DocType: one("a", "", "d"),
					DocPath: one("", "/a", "/a/b", "/a/b/c", "/a/b/c/d/e/f", "/d"), DocState: one("", "a"), Source: one("server", "a"), Time: at, Logged: at,
				}
				r := zone.Record{ID: e.ID, Logged: e.Logged.UnixMilli()}
				for name, field := range zoneFields {
					r.Values[field], _ = storage.EntryFields[name](&e).(string)
				}
				b.Add(&r)
				parts[part] = append(parts[part], e)
			}
		}
		m, err := zone.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		src := condition(rnd, 3)
		s, err := parse(&engine.Ctx{}, "FROM LogEntry WHERE "+src, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		in, match := s.filter().Parts(&m), &matcher{repository: "default"}
		for part, entries := range parts {
			if in>>part&1 == 0 {
				left++
			}
			for i := range entries {
				if match.match(s.where, &entries[i]) && in>>part&1 == 0 {
					t.Fatalf("%s: leaves out %+v", src, entries[i])
				}
			}
		}
	}
	if left < 1000 {
		t.Errorf("%d parts left out", left)
	}
}

// TestPartsLeftOut: what conditions leave out parts by.
func TestPartsLeftOut(t *testing.T) {
	var b zone.Builder
	b.Begin([16]byte{})
	r := zone.Record{ID: 7, Logged: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}
	r.Values[zone.Event], r.Values[zone.User], r.Values[zone.Path], r.Values[zone.Type] = "download", "bob", "/a/b", "File"
	b.Add(&r)
	m, err := zone.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range strings.Split(`eventId = 'x'; principalName IN ('ada', 'eve'); docPath = '/a'; docPath LIKE '/b/%'; docType IS NULL; id = 8; id < 7 AND id > 8;
		logDate > DATE '2026-02-01'; NOT (eventId <> 'x' AND docType <> 'y') AND eventId = 'z'; eventId = 'x' OR docType = 'y'`, ";") {
		s, err := parse(&engine.Ctx{}, "FROM LogEntry WHERE "+strings.TrimSpace(src), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if s.filter().Parts(&m)&1 != 0 {
			t.Errorf("%s: reads the part", src)
		}
	}
}

// TestCollector: pages and totals are the same whether runs of records before the page are passed over or read.
func TestCollector(t *testing.T) {
	for _, test := range []struct {
		name                  string
		records, offset, size int
		count                 bool
		first, n, total       int
		more                  bool
		read                  int // at most
	}{
		{"first page without a total", 30_000, 0, 50, false, 0, 50, 50, false, 50},
		{"one record", 30_000, 0, 1, false, 0, 1, 1, false, 1},
		{"first page", 30_000, 0, 50, true, 0, 50, maxCount, true, maxCount + 1},
		{"distant page", 30_000, 25_000, 50, true, 25_000, 50, 25_050, true, 1100},
		{"page that reaches the bound", 30_000, maxCount - 20, 50, true, maxCount - 20, 50, maxCount + 30, true, 1100},
		{"last page", 30_000, 29_990, 50, true, 29_990, 10, 30_000, false, 1100},
		{"beyond the end", 30_000, 40_000, 50, true, 0, 0, 30_000, false, 0},
		{"few", 700, 650, 100, true, 650, 50, 700, false, 700},
	} {
		l := &collector{search: &search{}, offset: test.offset, size: test.size, stored: true, count: test.count}
		read := 0
		for id, more := 0, true; more && id < test.records; {
			if n := min(1000, test.records-id); id%1000 == 0 && l.whole(n) {
				id += n
				continue
			}
			var err error
			if more, err = l.take(storage.Entry{ID: int64(id)}); err != nil {
				t.Fatal(err)
			}
			id, read = id+1, read+1
		}
		if len(l.entries) != test.n || l.total != test.total || l.more != test.more || read > test.read {
			t.Errorf("%s: %d records, total %d, more %v, read %d", test.name, len(l.entries), l.total, l.more, read)
		}
		if len(l.entries) > 0 && l.entries[0].ID != int64(test.first) {
			t.Errorf("%s: begins with %d", test.name, l.entries[0].ID)
		}
	}
}
