package audit

import (
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ src, text, alias string }{
		{"FROM LogEntry", "SELECT*FROM L", ""},
		{"from LogEntry log", "SELECT*FROM L    ", "log"},
		{"FROM LogEntry WHERE id = 1", "SELECT*FROM L WHERE id = 1", ""},
		{"FROM LogEntry AS l order by l.id", "SELECT*FROM L      order by l.id", "l"},
		{"select log from LogEntry log where log.id = 1", "SELECT*FROM L                where log.id = 1", "log"},
		{"from\nLogEntry log\nwhere log.id = 1", "SELECT*FROM L\nwhere log.id = 1", "log"},
	} {
		text, alias, err := plain(c.src)
		if err != nil || text != c.text || alias != c.alias {
			t.Errorf("%q: %q, %q, %v; want %q, %q", c.src, text, alias, err, c.text, c.alias)
		}
	}
	for _, src := range []string{"", "from", "FROM Document", "select log.id from LogEntry log", "where id = 1"} {
		if _, _, err := plain(src); err == nil {
			t.Errorf("%q: accepted", src)
		}
	}
}

// TestMatch decides conditions on one record, and checks that the filter for the store
// never leaves out a record that meets the condition.
func TestMatch(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := storage.Entry{ID: 7, Event: "download", Category: "blob", User: "bob", DocPath: "/desk/a_b", Time: at, Logged: at}
	for src, want := range map[string]bool{
		"eventId = 'download'":                               true,
		"eventId <> 'download'":                              false,
		"eventId IN ('a', 'download') AND id = 7":            true,
		"eventId NOT IN ('a', 'download')":                   false,
		"eventId IN ()":                                      false,
		"id > 6 AND id < 8":                                  true,
		"id >= 8 OR id <= 6":                                 false,
		"NOT (id = 7)":                                       false,
		"comment IS NULL AND docPath IS NOT NULL":            true,
		"docPath LIKE '/desk/%'":                             true,
		"docPath LIKE '/desk/a\\_b'":                         true,
		"docPath LIKE '/desk/a\\_'":                          false,
		"docPath LIKE '/DESK/%'":                             false,
		"docPath ILIKE '/DESK/%'":                            true,
		"docPath NOT LIKE '/desk/_._'":                       true,
		"eventDate = '2026-03-01T12:00:00Z'":                 true,
		"eventDate > TIMESTAMP '2026-03-01 12:00:00'":        false,
		"eventDate <= TIMESTAMP '2026-03-01 12:00:00'":       true,
		"eventDate BETWEEN DATE '2026-03-01' AND NOW()":      true,
		"eventDate NOT BETWEEN DATE '2026-03-01' AND NOW()":  false,
		"eventDate < DATE '2026-03-01'":                      false,
		"repositoryId = 'default' AND principalName = 'bob'": true,
		"category = 'blob' AND category = 'bob'":             false,
	} {
		c := &engine.Ctx{Now: at.Add(time.Hour)}
		s, err := parse(c, "FROM LogEntry log WHERE "+src, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		m := &matcher{repository: "default"}
		if got := m.match(s.where, &e); got != want {
			t.Errorf("%s: %v", src, got)
		}
		if want && !admits(s.filter(), &e) {
			t.Errorf("%s: the filter leaves the record out: %+v", src, s.filter())
		}
	}
}

// admits is what the store does with a filter.
func admits(f storage.EntryFilter, e *storage.Entry) bool {
	in := func(list []string, v string) bool {
		for _, s := range list {
			if s == v {
				return true
			}
		}
		return list == nil
	}
	return in(f.Events, e.Event) && in(f.Categories, e.Category) && in(f.Users, e.User) &&
		(f.DocID == "" || f.DocID == e.DocID) && !e.Time.Before(f.From) && (f.To.IsZero() || e.Time.Before(f.To))
}

func TestParseRefuses(t *testing.T) {
	for _, src := range []string{
		"FROM LogEntry WHERE id = 'x'",
		"FROM LogEntry WHERE eventId = 5",
		"FROM LogEntry WHERE docPath STARTSWITH '/a'",
		"FROM LogEntry WHERE nope = 'a'",
		"FROM LogEntry ORDER BY nope",
		"FROM LogEntry WHERE eventId = ?",
		"FROM LogEntry LIMIT 5",
		"FROM LogEntry log WHERE",
	} {
		if _, err := parse(&engine.Ctx{}, src, nil, nil); err == nil {
			t.Errorf("%s: accepted", src)
		}
	}
}

func TestDated(t *testing.T) {
	day := time.Date(2012, 1, 31, 0, 0, 0, 0, time.UTC)
	for in, want := range map[string]any{
		"{d 2012-01-31}":           day,
		"{d '2012-01-31'}":         day,
		"{ts 2012-01-31 10:20:30}": day.Add(10*time.Hour + 20*time.Minute + 30*time.Second),
		"{d soon}":                 "{d soon}",
		"2012-01-31":               "2012-01-31",
		"{}":                       "{}",
	} {
		if got := dated(in); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}
