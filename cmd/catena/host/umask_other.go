//go:build !unix

package host

// KeepPrivate does nothing: a new file has the rights of its folder here.
func KeepPrivate() {}
