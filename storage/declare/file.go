package declare

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"unicode/utf8"

	"catena/storage/fault"
)

// MaxFile bounds one file, in bytes.
const MaxFile = 1 << 20

// ReadFile reads a file of a folder. One that is too large, or no file but a pipe or a device, which may never end, is an
// error of kind Invalid that does not name it.
func ReadFile(dir fs.FS, name string) ([]byte, error) {
	about, err := fs.Stat(dir, name) // opening a pipe waits for somebody who writes
	if err != nil {
		return nil, err
	}
	if !about.Mode().IsRegular() {
		return nil, fault.Invalid.Errorf("not a file")
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return read(f)
}

func read(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		err = fault.Invalid.Errorf("larger than %d bytes", MaxFile)
	}
	return b, err
}

// Text reads a text, within the bounds of a file. What is not UTF-8 is an error of kind Invalid.
func Text(r io.Reader) (string, error) {
	b, err := read(r)
	if err != nil {
		return "", err
	}
	line := 1
	for part := range bytes.Lines(b) {
		if !utf8.Valid(part) {
			return "", fault.Invalid.Errorf("line %d is not UTF-8", line).At(line, 1)
		}
		line++
	}
	return string(b), nil
}

// ReadFolder reads the files of a folder that have one of some extensions; a folder that is missing is empty.
func ReadFolder(dir fs.FS, extensions ...string) (all []Source, err error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Unavailable.Errorf("declarations: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains(extensions, path.Ext(e.Name())) {
			continue
		}
		text, err := ReadFile(dir, e.Name())
		if err != nil {
			return nil, fault.Wrap(err, "%s", e.Name())
		}
		all = append(all, Source{Name: e.Name(), Text: string(text)})
	}
	return all, nil
}
