package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"catena/scripts"
)

func scriptCmd(g *global) *cobra.Command {
	k := kind{noun: "script", family: "Script", ext: ".js"}
	cmd := k.command(g)
	cmd.AddCommand(scriptRun(g), scriptTypes(g))
	return cmd
}

func scriptRun(g *global) *cobra.Command {
	var r runner
	var watch bool
	cmd := &cobra.Command{
		Use: "run FILE", Short: "Run a script without saving it, and print its result and what it prints", Args: cobra.ExactArgs(1),
		Example: `  catena script run report.js --input /default-domain --param title=May
  catena script run report.js --input /default-domain --dry-run --watch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			r.script, r.op, r.errs = args[0], args[0], cmd.ErrOrStderr()
			r.brief, r.trace = !r.trace, true
			if watch {
				return r.watch(cmd.Context(), c, cmd.OutOrStdout())
			}
			return r.run(cmd.Context(), c, cmd.OutOrStdout())
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "run again whenever the file changes, until interrupted")
	return cmd
}

// settling is how long a file must stay as it is: editors write in several steps.
const settling = 100 * time.Millisecond

// watch runs the script now, and again whenever its file has changed, until ctx ends.
func (r *runner) watch(ctx context.Context, c *client, out io.Writer) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	// Editors replace files, so the folder is watched.
	if err := w.Add(filepath.Dir(r.script)); err != nil {
		return usage{err}
	}
	settled := time.NewTimer(0)
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-w.Errors:
			return err
		case e := <-w.Events:
			if filepath.Clean(e.Name) == filepath.Clean(r.script) && !e.Has(fsnotify.Chmod) {
				settled.Reset(settling)
			}
		case <-settled.C:
			if err := r.run(ctx, c, out); err != nil && ctx.Err() == nil {
				printError(r.errs, err, false)
			}
		}
	}
}

func scriptTypes(g *global) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "types", Short: "Write catena.d.ts, every operation typed and documented, and jsconfig.json for editors", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			resp, err := c.run(cmd.Context(), call{op: "Script.Types"})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if file == "-" {
				_, err = io.Copy(cmd.OutOrStdout(), resp.Body)
				return err
			}
			if err := writeWhole(file, copyOf(resp.Body)); err != nil {
				return err
			}
			return writeConfig(filepath.Join(filepath.Dir(file), "jsconfig.json"))
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "catena.d.ts", "file to write; - for standard output")
	return cmd
}

// writeConfig writes the configuration for editors, unless the folder has one.
func writeConfig(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(scripts.Config)
	return errors.Join(err, f.Close())
}
