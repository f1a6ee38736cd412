package layout

// RecordFormat is the first byte of records.
const RecordFormat = 2

// RecordType returns the name of the type in a record, nothing if it is of unknown form.
func RecordType(b []byte) []byte {
	if len(b) == 0 || b[0] != RecordFormat {
		return nil
	}
	in := Reader{B: b[1:]}
	in.Uvarint()
	return in.Bytes()
}
