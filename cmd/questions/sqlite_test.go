package questions

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the peer

	"catena/storage"
	"catena/storage/search"
)

// settings are those of a connection.
const settings = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -65536;
`

// tables are what a person would create for the same documents: a table for each type, the values of lists in tables of
// their own, and who may read a folder in one more.
const tables = `
CREATE TABLE readable (folder TEXT, principal TEXT, PRIMARY KEY (folder, principal)) WITHOUT ROWID;
CREATE TABLE invoice (COMMON, number TEXT, supplier TEXT, status TEXT, priority INTEGER, rank INTEGER, amount REAL, currency TEXT, due INTEGER, paid INTEGER);
CREATE TABLE photo (COMMON, taken INTEGER, camera TEXT COLLATE NOCASE, rating INTEGER, country TEXT, city TEXT);
CREATE TABLE photo_tag (tag TEXT, photo TEXT, PRIMARY KEY (tag, photo)) WITHOUT ROWID;
CREATE TABLE contract (COMMON, party TEXT, kind TEXT, owner TEXT, value REAL, begin INTEGER, end INTEGER);
CREATE TABLE wiki (COMMON, summary TEXT, note TEXT);
CREATE TABLE wiki_label (label TEXT, page TEXT, PRIMARY KEY (label, page)) WITHOUT ROWID;
`

// common are the columns of every document.
const common = "id TEXT PRIMARY KEY, folder TEXT, path TEXT, title TEXT COLLATE NOCASE, description TEXT, modified INTEGER, state TEXT, trashed INTEGER, version INTEGER, proxy INTEGER"

// indexes are created once the documents are there.
var indexes = []string{
	"invoice (number)", "invoice (supplier)", "invoice (status, due)", "invoice (priority)", "invoice (rank)", "invoice (amount)", "invoice (due)",
	"photo (taken)", "photo (camera)", "photo (rating)", "photo (country)", "photo_tag (photo)",
	"contract (party)", "contract (owner)", "contract (value)", "contract (end)",
	"wiki_label (page)",
	"invoice (folder)", "photo (folder)", "contract (folder)", "wiki (folder)",
	"invoice (path)", "photo (path)", "contract (path)", "wiki (path)",
	"invoice (title)", "photo (title)", "contract (title)", "wiki (title)",
	"invoice (modified)", "photo (modified)", "contract (modified)", "wiki (modified)",
}

// database is a SQLite file with prepared statements.
type database struct {
	t        testing.TB
	db       *sql.DB
	prepared map[string]*sql.Stmt
}

// newDatabase opens a file, which may be there already.
func newDatabase(t testing.TB, file string) *database {
	t.Helper()
	_, missing := os.Stat(file)
	db, err := sql.Open("sqlite", file)
	check(t, err)
	db.SetMaxOpenConns(1) // the settings are those of a connection
	t.Cleanup(func() { check(t, db.Close()) })
	create := settings
	if missing != nil {
		create += strings.ReplaceAll(tables, "COMMON", common)
	}
	_, err = db.ExecContext(t.Context(), create)
	check(t, err)
	return &database{t: t, db: db, prepared: map[string]*sql.Stmt{}}
}

func (x *database) exec(tx *sql.Tx, statement string, args ...any) {
	x.t.Helper()
	_, err := tx.ExecContext(context.Background(), statement, args...)
	check(x.t, err)
}

// copy copies all documents with their ids and times to SQLite.
func (w *world) copy() {
	w.t.Helper()
	for a := range areas {
		o := search.Options{PageOptions: storage.PageOptions{Limit: 1000, CountLimit: -1}}
		for more := true; more; {
			tx, err := w.sql.db.BeginTx(context.Background(), nil)
			check(w.t, err)
			check(w.t, w.repo.View(context.Background(), w.repo.System(), func(t *storage.Tx) error {
				p, err := search.Query(t, "SELECT * FROM "+areas[a].typ, o)
				if err != nil {
					return err
				}
				for _, d := range p.Docs {
					w.sql.insert(tx, areas[a], d)
				}
				more, o.After = p.HasNext, p.Next
				return nil
			}))
			check(w.t, tx.Commit())
		}
		w.readers(a)
	}
	for i, x := range indexes {
		_, err := w.sql.db.ExecContext(context.Background(), "CREATE INDEX i"+string(rune('A'+i/26))+string(rune('a'+i%26))+" ON "+x)
		check(w.t, err)
	}
	_, err := w.sql.db.ExecContext(context.Background(), "ANALYZE")
	check(w.t, err)
}

// readers writes down who may read the folders of an area.
func (w *world) readers(a int) {
	w.t.Helper()
	tx, err := w.sql.db.BeginTx(context.Background(), nil)
	check(w.t, err)
	for leaf := range w.n.leaves() {
		who, ok := blocked(leaf)
		if !ok {
			who = "members"
		}
		w.sql.exec(tx, "INSERT INTO readable VALUES (?, ?)", w.folder(areas[a].path(leaf)), who)
	}
	check(w.t, tx.Commit())
}

// folder returns the id of a folder.
func (w *world) folder(path string) (id string) {
	w.t.Helper()
	check(w.t, w.repo.View(context.Background(), w.repo.System(), func(t *storage.Tx) error {
		d, err := t.Doc(storage.Ref(path))
		if err == nil {
			id = d.ID()
		}
		return err
	}))
	return id
}

// insert writes a document.
func (x *database) insert(tx *sql.Tx, a area, d *storage.Doc) {
	x.t.Helper()
	get := func(field string) any {
		v, err := d.Get(field)
		check(x.t, err)
		if at, ok := v.(time.Time); ok {
			return at.UnixMilli()
		}
		return v
	}
	values := []any{d.ID(), d.ParentID(), d.Path(), get("dc:title"), get("dc:description"), get("dc:modified"), d.State(), 0, 0, 0}
	var fields []string
	switch a.schema {
	case "invoice":
		fields = []string{"number", "supplier", "status", "priority", "rank", "amount", "currency", "due", "paid"}
	case "photo":
		fields = []string{"taken", "camera", "rating", "place/country", "place/city"}
		x.items(tx, "photo_tag", get("photo:tags"), d.ID())
	case "contract":
		fields = []string{"party", "kind", "owner", "value", "begin", "end"}
	default:
		fields = []string{"summary"}
		x.items(tx, "wiki_label", get("wiki:labels"), d.ID())
	}
	for _, f := range fields {
		values = append(values, get(a.schema+":"+f))
	}
	if a.schema == "wiki" {
		values = append(values, get("note:note"))
	}
	x.exec(tx, "INSERT INTO "+a.schema+" VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
}

func (x *database) items(tx *sql.Tx, table string, list any, id string) {
	x.t.Helper()
	for _, v := range list.([]any) {
		x.exec(tx, "INSERT OR IGNORE INTO "+table+" VALUES (?, ?)", v, id)
	}
}

// ask answers a question; the groups are those of the caller, nil for an administrator.
func (x *database) ask(q *question, args []any, groups []string) (r result, err error) {
	where := q.where
	if groups != nil {
		where += " AND EXISTS (SELECT 1 FROM readable r WHERE r.folder = d.folder AND r.principal IN (?" + strings.Repeat(", ?", len(groups)-1) + "))"
	}
	args = append([]any(nil), args...)
	for i := range args {
		if at, ok := args[i].(time.Time); ok {
			args[i] = at.UnixMilli()
		}
	}
	for _, g := range groups {
		args = append(args, g)
	}
	from := " FROM " + areas[q.area].schema + " d WHERE " + where
	if q.total {
		if err := x.statement("SELECT count(*) FROM (SELECT 1"+from+" LIMIT 1001)").QueryRowContext(x.t.Context(), args...).Scan(&r.total); err != nil {
			return r, err
		}
		if r.more = r.total > total; r.more {
			r.total = total
		}
	}
	rows, err := x.statement("SELECT id, path, "+q.columns+from+" ORDER BY "+q.order+" LIMIT ? OFFSET ?").QueryContext(x.t.Context(), append(args, q.size(), q.offset)...)
	if err != nil {
		return r, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, path string
		var one, two any
		if err := rows.Scan(&id, &path, &one, &two); err != nil {
			return r, err
		}
		r.ids = append(r.ids, id)
	}
	return r, rows.Err()
}

// statement prepares a statement once.
func (x *database) statement(text string) *sql.Stmt {
	if s := x.prepared[text]; s != nil {
		return s
	}
	s, err := x.db.PrepareContext(context.Background(), text)
	check(x.t, err)
	x.t.Cleanup(func() { _ = s.Close() })
	x.prepared[text] = s
	return s
}
