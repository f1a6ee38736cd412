package values

import (
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"

	"catena/storage/disk"
)

// mapping is a file in memory, as far as it is mapped: a value is copied from there in a tenth of the time that a read of the
// file takes, nearly all of which is the system call. What is behind the mapping is read.
type mapping struct {
	mu  sync.RWMutex // held by who copies; exclusively by who unmaps
	mem []byte
}

// open maps the first bytes of a file. They need not be there yet: nothing is copied that was not written. A file of another
// file system than the operating system's is not mapped, so that tests can fail reads of it.
func (m *mapping) open(f disk.File, size int64) {
	file := disk.Raw(f)
	if file == nil {
		return
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if mem, err := unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED); err == nil {
			m.mem = mem
		}
	})
}

// size is how much is mapped.
func (m *mapping) size() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return int64(len(m.mem))
}

// value fills b with the value of a key that is thought to be at a pointer, and reports whether it did. A file that was cut
// ends with zeros in memory, so the sum of the entry is compared; a page that cannot be read panics. Both are left to a read of
// the file, whose error says what is wrong.
func (m *mapping) value(p Pointer, key, b []byte) (ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	end := int64(p.At) + entrySize(len(key), p.Size)
	if end > int64(len(m.mem)) {
		return false
	}
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if recover() != nil {
			ok = false
		}
	}()
	entry := m.mem[p.At:end]
	if !isEntry(entry, key, p.Size) || !intact(entry) {
		return false
	}
	copy(b, entry[entryHeader+len(key):])
	return true
}

// release gives back the pages, which are found in the system's cache again.
func (m *mapping) release() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.mem) == 0 {
		return nil
	}
	return unix.Madvise(m.mem, unix.MADV_DONTNEED)
}

func (m *mapping) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mem != nil {
		_ = unix.Munmap(m.mem)
		m.mem = nil
	}
}
