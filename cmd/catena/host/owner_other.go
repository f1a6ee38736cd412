//go:build !unix

package host

// CheckOwner refuses nothing: there is no user root here.
func CheckOwner(string) error { return nil }
