package disk

import "golang.org/x/sys/unix"

func space(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, err
	}
	return Space{Free: s.Bavail * uint64(s.Bsize), Whole: s.Blocks * uint64(s.Bsize)}, nil
}
