package postgres

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// churns are the settings of the table that BenchmarkChurn compares.
var churns = []struct{ name, sql string }{
	{"as created", ""},
	{"autovacuum of PostgreSQL", "ALTER TABLE kv RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor, autovacuum_analyze_scale_factor, autovacuum_vacuum_cost_delay)"},
	{"fillfactor 80", "ALTER TABLE kv SET (fillfactor = 80)"},
	{"index of 70 %", "ALTER INDEX kv_pkey SET (fillfactor = 70)"},
}

// BenchmarkChurn changes rows as catena does under load, and reports what is left of them: rows that are dead, and by how much the
// table and its index are larger than what is alive, for several settings. Of 20,000 documents, 2 in 7 transactions change one, which
// moves its row in an index of the last change; the others change a counter or a session, add and remove a job, or add an entry to the
// audit log. CATENA_CHURN is how long each is done (3s).
//
//	make churn
func BenchmarkChurn(b *testing.B) {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("CATENA_CHURN"), "3s"))
	if err != nil {
		b.Fatal(err)
	}
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "settings\ttransactions/s\trows\tdead\tvacuumed\ttable, MiB\tindex, MiB\talive, MiB\tupdates in the same page")
	for _, c := range churns {
		churn(b, out, c.name, c.sql, d)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	fmt.Println(table.String())
	b.ReportMetric(0, "ns/op")
}

func churn(b *testing.B, out *tabwriter.Writer, name, sql string, d time.Duration) {
	b.Helper()
	schema := pgtest.Schema()
	s := opened(b, schema)
	defer s.Close()
	db := kv.New(s, kv.Options{})
	config, err := pgx.ParseConfig(pgtest.Address(b))
	if err != nil {
		b.Fatal(err)
	}
	config.RuntimeParams["search_path"] = schema
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(ctx)
	if sql != "" {
		if _, err := c.Exec(ctx, sql); err != nil {
			b.Fatal(err)
		}
	}
	const docs = 20_000
	value := make([]byte, 700)
	for from := range docs / 500 {
		if err := db.Update(ctx, func(tx *kv.Tx) error {
			for i := range 500 {
				if err := tx.Set(fmt.Appendf(nil, "D%016d", from*500+i), value); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	var (
		wg    sync.WaitGroup
		made  atomic.Int64
		ended = time.Now().Add(d)
	)
	for w := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 18))
			for n := 0; time.Now().Before(ended); n++ {
				if err := db.Update(ctx, func(tx *kv.Tx) error { return churnOnce(tx, rnd, w, n, value) }); err != nil {
					b.Error(err)
					return
				}
				made.Add(1)
			}
		})
	}
	wg.Wait()
	time.Sleep(2 * time.Second) // for the statistics
	var live, dead, vacuums, size, index, alive, updates, hot int64
	err = c.QueryRow(ctx, `SELECT (SELECT count(*) FROM kv), n_dead_tup, autovacuum_count, pg_table_size('kv'), pg_indexes_size('kv'), (SELECT sum(length(k) + length(v) + 36) FROM kv)::bigint, n_tup_upd, n_tup_hot_upd
		FROM pg_stat_user_tables WHERE relid = 'kv'::regclass`).Scan(&live, &dead, &vacuums, &size, &index, &alive, &updates, &hot)
	if err != nil {
		b.Fatal(err)
	}
	const mib = 1 << 20
	fmt.Fprintf(out, "%s\t%.0f\t%d\t%d\t%d times\t%.1f\t%.1f\t%.1f\t%.0f %%\n", name, float64(made.Load())/d.Seconds(), live, dead, vacuums,
		float64(size)/mib, float64(index)/mib, float64(alive)/mib, 100*float64(hot)/float64(max(updates, 1)))
}

// churnOnce is one transaction of a kind in turn.
func churnOnce(tx *kv.Tx, rnd *rand.Rand, w, n int, value []byte) error {
	var at [16]byte
	binary.BigEndian.PutUint64(at[:], uint64(time.Now().UnixNano()))
	binary.BigEndian.PutUint64(at[8:], rnd.Uint64())
	switch n % 7 {
	case 0, 1: // a document and its row in the index of the last change
		key := fmt.Appendf(nil, "D%016d", rnd.IntN(20_000))
		old, err := tx.Get(key)
		if err != nil {
			return err
		}
		now := append(at[:], old[16:]...)
		if err := tx.Delete(append([]byte("x"), old[:16]...)); err != nil {
			return err
		}
		if err := tx.Set(append([]byte("x"), at[:]...), value[:60]); err != nil {
			return err
		}
		return tx.Set(key, now)
	case 2: // a counter
		return tx.Set(fmt.Appendf(nil, "c%d", w), at[:])
	case 3: // a session
		return tx.Set(fmt.Appendf(nil, "s%04d", rnd.IntN(2000)), value[:200])
	case 4, 5: // a job, and the one before is done
		if n%7 == 4 {
			return tx.Set(fmt.Appendf(nil, "j%d-%d", w, n), value[:300])
		}
		return tx.Delete(fmt.Appendf(nil, "j%d-%d", w, n-1))
	}
	return tx.Set(append([]byte("a"), at[:]...), value[:250])
}
