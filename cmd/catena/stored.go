package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"catena/engine/library"
	"catena/storage/declare"
	"catena/storage/fault"
)

// Chains and scripted operations are both text kept in versions, managed by operations
// of one shape: Chain.Save, Script.Save and so on. kind makes the verbs for either.
type kind struct {
	noun, family, ext string
	nouns             string // several of them; "": with an s
}

// storedVersion is one kept version of a chain or a script.
type storedVersion struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"`
	Author  string    `json:"author"`
	Time    time.Time `json:"time"`
	Note    string    `json:"note"`
	Source  string    `json:"source,omitempty"`
}

func chainCmd(g *global) *cobra.Command {
	k := kind{noun: "chain", family: "Chain", ext: ".yaml .yml .json"}
	cmd := k.command(g)
	cmd.AddCommand(k.run(g))
	return cmd
}

func (k kind) command(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: k.noun, Short: "Check, apply, list, show, compare and restore " + k.several()}
	cmd.AddCommand(k.check(g), k.apply(g), k.list(g), k.show(g), k.versions(g), k.diff(g), k.restore(g), k.remove(g), k.export(g))
	return cmd
}

func (k kind) several() string { return cmp.Or(k.nouns, k.noun+"s") }

// files expands directories into the files of the kind.
func (k kind) files(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		fi, err := os.Stat(a)
		if err != nil {
			return nil, usage{err}
		}
		if !fi.IsDir() {
			out = append(out, a)
			continue
		}
		entries, err := os.ReadDir(a)
		if err != nil {
			return nil, usage{err}
		}
		for _, e := range entries {
			if !e.IsDir() && strings.Contains(k.ext+" ", filepath.Ext(e.Name())+" ") && filepath.Ext(e.Name()) != "" {
				out = append(out, filepath.Join(a, e.Name()))
			}
		}
	}
	return out, nil
}

func (k kind) check(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE|DIR…", Short: "Check files without saving them: names, parameters and types", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.each(g, cmd, args, func(c *client, out *rows, name, source string) error {
				found := []library.Problem{}
				op := call{op: k.family + ".Check", params: map[string]any{"source": source, "name": name}}
				if err := c.object(cmd.Context(), op, &found); err != nil {
					return err
				}
				lines := make([]string, len(found))
				for i, f := range found {
					f.File = name
					lines[i] = f.Error()
				}
				out.add(checked{name, found}, cmp.Or(strings.Join(lines, "\n"), name+": ok"))
				if wrong := library.Wrong(found); len(wrong) > 0 {
					return fault.Invalid.Errorf("%s: problems found: %d", name, len(wrong))
				}
				return nil
			})
		},
	}
}

func (k kind) apply(g *global) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "apply FILE|DIR…", Short: "Check and save as a new version; running calls keep the old one", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.each(g, cmd, args, func(c *client, out *rows, name, source string) error {
				var v storedVersion
				op := call{op: k.family + ".Save", params: map[string]any{"source": source, "note": note, "name": filepath.Base(name)}}
				if err := c.object(cmd.Context(), op, &v); err != nil {
					return err
				}
				out.add(filed{name, v.Name, v.Version}, fmt.Sprintf("%s: %s version %d", name, v.Name, v.Version))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "note that is kept with the version")
	return cmd
}

// checked is what was found in a file.
type checked struct {
	File     string            `json:"file"`
	Problems []library.Problem `json:"problems"`
}

// filed is a version and the file that it comes from or was written to.
type filed struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// each reads every file named and calls fn with it.
func (k kind) each(g *global, cmd *cobra.Command, args []string, fn func(c *client, out *rows, name, source string) error) error {
	files, err := k.files(args)
	if err != nil {
		return err
	}
	c, done, err := g.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	out := g.rows(cmd)
	for _, name := range files {
		source, err := readText(name)
		if err != nil {
			return out.end(err)
		}
		if err := fn(c, out, name, source); err != nil {
			return out.end(err)
		}
	}
	return out.end(nil)
}

// readText reads a text from a file, or from a pipe that a shell has made.
func readText(name string) (string, error) {
	f, err := os.Open(name) //nolint:gosec // the caller says which
	if err != nil {
		return "", usage{err}
	}
	defer f.Close()
	source, err := declare.Text(f)
	switch {
	case fault.Is(err, fault.Invalid):
		return "", fault.Wrap(err, "%s", name)
	case err != nil:
		return "", usage{err}
	}
	return source, nil
}

