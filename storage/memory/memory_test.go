package memory

import (
	"testing"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return New() })
}
