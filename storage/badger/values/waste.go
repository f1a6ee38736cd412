package values

import (
	"cmp"
	"errors"
	"io/fs"
)

// Dead says that nothing refers to the value of a key at a pointer any longer.
func (f *Files) Dead(p Pointer, key []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.files[p.File]; one != nil {
		one.dead += entrySize(len(key), p.Size)
	}
}

// Waste returns the file with the least of use in it, if that is no larger share of it than most.
func (f *Files) Waste(most float64) (number uint32, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, one := range f.files {
		if used := one.used(); f.settled(one) && used <= most {
			number, most, ok = one.number, used, true
		}
	}
	return number, ok
}

// settled reports whether a file is no longer written and may be given up: it holds nothing but whole entries.
func (f *Files) settled(one *file) bool { return one != f.out && !one.retired && !one.kept }

// used is the share of a file that may be of use.
func (f *file) used() float64 {
	size := f.size.Load()
	if size == 0 {
		return 0
	}
	return 1 - float64(f.dead)/float64(size)
}

// Used is how many bytes are of use in the files that Waste would return one after the other.
func (f *Files) Used(most float64) (n int64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, one := range f.files {
		if f.settled(one) && one.used() <= most {
			n += max(one.size.Load()-one.dead, 0)
		}
	}
	return n
}

// Unused is how many bytes are known to be unused.
func (f *Files) Unused() (n int64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, one := range f.files {
		if one.retired {
			n += one.size.Load()
			continue
		}
		n += one.dead
	}
	return n
}

// After returns the file that follows a number, from the first on after the last, of those
// that may be given up. Its number is zero if there is none.
func (f *Files) After(number uint32) (next File) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var first File
	for _, one := range f.files {
		if !f.settled(one) {
			continue
		}
		d := File{one.number, one.size.Load(), one.dead}
		if first.Number == 0 || d.Number < first.Number {
			first = d
		}
		if d.Number > number && (next.Number == 0 || d.Number < next.Number) {
			next = d
		}
	}
	return cmp.Or(next, first)
}

// Counted says how many bytes of a file were found to be of use, and how many unused it
// was said to have before they were counted.
func (f *Files) Counted(number uint32, live, before int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.files[number]; one != nil {
		one.dead = max(one.size.Load()-fileHeader-live, 0) + one.dead - before
	}
}

// Ends reports whether a file ends at an offset.
func (f *Files) Ends(number uint32, at int64) bool { return at >= f.file(number).size.Load() }

// Retire says that nothing in a file is of use once those who read are done.
func (f *Files) Retire(number uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[number].retired = true
}

// Keep says that a file is damaged: it is not offered as Waste again.
func (f *Files) Keep(number uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[number].kept = true
}

// Kept lists the files that hold what is not understood, and so are not given up.
func (f *Files) Kept() (names []string) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, one := range f.files {
		if one.kept {
			names = append(names, one.Name())
		}
	}
	return names
}

// Drop removes a file.
func (f *Files) Drop(number uint32) error {
	f.mu.Lock()
	one := f.files[number]
	delete(f.files, number)
	f.mu.Unlock()
	if one == nil {
		return nil
	}
	_ = one.close()
	if err := f.fs.Remove(one.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
