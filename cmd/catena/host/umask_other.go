//go:build !unix

package main

// keepPrivate does nothing: a new file has the rights of its folder here.
func keepPrivate() {}
