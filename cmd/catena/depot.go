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
)

// depot is where copies are kept: a folder, or a bucket of an object store.
type depot interface {
	// list returns the names of what is kept; there is nothing in a folder that is missing.
	list(ctx context.Context) ([]string, error)
	// write keeps what write writes under a name, once that is whole. What had the name goes then.
	write(ctx context.Context, name string, write func(io.Writer) error) error
	open(ctx context.Context, name string) (io.ReadCloser, error)
	remove(ctx context.Context, name string) error
	// ready makes the depot if need be, and removes what writes that were broken off before a moment have left.
	ready(ctx context.Context, before time.Time) error
	// at is the address of what has a name, of the depot itself for "".
	at(name string) string
}

// openDepot opens the depot at an address: that of a bucket, as openBucket has it, or a folder.
func openDepot(address string) (depot, error) {
	if strings.HasPrefix(address, bucketScheme) {
		return openBucket(address)
	}
	return folder(address), nil
}

// openCopy splits the address of one copy into its depot and its name there.
func openCopy(address string) (d depot, name string, err error) {
	if strings.HasPrefix(address, bucketScheme) {
		return openInBucket(address)
	}
	return folder(filepath.Dir(address)), filepath.Base(address), nil
}

// folder is a depot on this machine.
type folder string

func (f folder) at(name string) string { return filepath.Join(string(f), name) }

func (f folder) list(context.Context) (names []string, err error) {
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

func (f folder) write(_ context.Context, name string, write func(io.Writer) error) error {
	return writeWhole(f.at(name), write)
}

func (f folder) open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(f.at(name))
}

func (f folder) remove(_ context.Context, name string) error { return os.Remove(f.at(name)) }

func (f folder) ready(_ context.Context, before time.Time) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(f))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(f.at(e.Name()))
		}
	}
	return err
}
