package kv

import (
	"encoding/binary"
	"hash/crc32"

	"catena/storage/fault"
)

// envelope is the length of what stands before every stored value: a CRC32C of key
// and value, and the value's length.
const envelope = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns the value as it is stored under key.
func seal(key, value []byte) []byte {
	b := make([]byte, envelope+len(value))
	copy(b[envelope:], value)
	binary.BigEndian.PutUint32(b, checksum(key, value))
	binary.BigEndian.PutUint32(b[4:], uint32(len(value)))
	return b
}

// unseal returns the value inside what is stored under key.
func unseal(key, stored []byte) ([]byte, error) {
	if len(stored) >= envelope {
		value := stored[envelope:len(stored):len(stored)]
		if binary.BigEndian.Uint32(stored[4:]) == uint32(len(value)) && binary.BigEndian.Uint32(stored) == checksum(key, value) {
			return value, nil
		}
	}
	return nil, fault.Internal.Errorf("stored value of key %q is damaged: %w", key, ErrDamaged)
}

func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
