package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"catena/ops/service"
	"catena/storage"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/maintenance"
)

func backupCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write a consistent copy of everything to one file, or s3://BUCKET/NAME, while the server runs or not; to standard output for -", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, name, err := openCopy(args[0])
			if err != nil {
				return usage{err}
			}
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			resp, err := c.send(cmd.Context(), http.MethodGet, "/api/v1/backup", "", nil)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			list := cmd.OutOrStdout()
			if args[0] == standard {
				list = cmd.ErrOrStderr()
				return g.sayDamage(list, maintenance.CopyBackup(cmd.OutOrStdout(), resp.Body))
			}
			return g.sayDamage(list, writeCopy(cmd.Context(), to, name, func(w io.Writer) error { return maintenance.CopyBackup(w, resp.Body) }))
		},
	}
}

// standard stands for standard output or input where a file is named.
const standard = "-"

// writeCopy keeps a copy in a depot, also if content is damaged that is not in it: the error says so.
func writeCopy(ctx context.Context, to depot, name string, write func(io.Writer) error) error {
	var damaged *maintenance.DamagedContent
	err := to.Write(ctx, name, func(w io.Writer) error {
		err := write(w)
		// The copy is complete apart from the damaged content, which no later one could have either. It is
		// worth more than none.
		if errors.As(err, &damaged) {
			return nil
		}
		return err
	})
	if err == nil && damaged != nil {
		err = damaged
	}
	return err
}

// sayDamage lists the damaged content that an error is about.
func (g *global) sayDamage(out io.Writer, err error) error {
	var damaged *maintenance.DamagedContent
	if !errors.As(err, &damaged) {
		return err
	}
	if g.json {
		return errors.Join(err, printJSON(out, map[string]any{"damaged": damaged.Damage}))
	}
	for _, d := range damaged.Damage {
		fmt.Fprintln(out, d)
	}
	return err
}

// backup writes a copy of everything, as the server's own.
func (a *app) backup(ctx context.Context, w io.Writer) error {
	return maintenance.Backup(ctx, a.repo, a.repo.System(), w)
}

// backedUp has the audit log tell how a backup, or the verification of one, has ended that somebody asked for.
func (a *app) backedUp(ctx context.Context, run *service.BackupRun) {
	event := "backupMade"
	switch {
	case run.Only && run.Failure == "":
		event = "backupVerified"
	case run.Only:
		event = "backupVerificationFailed"
	case run.Failure != "":
		event = "backupFailed"
	}
	extra := map[string]any{"backup": run.Name, "bytes": run.Bytes, "seconds": run.Ended.Sub(run.Began).Seconds()}
	if run.Failure != "" {
		extra["failure"] = run.Failure
	}
	as := a.repo.System()
	as.Actor = run.By
	if err := a.repo.Update(ctx, as, func(tx *storage.Tx) error { return tx.Fire(storage.Event{Name: event, Extra: extra}) }); err != nil {
		a.log.Error("audit record of a backup", "file", run.Name, "error", err)
	}
}

func restoreCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty data directory from a backup, a file or s3://BUCKET/NAME; from standard input for -", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			from := cmd.InOrStdin()
			if args[0] != standard {
				d, name, err := openCopy(args[0])
				if err != nil {
					return usage{err}
				}
				f, err := d.Open(cmd.Context(), name)
				if err != nil {
					return usage{err}
				}
				defer f.Close()
				from = f
			}
			if err := g.sayDamage(cmd.OutOrStdout(), g.restore(cmd.Context(), from)); err != nil {
				return fault.Wrap(err, "%s", args[0])
			}
			return g.say(cmd.OutOrStdout(), madeIn{Data: g.data, Made: true}, "restored into %s", g.where())
		},
	}
}

// copyOf writes what r holds.
func copyOf(r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}
}

// restoring is the folder in the data directory in which a backup becomes one.
const restoring = "restoring"

// restore fills a data directory that has no store. Until all of the backup is there and found whole, there is none. Content
// that is damaged is left out, and the error lists it.
func (g *global) restore(ctx context.Context, r io.Reader) error {
	if g.shared() {
		return g.restoreShared(ctx, r)
	}
	for _, part := range []string{"store", "blobs"} {
		if _, err := os.Stat(filepath.Join(g.data, part)); !errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(err, error(fault.Exists.Errorf("%s: already contains %s; restore into an empty directory", g.data, part)))
		}
	}
	if p, err := locationIn(g.data); err != nil || p.Address != "" { // of one that was interrupted: nothing is there yet
		p.Address = ""
		if err := cmp.Or(err, p.write(g.data)); err != nil {
			return err
		}
	}
	inner := *g
	inner.data = filepath.Join(g.data, restoring)
	if err := os.RemoveAll(inner.data); err != nil { // of one that was interrupted
		return err
	}
	defer os.RemoveAll(inner.data)
	var damaged *maintenance.DamagedContent
	if err := inner.fill(ctx, g.data, r); err != nil && !errors.As(err, &damaged) {
		return err
	}
	for _, part := range []string{"blobs", "store"} { // the store last: what has one is a data directory
		if err := os.Rename(filepath.Join(inner.data, part), filepath.Join(g.data, part)); err != nil {
			return err
		}
	}
	if err := disk.SyncDir(g.data); err != nil || damaged == nil {
		return err
	}
	return damaged
}

// fill makes a store of a backup, for the data directory home.
func (g *global) fill(ctx context.Context, home string, r io.Reader) (err error) {
	a, err := g.openFiles(ctx, openOptions{home: home})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return restoreInto(ctx, a, r)
}

// restoreInto fills an empty store and the content of its files.
func restoreInto(ctx context.Context, a *app, r io.Reader) error {
	return maintenance.Restore(ctx, a.db, a.blobs, r)
}
