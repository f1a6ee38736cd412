package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

// room is what a folder takes on the disk, in bytes.
type room struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

func (r room) String() string {
	return fmt.Sprintf("%s, was %s", humanize.IBytes(uint64(r.After)), humanize.IBytes(uint64(r.Before)))
}

func compactCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Free disk space that is no longer used", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			store, blobs, err := g.compact(cmd.Context())
			if err != nil {
				return err
			}
			return g.say(cmd.OutOrStdout(), map[string]room{"store": store, "blobs": blobs}, "store  %s\nblobs  %s", store, blobs)
		},
	}
}

// compact gives back what the closed data directory does not need: what a server removes from time to time, and what
// is unused in the files of the store, much of which a server leaves until it pays.
func (g *global) compact(ctx context.Context) (store, blobs room, err error) {
	if g.shared() {
		return store, blobs, usage{errors.New("the database gives room back by itself (autovacuum)")}
	}
	if err := g.made(); err != nil {
		return store, blobs, err
	}
	parts := map[string]*room{"store": &store, "blobs": &blobs}
	for part, r := range parts {
		// Measured before the store is opened, which writes files of its own.
		if r.Before, err = taken(filepath.Join(g.data, part)); err != nil {
			return store, blobs, err
		}
	}
	// The lock of the store is what keeps a running server out: compaction rewrites files under its
	// readers.
	a, err := g.open(ctx)
	if err != nil {
		return store, blobs, err
	}
	for _, b := range a.branches {
		err = errors.Join(err, a.sweepBranch(ctx, b))
	}
	if err == nil {
		err = a.db.Compact(ctx)
	}
	if err = errors.Join(err, a.close()); err != nil {
		return store, blobs, err
	}
	for part, r := range parts {
		if r.After, err = taken(filepath.Join(g.data, part)); err != nil {
			return store, blobs, err
		}
	}
	return store, blobs, nil
}

// taken is the size of all files below a folder, in bytes.
func taken(folder string) (n int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		// Removed between the listing and here.
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
