package kv

import (
	"encoding/binary"
	"hash/crc32"

	"catena/storage/fault"
)

// envelope is the length of what stands before every stored value: a CRC32C of key
// and value.
const envelope = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// RowGap is the room between key and value of a row.
const RowGap = envelope

// AppendRow appends a key and room for the checksum; the value is appended next, and the whole given to
// SetRow.
func AppendRow(dst, key []byte) []byte { return append(append(dst, key...), 0, 0, 0, 0) }

// RowValue is the value in a row whose key has n bytes.
func RowValue(row []byte, n int) []byte { return row[n+envelope:] }

// sealRow completes a row whose key has n bytes.
func sealRow(row []byte, n int) (key, stored []byte) {
	key, stored = row[:n:n], row[n:len(row):len(row)]
	binary.BigEndian.PutUint32(stored, checksum(key, stored[envelope:]))
	return key, stored
}

// unseal returns the value inside what is stored under key.
func unseal(key, stored []byte) ([]byte, error) {
	if len(stored) >= envelope {
		value := stored[envelope:len(stored):len(stored)]
		if binary.BigEndian.Uint32(stored) == checksum(key, value) {
			return value, nil
		}
	}
	return nil, fault.Internal.Errorf("stored value of key %q is damaged: %w", key, ErrDamaged)
}

func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(local(key), castagnoli), castagnoli, value)
}
