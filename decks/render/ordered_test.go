package render

import (
	"slices"
	"testing"
)

// TestOrdered puts boxes above each other by their planes, and within one by their order, and leaves the list as it is.
func TestOrdered(t *testing.T) {
	for _, planes := range [][]int{nil, {1}, {0, 0, 0}, {2, -1, 0, 2, 1, -1}, {3, 2, 1, 0}, {0, 1, 0, 1}} {
		var boxes []*box
		for i, z := range planes {
			boxes = append(boxes, &box{style: &style{z: z}, x: float64(i)})
		}
		before := slices.Clone(boxes)
		got := ordered(boxes)
		if len(got) != len(boxes) || !slices.Equal(boxes, before) {
			t.Errorf("%v: %d boxes, and the list is changed: %v", planes, len(got), !slices.Equal(boxes, before))
		}
		for i := 1; i < len(got); i++ {
			below, above := got[i-1], got[i]
			if below.style.z > above.style.z || below.style.z == above.style.z && below.x >= above.x {
				t.Errorf("%v: box %v of plane %d lies below box %v of plane %d", planes, below.x, below.style.z, above.x, above.style.z)
			}
		}
	}
}
