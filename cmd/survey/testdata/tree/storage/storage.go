// Package storage is a sample.
package storage

import _ "catena/storage/kv"

// Tx has three methods.
type Tx struct{}

// Get is exported.
func (t *Tx) Get() {}

func (t *Tx) Put() {} // without a comment above

func (t *Tx) own() {}

// Kinds.
const (
	A = iota
	B
)

// Open has many parameters and decisions.
func Open(a, b, c int, d, e, f int) int {
	if a > 0 && b > 0 || c > 0 {
		return 1
	}
	for range d {
		switch e {
		case 1, 2:
		case 3:
		case 4:
		case 5:
		case 6:
		default:
		}
	}
	for f > 0 {
		if f == 1 || f == 2 || f == 3 || f == 4 || f == 5 || f == 6 {
			return 2
		}
	}
	return 0
}
