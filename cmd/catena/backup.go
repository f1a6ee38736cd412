package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func backupCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write a consistent copy of everything to one file, while the server runs or not", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			resp, err := c.run(cmd.Context(), call{op: "Repository.Backup"})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			return writeWhole(args[0], copyOf(resp.Body))
		},
	}
}

func restoreCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty data directory from a backup", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			f, err := os.Open(args[0])
			if err != nil {
				return usage{err}
			}
			defer f.Close()
			if err := g.restore(cmd.Context(), f); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored into %s\n", g.data)
			return err
		},
	}
}

func verifyCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read everything and check it: checksums, indexes, blobs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			problems, err := g.verify(cmd.Context())
			if err != nil {
				return err
			}
			if g.json {
				if err := printJSON(cmd.OutOrStdout(), map[string]any{"problems": problems}); err != nil {
					return err
				}
			} else {
				for _, p := range problems {
					fmt.Fprintln(cmd.OutOrStdout(), p)
				}
			}
			if len(problems) > 0 {
				return fmt.Errorf("problems found: %d: %w", len(problems), errCorrupt)
			}
			_, err = fmt.Fprintln(cmd.ErrOrStderr(), "everything is as it should be")
			return err
		},
	}
}

// partPrefix begins the names of files that are not whole yet.
const partPrefix = ".part-"

// copyOf writes what r holds.
func copyOf(r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}
}

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

// restore fills the closed, empty data directory.
func (g *global) restore(ctx context.Context, r io.Reader) (err error) {
	a, err := g.files(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return a.restore(ctx, r)
}

// verify reads the closed data directory.
func (g *global) verify(ctx context.Context) (problems []string, err error) {
	a, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	for _, b := range a.branches {
		found, err := b.repo.Verify(ctx)
		if err != nil {
			return problems, err
		}
		for _, p := range found {
			problems = append(problems, b.repo.Name()+": "+p)
		}
	}
	return problems, nil
}
