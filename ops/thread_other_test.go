//go:build !linux

package ops_test

// threadID is 0: what threads wait for is not known here.
func threadID() int { return 0 }
