package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// plainVerb has the test binary serve a database that was filled, until its input ends: plain, and strictSQL below /strict.
const plainVerb = "plain"

func plainMain(args []string) int {
	ctx := context.Background()
	pool, err := plainPool(ctx, args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p := &plain{pool: pool, folder: uuid.MustParse(args[1])}
	s := strictSQL{p}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /doc/{id}", p.get)
	mux.HandleFunc("GET /page", p.page)
	mux.HandleFunc("POST /create", p.create)
	mux.HandleFunc("GET /strict/doc/{id}", s.get)
	mux.HandleFunc("GET /strict/page", s.page)
	mux.HandleFunc("POST /strict/create", s.create)
	mux.HandleFunc("POST /strict/chain", s.chain)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(l.Addr())
	go func() { _ = (&http.Server{Handler: mux}).Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func plainPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 32
	return pgxpool.NewWithConfig(ctx, config)
}

// strictTables add to plainTables who may sign in, and an index of the words of documents.
const strictTables = `
CREATE TABLE person (name text PRIMARY KEY, sum bytea NOT NULL, groups text[] NOT NULL);
CREATE TABLE strict (LIKE doc INCLUDING ALL);
INSERT INTO strict SELECT * FROM doc;
CREATE INDEX ON strict USING gin (to_tsvector('simple', name || ' ' || title || ' ' || coalesce(props ->> 'dc:description', '')));`

// strictSQL is plain with what catena does beside it for the same requests: each finds out in the database who asks and whether they may,
// changes are serializable, and words are indexed. It has one round trip for reads, as plain has, and three for a change.
type strictSQL struct{ *plain }

// strictEntry is an entry of an access list.
type strictEntry struct {
	User, Permission string
	Granted          bool
}

var errStrict = errors.New("refused")

// fill copies the documents of plain, and adds who asks.
func (p strictSQL) fill(ctx context.Context) error {
	if _, err := p.pool.Exec(ctx, strictTables); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(adminPassword))
	_, err := p.pool.Exec(ctx, "INSERT INTO person VALUES ('Administrator', $1, '{administrators,members}')", sum[:])
	return err
}

// asks adds the query for who makes a request; check says, once it was sent, whether that is somebody. The sum is what a server
// that hashes passwords slowly keeps in memory.
func (p strictSQL) asks(r *http.Request, b *pgx.Batch) (groups *[]string, check func() error) {
	name, password, ok := r.BasicAuth()
	sum, kept := sha256.Sum256([]byte(password)), []byte(nil)
	groups = &[]string{}
	b.Queue("SELECT sum, groups FROM person WHERE name = $1", name).QueryRow(func(row pgx.Row) error { return row.Scan(&kept, groups) })
	return groups, func() error {
		if !ok || subtle.ConstantTimeCompare(sum[:], kept) != 1 {
			return errStrict
		}
		return nil
	}
}

// mayRead reports whether an access list grants somebody of these groups to read.
func mayRead(groups []string, list json.RawMessage) error {
	var entries []strictEntry
	if err := json.Unmarshal(list, &entries); err != nil {
		return err
	}
	for _, g := range entries {
		if g.Granted && slices.Contains(groups, g.User) {
			return nil
		}
	}
	return errStrict
}

const strictColumns = "d.id, d.parent, d.name, d.title, d.modified, d.creator, d.props, coalesce(d.acl, f.acl)"

// documents reads those of a query, if the caller may see them.
func (p strictSQL) documents(r *http.Request, query string, arg any) (all []plainDoc, err error) {
	b := &pgx.Batch{}
	groups, check := p.asks(r, b)
	b.Queue("SELECT "+strictColumns+" FROM strict d JOIN strict f ON f.id = d.parent "+query, arg).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[plainDoc])
		return err
	})
	if err = errors.Join(p.pool.SendBatch(r.Context(), b).Close(), check()); err != nil {
		return nil, err
	}
	for _, d := range all {
		if err := mayRead(*groups, d.ACL); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p strictSQL) get(w http.ResponseWriter, r *http.Request) {
	all, err := p.documents(r, "WHERE d.id = $1", r.PathValue("id"))
	if err == nil && len(all) != 1 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		plainAnswer(w, nil, err)
		return
	}
	plainAnswer(w, all[0], nil)
}

func (p strictSQL) page(w http.ResponseWriter, r *http.Request) {
	all, err := p.documents(r, "WHERE d.parent = $1 ORDER BY d.title LIMIT 51", p.folder)
	plainAnswer(w, all, err)
}

func (p strictSQL) create(w http.ResponseWriter, r *http.Request) { p.add(w, r, nil) }

// chain adds a row and sets a property of it, which the audit log has as well, as the last two steps of the chain do.
func (p strictSQL) chain(w http.ResponseWriter, r *http.Request) {
	p.add(w, r, func(b *pgx.Batch, d *plainDoc) {
		d.Props = []byte(`{"description":"text","set":true}`)
		b.Queue("UPDATE strict SET props = $2, modified = $3 WHERE id = $1", d.ID, d.Props, d.Modified)
		b.Queue("INSERT INTO audit (doc, at, who, event) VALUES ($1, $2, $3, 'documentModified')", d.ID, d.Modified, d.Creator)
	})
}

// add adds a row, and does what else is queued behind it.
func (p strictSQL) add(w http.ResponseWriter, r *http.Request, more func(*pgx.Batch, *plainDoc)) {
	d := plainDoc{ID: uuid.New(), Parent: &p.folder, Name: fmt.Sprintf("s%d", p.made.Add(1)), Title: "new", Modified: time.Now(), Creator: "Administrator", Props: []byte(`{"dc:description":"text"}`)}
	insert := func() error {
		return pgx.BeginTxFunc(r.Context(), p.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
			b, list := &pgx.Batch{}, json.RawMessage(nil)
			groups, check := p.asks(r, b)
			b.Queue("SELECT acl FROM strict WHERE id = $1", p.folder).QueryRow(func(row pgx.Row) error { return row.Scan(&list) })
			b.Queue("INSERT INTO strict (id, parent, name, title, created, modified, creator, props) VALUES ($1, $2, $3, $4, $5, $5, $6, $7)", d.ID, d.Parent, d.Name, d.Title, d.Modified, d.Creator, d.Props)
			b.Queue("INSERT INTO audit (doc, at, who, event) VALUES ($1, $2, $3, 'documentCreated')", d.ID, d.Modified, d.Creator)
			if more != nil {
				more(b, &d)
			}
			if err := errors.Join(tx.SendBatch(r.Context(), b).Close(), check()); err != nil {
				return err
			}
			return mayRead(*groups, list)
		})
	}
	err := insert()
	for e := (*pgconn.PgError)(nil); errors.As(err, &e) && e.Code == "40001"; {
		err = insert()
	}
	plainAnswer(w, d, err)
}
