package resource

import (
	"math"
	"testing"

	"catena/storage/fault"
)

// A page begins where the one before ends, also if the server's limit decides how long it is.
func TestPagingOffset(t *testing.T) {
	for _, test := range []struct {
		p             paging
		largest       int
		limit, offset int
	}{
		{paging{size: 50, index: 2}, 1000, 50, 100},
		{paging{size: 0, index: 2}, 1000, 0, 2000},
		{paging{size: 0, index: 2}, 30, 0, 60},
		{paging{size: -1, index: 1}, 30, 0, 30},
		{paging{size: 500, index: 2}, 30, 500, 60},
		{paging{size: 5000, index: 1}, 5000, 1000, 1000},
		{paging{size: 10, index: 2, offset: 7}, 1000, 10, 7},
	} {
		o, err := test.p.options(test.largest)
		if err != nil || o.Limit != test.limit || o.Offset != test.offset {
			t.Errorf("%+v, largest %d: got limit %d, offset %d, %v", test.p, test.largest, o.Limit, o.Offset, err)
		}
	}
	for _, p := range []paging{{index: -1}, {offset: -1}, {max: -1}, {size: 1000, index: math.MaxInt}, {index: math.MaxInt/1000 + 1}} {
		if _, err := p.options(1000); fault.Of(err) != fault.Invalid {
			t.Errorf("%+v: got %v", p, err)
		}
	}
}
