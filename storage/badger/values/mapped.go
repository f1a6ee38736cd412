package values

import (
	"cmp"
	"errors"
	"slices"
)

// mostMapped bounds the files that are mapped, the newest ones, in bytes: what the process has resident of them is bounded by it.
const mostMapped = 128 << 20

// mapNewest maps the newest files and unmaps others; f.mu is held, or nobody reads yet.
func (f *Files) mapNewest() {
	all := make([]*file, 0, len(f.files))
	for _, one := range f.files {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *file) int { return cmp.Compare(b.number, a.number) })
	left := int64(mostMapped)
	for _, one := range all {
		size := one.size.Load()
		if one == f.out {
			size = max(size, f.end, f.Smallest) + bufferSize // of what will be written
		}
		if left -= size; left < 0 {
			one.mapped.close()
		} else if one.mapped.size() < size {
			one.mapped.close()
			one.mapped.open(one.File, size)
		}
	}
}

// Release gives back the pages of files that are resident.
func (f *Files) Release() (err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, one := range f.files {
		err = errors.Join(err, one.mapped.release())
	}
	return err
}

// close closes the file. Who reads it meanwhile is waited for, or gets an error.
func (f *file) close() error {
	f.mapped.close()
	return f.Close()
}
