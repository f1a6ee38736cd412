package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"catena/cmd/catena/host"
	"catena/storage/blob"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"
)

// copying is the folder in a data directory in which a copy becomes one.
const copying = "copying"

// copied is what a copy has done.
type copied struct {
	kv.Copied
	Contents int    `json:"contents"` // of files, that were copied
	Bucket   string `json:"bucket,omitempty"`
	To       string `json:"to"`
}

func copyCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "copy FROM TO", Short: "Copy a data directory into an empty database, or a database into an empty directory, and compare both; an interrupted copy continues", Args: cobra.ExactArgs(2),
		Long: "Copy a data directory into an empty database, postgres://USER@HOST/DATABASE, or a database into an empty directory,\n" +
			"and compare both. An interrupted copy continues. No server may use either of them.\n\n" +
			"Content of files in a bucket stays there, and FROM is refused from then on. Other content is copied: --blobs names\n" +
			"the bucket or folder that has the content of the database. Declarations, such as the folder types, are not copied.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			m := mover{from: g.side(args[0]), to: g.side(args[1])}
			if m.from.shared() == m.to.shared() {
				return usage{errors.New("one of FROM and TO must be a data directory, the other one the address of a database")}
			}
			c, err := m.run(cmd.Context())
			if err != nil {
				return err
			}
			content := fmt.Sprintf("%d contents of files copied", c.Contents)
			if c.Bucket != "" {
				content = "content of files stays in " + c.Bucket
			}
			return g.say(cmd.OutOrStdout(), c, "%d rows in %s, %d of them from an interrupted copy; %d ranges compared; %s", c.Rows, c.To, c.Continued, c.Ranges, content)
		},
	}
}

// side is where one side of a copy is.
func (g *global) side(at string) *global {
	s := *g
	if s.store = ""; strings.Contains(at, "://") {
		s.store = at
		return &s
	}
	s.data, s.blobs = at, ""
	return &s
}

// mover copies one store into another.
type mover struct {
	from, to *global
	source   *app
	target   *app
}

func (m *mover) run(ctx context.Context) (c copied, err error) {
	if err := errors.Join(m.from.checkPlaces(), m.to.checkPlaces()); err != nil {
		return c, usage{err}
	}
	if err := m.from.made(); err != nil {
		return c, err
	}
	home := m.to.data
	if !m.to.shared() {
		if _, err := os.Stat(filepath.Join(home, "store")); !errors.Is(err, fs.ErrNotExist) {
			return c, cmp.Or(err, error(fault.Exists.Errorf("%s: already contains a store; copy into an empty directory", home)))
		}
		// The copy is made in a folder of its own and renamed at the end, so an interrupted one is
		// never mistaken for a data directory, and the next attempt finds it there and continues.
		m.to.data = filepath.Join(home, copying)
		if err := os.MkdirAll(m.to.data, 0o700); err != nil {
			return c, usage{err}
		}
	}
	if m.source, err = m.from.openAlone(ctx); err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, m.source.db.Close()) }()
	if m.target, err = m.to.openAlone(ctx); err != nil {
		return c, err
	}
	// The target is closed before it is renamed, with its error looked at: the last rows may be
	// written then.
	c, err = m.copy(ctx, home)
	if err = errors.Join(err, m.target.db.Close()); err != nil || m.to.shared() {
		return c, err
	}
	return c, unpack(m.to.data, home)
}

// openAlone opens a store for this process alone, without its content.
func (g *global) openAlone(ctx context.Context) (*app, error) {
	log, err := g.logger()
	if err != nil {
		return nil, err
	}
	if err := host.CheckOwner(g.data); err != nil {
		return nil, usage{err}
	}
	a := &app{dir: g.data, log: log, meters: newMeters()}
	if err := g.openStore(ctx, a, openOptions{alone: true}); err != nil {
		return nil, err
	}
	a.keeper = inDirectory(g.data)
	if g.shared() {
		a.keeper = inDatabase{a.database}
	}
	return a, nil
}

// copy copies the rows, and the content of files unless that stays in a bucket.
func (m *mover) copy(ctx context.Context, home string) (c copied, err error) {
	if c.To = home; m.to.shared() {
		c.To = m.to.where()
	}
	location, err := m.source.keeper.read(ctx)
	if err != nil {
		return c, err
	}
	if location.Left != "" && location.Left != c.To {
		return c, usage{location.left()}
	}
	stays := location.Address != "" && (!m.to.shared() || m.to.blobs == "" || m.to.blobs == location.Address)
	if !stays && m.to.shared() && m.to.blobs == "" {
		return c, usage{errors.New("blobs: name the bucket or the absolute folder that is to have the content of files of the database with --blobs")}
	}
	// Until all content is there, the target has the mark of a copy that is not complete.
	c.Copied, err = kv.Copy(ctx, m.source.db, m.target.db, func() (err error) {
		if stays {
			c.Bucket = location.Address
			return m.handOver(ctx, location, c.To)
		}
		c.Contents, err = m.content(ctx)
		return err
	})
	return c, err
}

// handOver has the target take the bucket of the source, which is refused from then on: each of two stores would remove content
// that only the other one uses.
func (m *mover) handOver(ctx context.Context, p contentLocation, to string) error {
	// The target first: after a crash between the two both have the bucket, and the mark of an
	// incomplete copy still keeps the target from being served.
	p.Left = ""
	if err := m.target.keeper.write(ctx, p); err != nil {
		return err
	}
	p.Left = to
	return m.source.keeper.write(ctx, p)
}

// content copies the content of files.
func (m *mover) content(ctx context.Context) (n int, err error) {
	from, done, err := m.from.openContent(ctx, m.source)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	to, finish, err := m.to.openContent(ctx, m.target)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, finish()) }()
	return copyContent(ctx, from, to)
}

// openContent opens the content of one side. What a bucket needs on this machine is in a folder that is removed afterwards.
func (g *global) openContent(ctx context.Context, a *app) (*blob.Store, func() error, error) {
	p, err := a.keeper.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	at, aside := *g, ""
	if at.shared() && !at.isFolder() && (p.Address != "" || at.blobs != "") {
		if aside, err = os.MkdirTemp("", "catena-copy"); err != nil {
			return nil, nil, err
		}
		at.data = aside
	}
	s, _, err := at.openBlobs(ctx, a.keeper, 1, a.log)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(aside))
	}
	return s, func() error { return errors.Join(s.Close(), os.RemoveAll(aside)) }, nil
}

// unpack makes the copy in a folder the data directory home. The store comes last: what has one is a data directory.
func unpack(from, home string) error {
	for _, part := range []string{"blobs", locationFile, "store"} {
		err := os.Rename(filepath.Join(from, part), filepath.Join(home, part))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.RemoveAll(from); err != nil {
		return err
	}
	return disk.SyncDir(home)
}
