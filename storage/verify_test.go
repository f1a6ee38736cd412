package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/maintenance"
)

func TestVerifyFindsDamage(t *testing.T) {
	for _, space := range []string{"D", "t", "c\x01", "c\x02", "p\x01"} {
		w := newWorld(t)
		w.make("/f", "File", nil)
		err := w.db.Update(context.Background(), func(k *kv.Tx) error {
			var last []byte
			for row, err := range k.Scan(kv.Prefix([]byte(space))) {
				if err != nil {
					return err
				}
				last = row.Key
			}
			return k.Delete(last)
		})
		if err != nil {
			t.Fatal(err)
		}
		problems, err := maintenance.Verify(context.Background(), w.Repo)
		if err != nil || len(problems) == 0 {
			t.Errorf("a row of %q is missing: %v %v", space, problems, err)
		}
	}
}

// TestVerifyFindsWrongChildren damages the rows by which folders know their children, one way at a time.
func TestVerifyFindsWrongChildren(t *testing.T) {
	const position = 18 // where it begins in the key of a row of order, behind the folder's id
	for _, c := range []struct {
		name   string
		space  string            // whose row of /g/x is damaged
		damage func(row *kv.Row) // that is written, nil for removing it
		want   string
	}{
		{"not in the order", "c\x02", nil, "is not in the order of its siblings"},
		{"twice in the order", "c\x02", func(row *kv.Row) { row.Key[position] ^= 1 }, "is in the order of a folder in the wrong place"},
		{"in the order of another folder", "c\x02", func(row *kv.Row) { row.Key[2] ^= 1 }, "is in the order of a folder in the wrong place"},
		{"in the order, but not there", "c\x02", func(row *kv.Row) { row.Key[len(row.Key)-1] ^= 0x80 }, "is in the order of a folder but has no location"},
		{"in the order, as a folder", "c\x02", func(row *kv.Row) { row.Value[0] ^= 1 }, "is in the order of a folder with wrong values"},
		{"without its name", "c\x01", nil, "cannot be found by its name"},
		{"under two names", "c\x01", func(row *kv.Row) { row.Key = append(row.Key, 'y') }, "is listed as a child in the wrong place"},
		{"under a name, but not there", "c\x01", func(row *kv.Row) {
			row.Key, row.Value[1] = append(row.Key, 'y'), row.Value[1]^1
		}, "is listed as a child but has no location"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.make("/g", "OrderedFolder", nil)
			w.make("/g/x", "File", nil)
			w.sound()
			id := ""
			w.view(w.System(), func(tx *storage.Tx) error {
				id = must(tx.Doc("/g/x"))(t).ID()
				return nil
			})
			err := w.db.Update(context.Background(), func(k *kv.Tx) error {
				for row, err := range k.Scan(kv.Prefix([]byte(c.space))) {
					if err != nil {
						return err
					}
					if hex := fmt.Sprintf("%x", append(slices.Clone(row.Key), row.Value...)); strings.Contains(hex, strings.ReplaceAll(id, "-", "")) {
						if c.damage == nil {
							return k.Delete(row.Key)
						}
						bad := kv.Row{Key: bytes.Clone(row.Key), Value: bytes.Clone(row.Value)}
						c.damage(&bad)
						return k.Set(bad.Key, bad.Value)
					}
				}
				return errors.New("no such row")
			})
			if err != nil {
				t.Fatal(err)
			}
			problems, err := maintenance.Verify(context.Background(), w.Repo)
			if err != nil || len(problems) != 1 || !strings.HasSuffix(problems[0], c.want) {
				t.Errorf("got %q %v, want %q", problems, err, c.want)
			}
		})
	}
}
