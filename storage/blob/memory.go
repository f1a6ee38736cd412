package blob

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"catena/storage/fault"
)

// inMemory is content of a store without a folder, for tests.
type inMemory struct {
	s *Store

	mu  sync.Mutex
	all map[string]kept
}

type kept struct {
	data []byte
	at   time.Time
}

func (m *inMemory) renew(_ context.Context, digest string, size int64) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.all[digest]
	if !ok || int64(len(k.data)) != size {
		return false, nil
	}
	m.all[digest] = kept{k.data, time.Now()}
	return true, nil
}

func (m *inMemory) take(_ context.Context, b *Blob) error {
	data, err := b.Bytes(0)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[b.Digest] = kept{data, time.Now()}
	return nil
}

func (m *inMemory) open(digest string, size int64) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.all[digest]; ok && int64(len(k.data)) == size {
		return memory(k.data).open()
	}
	return nil, m.s.missing(digest)
}

func (m *inMemory) read(_ context.Context, digest string, size int64) (io.ReadCloser, error) {
	return m.open(digest, size)
}

func (m *inMemory) find(_ context.Context, digest string) (int64, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.all[digest]
	if !ok {
		return 0, time.Time{}, fault.NotFound.Errorf("blob %s", digest)
	}
	return int64(len(k.data)), k.at, nil
}

func (m *inMemory) remove(_ context.Context, digest string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, digest)
	return nil
}

func (m *inMemory) each(_ context.Context, after string, fn func(digest string, size int64, at time.Time) error) error {
	m.mu.Lock()
	all := maps.Clone(m.all)
	m.mu.Unlock()
	for _, digest := range slices.Sorted(maps.Keys(all)) {
		if digest <= after {
			continue
		}
		if err := fn(digest, int64(len(all[digest].data)), all[digest].at); err != nil {
			return err
		}
	}
	return nil
}

func (m *inMemory) tidy(context.Context, time.Time) (bool, error) { return true, nil }
