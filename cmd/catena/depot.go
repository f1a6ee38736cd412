package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"catena/storage/blob/bucket"
)

// depot is where copies are kept: a folder, or a bucket of an object store.
type depot interface {
	// List returns the names of what is kept; there is nothing in a folder that is missing.
	List(ctx context.Context) ([]string, error)
	// Write keeps what write writes under a name, once that is whole. What had the name goes then.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	Remove(ctx context.Context, name string) error
	// Ready makes the depot if need be, and removes what writes that were interrupted before a moment have left.
	Ready(ctx context.Context, before time.Time) error
	// Stat returns the size of what has a name, in bytes, and when it was written.
	Stat(ctx context.Context, name string) (size int64, modified time.Time, err error)
	// At is the address of what has a name, of the depot itself for "".
	At(name string) string
}

// openDepot opens the depot at an address: that of a bucket, as bucket.Open has it, or a folder.
func openDepot(address string) (depot, error) {
	if strings.HasPrefix(address, bucket.Scheme) {
		return bucket.Open(address)
	}
	return folder(address), nil
}

// openCopy splits the address of one copy into its depot and its name there.
func openCopy(address string) (d depot, name string, err error) {
	if strings.HasPrefix(address, bucket.Scheme) {
		return bucket.OpenObject(address)
	}
	return folder(filepath.Dir(address)), filepath.Base(address), nil
}

// folder is a depot on this machine.
type folder string

func (f folder) At(name string) string { return filepath.Join(string(f), name) }

func (f folder) List(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// partPrefix begins the names of files that are not whole yet.
const partPrefix = ".part-"

// writeWhole has a file under its name only once all that write writes is on the disk.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), partPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func (f folder) Write(_ context.Context, name string, write func(io.Writer) error) error {
	return writeWhole(f.At(name), write)
}

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(f.At(name))
}

func (f folder) Stat(_ context.Context, name string) (int64, time.Time, error) {
	info, err := os.Stat(f.At(name))
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

func (f folder) Remove(_ context.Context, name string) error { return os.Remove(f.At(name)) }

func (f folder) Ready(_ context.Context, before time.Time) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(f))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(f.At(e.Name()))
		}
	}
	return err
}
