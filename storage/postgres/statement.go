package postgres

import (
	"fmt"

	"catena/storage/kv"
)

// The statements that every connection has prepared, by name.
var statements = map[string]string{
	"begin_read":  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	"begin_write": "BEGIN ISOLATION LEVEL SERIALIZABLE",
	// A transaction that has lost often holds up the commits of others, which enter first. The lock is on a table that has nothing else
	// to do: one on the rows would also hold up the numbers that the transaction itself takes from sequences on another connection.
	"lock":       "LOCK TABLE probe IN SHARE ROW EXCLUSIVE MODE",
	"enter":      "LOCK TABLE probe IN ROW EXCLUSIVE MODE",
	"commit":     "COMMIT",
	"rollback":   "ROLLBACK",
	"mark_read":  "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
	"mark_write": "SELECT pg_current_xact_id()::text::bigint, pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
	"get":        "SELECT k, v FROM kv WHERE k = ANY($1::bytea[])",
	"get_at":     atSQL("v", "ctid"),
	"guard_at":   atSQL("ctid"),
	"copy":       "COPY kv (k, v) FROM STDIN (FORMAT binary)",
	"delete":     "DELETE FROM kv WHERE k = ANY($1::bytea[])",
	"insert":     "INSERT INTO kv (k, v) SELECT * FROM unnest($1::bytea[], $2::bytea[])",
	"upsert":     "INSERT INTO kv (k, v) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
	"confirm":    "WITH u AS (UPDATE slots SET token = $2, used = now() WHERE id = $1 AND token = $3 RETURNING 1) SELECT 1 / count(*) FROM u",
	// Every commit writes a slot. A transaction that reads all of them comes before those that are under way, so that the database refuses
	// those of them that would have to come first, because they have read what it writes.
	"strict": "SELECT count(token) FROM slots",

	"scan":              scanSQL("k, v", true, false),
	"scan_open":         scanSQL("k, v", false, false),
	"scan_reverse":      scanSQL("k, v", true, true),
	"scan_reverse_open": scanSQL("k, v", false, true),
	"scan_many":         manySQL("k, v", false),
	"scan_many_reverse": manySQL("k, v", true),
	"keys":              scanSQL("k, NULL::bytea", true, false),
	"keys_open":         scanSQL("k, NULL::bytea", false, false),
	"keys_reverse":      scanSQL("k, NULL::bytea", true, true),
	"keys_reverse_open": scanSQL("k, NULL::bytea", false, true),
	"keys_many":         manySQL("k, NULL::bytea", false),
	"keys_many_reverse": manySQL("k, NULL::bytea", true),

	"follow":                  followSQL(1, true, false),
	"follow_open":             followSQL(1, false, false),
	"follow_reverse":          followSQL(1, true, true),
	"follow_reverse_open":     followSQL(1, false, true),
	"follow_many":             followManySQL(1, false),
	"follow_many_reverse":     followManySQL(1, true),
	"follow_two":              followSQL(2, true, false),
	"follow_two_open":         followSQL(2, false, false),
	"follow_two_reverse":      followSQL(2, true, true),
	"follow_two_reverse_open": followSQL(2, false, true),
	"follow_two_many":         followManySQL(2, false),
	"follow_two_many_reverse": followManySQL(2, true),

	"count":      "SELECT count(*) FROM (" + scanSQL("k", true, false) + ") t",
	"count_open": "SELECT count(*) FROM (" + scanSQL("k", false, false) + ") t",
}

