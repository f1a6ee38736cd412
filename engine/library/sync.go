package library

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
)

// Sync applies the files of a folder whose text is not what is deployed, and returns the
// names of what changed. Files that are refused are left out and returned as one error.
func (k *Kind) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(dir, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var changed, pending []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(k.Ext, path.Ext(entry.Name())) {
			pending = append(pending, entry.Name())
		}
	}
	// What is compiled into operations is deployed one by one, since a file may name another. The rest is deployed together:
	// one by one, the time of many files would grow by the square of their number. A file that names another waits for the
	// next round.
	var b batch
	if k.Put != nil {
		ctx = context.WithValue(ctx, batchKey{}, &b)
	}
	known := k.numbers()
	for len(pending) > 0 {
		names, left, errs := k.applyAll(ctx, e, dir, pending, known)
		changed = append(changed, names...)
		if len(b.added) > 0 {
			if err := k.deploy(e, b.added...); err != nil {
				return changed, errors.Join(append(errs, err)...)
			}
			b.added = nil
		}
		if len(left) == len(pending) {
			return changed, errors.Join(errs...)
		}
		pending = left
	}
	return changed, nil
}

// batch are the texts of a folder that are deployed together.
type batch struct{ added []Version }

type batchKey struct{}

// Files that are saved in one transaction, and about how many bytes.
const (
	togetherFiles = 200
	togetherBytes = 1 << 20
)

// applyAll saves files: those of a kind that only has to be read together, so many in a transaction. Files whose text is deployed
// are not looked at again.
func (k *Kind) applyAll(ctx context.Context, e *engine.Engine, dir fs.FS, files []string, known map[string]int64) (changed, left []string, errs []error) {
	same := k.sources(e)
	var part []fileText
	size := 0
	flush := func() {
		names, refused := k.applyTogether(ctx, e, part, known)
		changed = append(changed, names...)
		for _, f := range part {
			if err := refused[f.name]; err != nil {
				left, errs = append(left, f.name), append(errs, err)
			}
		}
		part, size = nil, 0
	}
	for _, file := range files {
		source, err := textOf(dir, file)
		switch {
		case err != nil:
			left, errs = append(left, file), append(errs, err)
			continue
		case same[file] == source && source != "":
			continue
		}
		part, size = append(part, fileText{file, source}), size+len(source)
		if k.Put == nil || k.Works == nil || len(part) == togetherFiles || size >= togetherBytes {
			flush()
		}
	}
	flush()
	return changed, left, errs
}

// fileText is a file that is to be saved.
type fileText struct{ name, source string }

// sources are the deployed texts of files.
func (k *Kind) sources(e *engine.Engine) map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[string]string, len(k.deployed))
	for _, v := range k.deployed {
		if v.repo == e.Repo().Name() {
			all[v.File] = v.Source
		}
	}
	return all
}

func textOf(dir fs.FS, file string) (string, error) {
	b, err := declare.ReadFile(dir, file)
	var source string
	if err == nil {
		source, err = declare.Text(bytes.NewReader(b))
	}
	if err != nil {
		return "", fault.Wrap(err, "%s", file)
	}
	return strings.TrimPrefix(source, byteOrder), nil
}

// applyTogether saves files in one transaction, and returns what it changed and the files that were refused. If the store fails, or
// there is only one, each has a transaction of its own.
func (k *Kind) applyTogether(ctx context.Context, e *engine.Engine, files []fileText, known map[string]int64) (changed []string, refused map[string]error) {
	var saved []Version
	if len(files) > 1 {
		err := e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
			saved, refused = nil, map[string]error{}
			return e.Within(tx, e.System(), engine.Server, k.Family+".Save", func(c *engine.Ctx) error {
				for _, f := range files {
					name, err := k.accepted(c, f.name, f.source)
					if err != nil {
						refused[f.name] = err
						continue
					}
					v, err := k.write(c, name, f.name, f.source, appliedFrom(f.name))
					if err != nil {
						return err
					}
					saved = append(saved, v.head())
				}
				return nil
			})
		})
		if err == nil {
			return changes(saved, known), refused
		}
	}
	saved, refused = nil, map[string]error{}
	for _, f := range files {
		r, err := e.Run(ctx, engine.Call{
			Op: k.Family + ".Save", As: e.System(), EntryPoint: engine.Server,
			Params: map[string]any{"source": f.source, "name": f.name, "note": appliedFrom(f.name)},
		})
		if err != nil {
			refused[f.name] = err
		} else if v, ok := r.Value.(Version); ok {
			saved = append(saved, v)
		}
	}
	return changes(saved, known), refused
}

func appliedFrom(file string) string { return "applied from " + file }

// changes are the names of versions that are newer than those known, and are known from now on.
func changes(saved []Version, known map[string]int64) (names []string) {
	for _, v := range saved {
		if v.Version > known[v.Name] {
			known[v.Name] = v.Version
			names = append(names, v.Name)
		}
	}
	return names
}
