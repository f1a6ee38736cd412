package main

import (
	"cmp"
	"fmt"
	"io"

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

// rows are what a verb has to tell of several things: lines as they come, or one JSON array in the end.
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
