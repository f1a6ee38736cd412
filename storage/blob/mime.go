package blob
// TypeOf completes a type.
func TypeOf(name, typ string, head []byte) (string, string) { return typ, "" }
