//go:build unix

package host

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// CheckOwner refuses root a directory that belongs to another user: the server of that user could not open what root
// makes in it. A directory that is not there is nobody's.
func CheckOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return nil //nolint:nilerr // whoever opens it says what is wrong
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 {
		return nil
	}
	name := strconv.FormatUint(uint64(s.Uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return fmt.Errorf("%s belongs to the user %s, whose server could not open files that root makes there: run this as %s", dir, name, name)
}
