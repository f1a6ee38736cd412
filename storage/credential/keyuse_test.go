package credential

import "testing"

// TestKeyCache keeps no row that was read before a key ended.
func TestKeyCache(t *testing.T) {
	var c keyCache
	_, _, generation := c.get(1)
	c.put(1, keyRow{Key: Key{ID: 1}}, generation)
	if k, known, _ := c.get(1); !known || k.ID != 1 {
		t.Error("a row is not kept")
	}
	c.drop()
	if _, known, _ := c.get(1); known {
		t.Error("a row is kept although a key has ended")
	}
	c.put(1, keyRow{}, generation)
	if _, known, _ := c.get(1); known {
		t.Error("a row is kept that was read before a key ended")
	}
}
