package kvtest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"catena/storage/kv"
)

// joinCase is what happens between two views that are joined.
type joinCase struct {
	name  string
	write []string // pairs of key and value; "-" deletes
	more  bool     // the last view also reads b
	want  string   // what the last view sees where the store is remote, and how often it runs and waits
	fresh string   // what it sees where the store is not: the present state
}

var joinID = "0123456789abcdef"

// testJoins has views that are joined see one state: what the first has fetched, whatever others write in between, or, where more is
// read and the state is no longer the present one, another state, which is read from the beginning. What was not fetched first is noted as late.
func testJoins(t *testing.T, d *kv.DB) {
	for _, c := range []joinCase{
		{"nothing", nil, false, "xa=1 xb=1 D=1 2; 1 run, waits 0, late []", "xa=1 xb=1 D=1 2"},
		{"nothing, and more is read", nil, true, "xa=1 xb=1 D=1 2 b=1; 1 run, waits 1, late [b]", "xa=1 xb=1 D=1 2 b=1"},
		{"a row", []string{"xb", "2"}, false, "xa=1 xb=1 D=1 2; 1 run, waits 0, late []", "xa=1 xb=2 D=1 2"},
		{"a row, and more is read", []string{"xb", "2", "b", "2"}, true, "xa=1 xb=2 D=1 2 b=2; 2 runs", "xa=1 xb=2 D=1 2 b=2"},
		{"a new row, and more is read", []string{"xc", "2"}, true, "xa=1 xb=1 xc=2 D=1 3 b=1; 2 runs", "xa=1 xb=1 xc=2 D=1 3 b=1"},
		{"a row that goes, and more is read", []string{"xb", "-"}, true, "xa=1 D=1 1 b=1; 2 runs", "xa=1 D=1 1 b=1"},
		{"what a row leads to, and more is read", []string{"D" + joinID, "2"}, true, "xa=1 xb=1 D=2 2 b=1; 2 runs", "xa=1 xb=1 D=2 2 b=1"},
		{"what was not read, and that is read", []string{"b", "2"}, true, "xa=1 xb=1 D=1 2 b=2; 1 run, waits 1, late [b]", "xa=1 xb=1 D=1 2 b=2"},
	} {
		put(t, d, "a", "1", "b", "1", "xa"+joinID, "1", "xb", "1", "D"+joinID, "1")
		write(t, d, "xc", "-")
		if got, remote := c.play(t, d); remote {
			want(t, c.name, got, c.want)
		} else {
			want(t, c.name, got, c.fresh)
		}
	}
}

// write is put, where "-" deletes.
func write(t *testing.T, d *kv.DB, pairs ...string) {
	t.Helper()
	update(t, d, func(tx *kv.Tx) (err error) {
		for i := 0; i < len(pairs) && err == nil; i += 2 {
			if err = tx.Set([]byte(pairs[i]), []byte(pairs[i+1])); pairs[i+1] == "-" {
				err = tx.Delete([]byte(pairs[i]))
			}
		}
		return err
	})
}

// play returns what the last view sees, and more where the store is remote.
func (c *joinCase) play(t *testing.T, d *kv.DB) (got string, remote bool) {
	t.Helper()
	var j kv.Join
	rows := kv.Range{Start: []byte("x"), End: []byte("y"), Limit: 10, Follow: [][]byte{[]byte("D")}}
	if err := d.View(j.Context(ctx, false), func(tx *kv.Tx) error {
		return tx.Prefetch([][]byte{[]byte("a")}, rows, kv.Range{Start: rows.Start, End: rows.End, Limit: 5, CountOnly: true})
	}); err != nil {
		t.Fatal(err)
	}
	write(t, d, c.write...)
	runs, also := 0, ""
	if err := d.View(j.Context(ctx, true), func(tx *kv.Tx) (err error) {
		runs++
		got, err = joined(tx, kv.Range{Start: rows.Start, End: rows.End}, c.more)
		if late, ok := tx.Late(); ok {
			also = fmt.Sprintf("; 1 run, waits %d, late %s%s", tx.RoundTrips(), late.Keys, strings.Repeat(" and ranges", len(late.Ranges)))
		}
		remote = tx.Remote()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if runs > 1 {
		also = fmt.Sprintf("; %d runs", runs)
	}
	return got + also, remote
}

// joined reads the rows of a range, what the first leads to, and how many they are; with more, another row.
func joined(tx *kv.Tx, whole kv.Range, more bool) (string, error) {
	out := ""
	for row, err := range tx.Scan(whole) {
		if err != nil {
			return "", err
		}
		out += fmt.Sprintf("%.2s=%s ", row.Key, row.Value)
	}
	to, err := tx.Get([]byte("D" + joinID))
	n, _, counted := tx.Count(whole, 4)
	if out += fmt.Sprintf("D=%s %d", to, n); more && cmp.Or(err, counted) == nil {
		var b []byte
		b, err = tx.Get([]byte("b"))
		out += fmt.Sprintf(" b=%s", b)
	}
	return out, cmp.Or(err, counted)
}
