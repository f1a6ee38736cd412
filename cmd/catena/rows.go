package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// say prints what a verb has to tell: a line, or v as JSON.
func (g *global) say(out io.Writer, v any, format string, args ...any) error {
	if g.json {
		return printJSON(out, v)
	}
	_, err := fmt.Fprintf(out, format+"\n", args...)
	return err
}

// rows are what a verb has to describe several things: lines as they come, or one JSON array in the end.
type rows struct {
	out  io.Writer
	json bool
	all  []any
}

func (g *global) rows(cmd *cobra.Command) *rows {
	return &rows{out: cmd.OutOrStdout(), json: g.json, all: []any{}}
}

func (r *rows) add(v any, line string) {
	if r.json {
		r.all = append(r.all, v)
		return
	}
	fmt.Fprintln(r.out, line)
}

// end prints the array, also of what there was before an error, which it returns.
func (r *rows) end(err error) error {
	if !r.json {
		return err
	}
	failed := printJSON(r.out, r.all)
	return cmp.Or(err, failed)
}

// list prints entries: a table below a header, or a JSON array. line returns the columns of one.
func list[T any](g *global, cmd *cobra.Command, all []T, header string, line func(T) string) error {
	if g.json {
		return printJSON(cmd.OutOrStdout(), all)
	}
	return printTable(cmd.OutOrStdout(), all, header, line)
}

func printTable[T any](out io.Writer, all []T, header string, line func(T) string) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, header)
	for _, entry := range all {
		fmt.Fprintln(w, line(entry))
	}
	return w.Flush()
}

// columns joins the columns of a line.
func columns(texts ...string) string { return strings.Join(texts, "\t") }