// atSQL reads the rows of keys where they are thought to be, and by index those that are not there, each by itself: compared with each
// other, thousands of them would take seconds. OFFSET keeps the planner from joining the parts, with which it would take the index for all
// of them as long as the table is small.
func atSQL(columns ...string) string {
	sql := "SELECT a.k"
	for _, c := range columns {
		sql += ", coalesce(h." + c + ", d." + c + ")"
	}
	return sql + " FROM unnest($1::bytea[], $2::tid[]) a (k, at)" +
		" LEFT JOIN LATERAL (SELECT k, v, ctid FROM kv WHERE ctid = a.at OFFSET 0) h ON h.k = a.k" +
		" LEFT JOIN LATERAL (SELECT k, v, ctid FROM kv WHERE k = a.k AND h.k IS NULL OFFSET 0) d ON true" +
		" WHERE h.k IS NOT NULL OR d.k IS NOT NULL"
}

// scanSQL reads rows of a range: from $1 up to $2, if it has an end, at most as many as the last parameter says.
func scanSQL(columns string, end, reverse bool) string {
	sql := "SELECT " + columns + " FROM kv WHERE k >= $1"
	if end {
		sql += " AND k < $2"
	}
	sql += " ORDER BY k" + descending(reverse)
	if end {
		return sql + " LIMIT $3"
	}
	return sql + " LIMIT $2"
}

// followStatements are the statements that follow rows to one other and to two: of more, a hint has no use.
var followStatements = [...]string{"follow", "follow_two"}

// followSQL reads the rows of a range as scanSQL does, and with each of them the values of those that Range.Follow names: the n
// parameters behind those of the range are what their keys begin with. What is absent is null.
func followSQL(n int, end, reverse bool) string {
	first := 3
	if end {
		first = 4
	}
	columns, joins := followedSQL(n, first)
	return "SELECT t.k, t.v" + columns + " FROM (" + scanSQL("k, v", end, reverse) + ") t" + joins + " ORDER BY t.k" + descending(reverse)
}

// manySQL reads the first rows of several ranges: from those of $1 up to those of $2, of each at most as many as $3 says, with the
// number of the range.
func manySQL(columns string, reverse bool) string {
	return "SELECT r.i, t.* FROM " + rangesSQL(columns, reverse) + " ORDER BY r.i, t.k" + descending(reverse)
}

// followManySQL is manySQL for rows with what followSQL adds to them.
func followManySQL(n int, reverse bool) string {
	columns, joins := followedSQL(n, 4)
	return "SELECT r.i, t.k, t.v" + columns + " FROM " + rangesSQL("k, v", reverse) + joins + " ORDER BY r.i, t.k" + descending(reverse)
}

// followedSQL joins rows t to n others, whose keys begin with the parameters from the first one on.
func followedSQL(n, first int) (columns, joins string) {
	for i := range n {
		columns += fmt.Sprintf(", d%d.v", i)
		joins += fmt.Sprintf(" LEFT JOIN kv d%[1]d ON d%[1]d.k = $%[2]d::bytea || substring(t.k FROM octet_length(t.k) - 15)", i, first+i)
	}
	return columns, joins
}

// rangesSQL joins ranges to their first rows.
func rangesSQL(columns string, reverse bool) string {
	return "unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY r (s, e, i) CROSS JOIN LATERAL (SELECT " + columns +
		" FROM kv WHERE k >= r.s AND k < r.e ORDER BY k" + descending(reverse) + " LIMIT $3) t"
}

func descending(reverse bool) string {
	if reverse {
		return " DESC"
	}
	return ""
}

// scanStatement is the name of the statement that reads rows of a range, with its arguments.
func scanStatement(r kv.Range, limit int) (name string, args [][]byte) {
	what := "scan"
	if r.KeysOnly {
		what = "keys"
	}
	return what + backwards(r) + open(r), bounds(r, limit)
}

func backwards(r kv.Range) string {
	if r.Reverse {
		return "_reverse"
	}
	return ""
}

func open(r kv.Range) string {
	if r.End == nil {
		return "_open"
	}
	return ""
}

func bounds(r kv.Range, limit int) [][]byte {
	start := r.Start
	if start == nil {
		start = []byte{}
	}
	if r.End == nil {
		return [][]byte{start, number(int64(limit))}
	}
	return [][]byte{start, r.End, number(int64(limit))}
}
