package row

import (
	"reflect"
	"sync"
)

// Memory is what packages below storage keep in memory for a store, each under a type of its own.
type Memory struct{ values sync.Map }

// Of returns the one T of a store, zero at first.
func Of[T any](m *Memory) *T {
	if v, ok := m.values.Load(reflect.TypeFor[T]()); ok {
		return v.(*T)
	}
	v, _ := m.values.LoadOrStore(reflect.TypeFor[T](), new(T))
	return v.(*T)
}