func (k kind) list(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the deployed " + k.several(), Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.table(g, cmd, call{op: k.family + ".List"})
		},
	}
}

func (k kind) versions(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "versions NAME", Short: fmt.Sprintf("List the versions of a %s", k.noun), Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.table(g, cmd, call{op: k.family + ".Versions", params: map[string]any{"name": args[0]}})
		},
	}
}

func (k kind) table(g *global, cmd *cobra.Command, op call) error {
	rows := []storedVersion{}
	if err := g.object(cmd, op, &rows); err != nil {
		return err
	}
	return list(g, cmd, rows, "NAME\tVERSION\tAUTHOR\tTIME\tNOTE", func(r storedVersion) string {
		return columns(r.Name, strconv.FormatInt(r.Version, 10), r.Author, r.Time.Format(time.RFC3339), r.Note)
	})
}

func (k kind) show(g *global) *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "show NAME", Short: fmt.Sprintf("Print the source of a %s", k.noun), Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := k.read(g, cmd, args[0], version)
			if err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), v)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), v.Source)
			return err
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "version; 0 means the current one")
	return cmd
}

func (k kind) read(g *global, cmd *cobra.Command, name string, version int64) (storedVersion, error) {
	params := map[string]any{"name": name}
	if version > 0 {
		params["version"] = version
	}
	var v storedVersion
	err := g.object(cmd, call{op: k.family + ".Read", params: params}, &v)
	return v, err
}

func (k kind) diff(g *global) *cobra.Command {
	var from, to int64
	cmd := &cobra.Command{
		Use: "diff NAME", Short: "Compare two versions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var text string
			op := call{op: k.family + ".Diff", params: map[string]any{"name": args[0], "from": from, "to": to}}
			if err := g.object(cmd, op, &text); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), map[string]string{"diff": text})
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().Int64Var(&from, "from", 0, "older version; 0 means the one before --to")
	cmd.Flags().Int64Var(&to, "to", 0, "newer version; 0 means the current one")
	return cmd
}

func (k kind) restore(g *global) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "restore NAME VERSION", Short: "Make an earlier version the current one", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := json.Number(args[1])
			if _, err := n.Int64(); err != nil {
				return usage{fmt.Errorf("version: %q is not a number", args[1])}
			}
			var v storedVersion
			op := call{op: k.family + ".Restore", params: map[string]any{"name": args[0], "version": n, "note": note}}
			if err := g.object(cmd, op, &v); err != nil {
				return err
			}
			return g.say(cmd.OutOrStdout(), v, "%s version %d", v.Name, v.Version)
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "note that is kept with the version")
	return cmd
}

func (k kind) remove(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: fmt.Sprintf("Undeploy a %s; its versions remain readable", k.noun), Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: k.family + ".Delete", params: map[string]any{"name": args[0]}}, nil)
		},
	}
}

func (k kind) export(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "export DIR", Short: fmt.Sprintf("Write each deployed %s to a file, for version control", k.noun), Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := []storedVersion{}
			if err := g.object(cmd, call{op: k.family + ".List"}, &all); err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o750); err != nil {
				return err
			}
			ext, _, _ := strings.Cut(k.ext, " ")
			out := g.rows(cmd)
			for _, r := range all {
				v, err := k.read(g, cmd, r.Name, 0)
				if err != nil {
					return out.end(err)
				}
				file := filepath.Join(args[0], filepath.Base(v.Name))
				if !slices.Contains(strings.Fields(k.ext), filepath.Ext(file)) { // the names of templates have it
					file += ext
				}
				if err := os.WriteFile(file, []byte(v.Source), 0o640); err != nil {
					return out.end(err)
				}
				out.add(filed{file, v.Name, v.Version}, file)
			}
			return out.end(nil)
		},
	}
}

// run is a chain by its name: what run does, listed where users of chains look for it.
func (k kind) run(g *global) *cobra.Command {
	cmd := runCmd(g)
	cmd.Use = "run NAME"
	cmd.Example = ""
	return cmd
}
