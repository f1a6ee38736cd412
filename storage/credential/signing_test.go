package credential

import (
	"testing"
	"time"
)

// TestSigningRows keeps no row that was read before one of the kind ended, and none that is gone.
func TestSigningRows(t *testing.T) {
	var c signingRows[keyRow]
	kept := func(want bool, what string) {
		t.Helper()
		if k, known, _ := c.get("1"); known != want || known && k.ID != 1 {
			t.Errorf("%s: kept %t %v, want %t", what, known, k, want)
		}
	}
	_, _, generation := c.get("1")
	row := keyRow{Key: Key{ID: 1}}
	c.put("1", row, true, generation)
	kept(true, "a row")
	c.drop()
	kept(false, "a row of which one has ended")
	c.put("1", row, true, generation)
	kept(false, "a row that was read before one ended")
	_, _, generation = c.get("1")
	c.put("1", row, true, generation)
	c.put("1", keyRow{}, false, generation)
	kept(false, "a row that is gone")
}

// TestKeyUsedWhenRevoked notes no use of a key that was refused, since it had been revoked.
func TestKeyUsedWhenRevoked(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	for _, c := range []struct{ noted, used, revoked, want time.Time }{
		{at(5), at(3), time.Time{}, at(5)},
		{at(2), at(3), time.Time{}, at(3)},
		{at(5), at(3), at(6), at(5)},
		{at(5), at(3), at(5), at(3)},
		{at(5), at(3), at(4), at(3)},
		{time.Time{}, at(3), time.Time{}, at(3)},
	} {
		k := keyRow{Key: Key{LastUsed: c.used, Revoked: c.revoked}}
		if got := k.used(c.noted); !got.Equal(c.want) {
			t.Errorf("noted at %s, written at %s, revoked at %s: used at %s, want %s", c.noted, c.used, c.revoked, got, c.want)
		}
	}
}
