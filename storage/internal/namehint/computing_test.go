//go:build !race

package namehint

import (
	"fmt"
	"testing"
)

// TestNames finds what was noted last of a name, nothing of others, and takes bounded room.
func TestNames(t *testing.T) {
	var n Names
	folder, other := id(1), id(2)
	if got := n.Find(n.Of(folder, "a")); got != (ID{}) {
		t.Fatal(got)
	}
	n.Note(n.Of(folder, "a"), id(10))
	n.Note(n.Of(other, "a"), id(11))
	n.Note(n.Of(folder, "a"), id(12))
	for _, c := range []struct {
		folder ID
		name   string
		want   ID
	}{{folder, "a", id(12)}, {other, "a", id(11)}, {other, "b", ID{}}} {
		if got := n.Find(n.Of(c.folder, c.name)); got != c.want {
			t.Errorf("%v %s: %v", c.folder, c.name, got)
		}
	}
	const many = 1_000_000
	found, slots := 0, 0
	for i := range many {
		n.Note(n.Of(folder, fmt.Sprint(i)), id(i))
	}
	for i := range many {
		switch got := n.Find(n.Of(folder, fmt.Sprint(i))); got {
		case id(i):
			found++
		case ID{}:
		default:
			t.Fatalf("%d: %v", i, got)
		}
	}
	for i := range n.stripes {
		slots += len(n.stripes[i].slots)
	}
	if slots != stripes*mostSlots || found < slots/2 || found > slots {
		t.Errorf("%d of %d in %d", found, many, slots)
	}
}

// TestNamesInTurn finds nearly all names that are asked for in turn, as long as there is room for them.
func TestNamesInTurn(t *testing.T) {
	for _, many := range []int{100, 3_000, 20_000, 100_000} {
		var n Names
		folder, lost := id(1), 0
		for turn := range 2 {
			for i := range many {
				of := n.Of(folder, fmt.Sprint(i))
				switch got := n.Find(of); {
				case got == id(i):
					continue
				case got != (ID{}):
					t.Fatalf("%d: %v", i, got)
				case turn > 0:
					lost++
				}
				n.Note(of, id(i))
			}
		}
		if lost > many/20 {
			t.Errorf("%d of %d names are lost", lost, many)
		}
	}
}

func id(i int) ID { return ID{1, byte(i >> 16), byte(i >> 8), byte(i)} }
