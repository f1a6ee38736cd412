package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
)

// deck is a deck as the operations show it.
type deck struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Slides int64  `json:"slide_count,omitempty"`
}

func deckCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "deck", Short: "List decks and import presentations"}
	cmd.AddCommand(deckImport(g), deckList(g))
	return cmd
}

func deckImport(g *global) *cobra.Command {
	var format, title, visibility string
	cmd := &cobra.Command{
		Use: "import FILE…", Short: "Create decks from presentations: reveal.js pages, Markdown, or JSON that defines slides", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := g.rows(cmd)
			for _, file := range args {
				text, err := os.ReadFile(file)
				if err != nil {
					return out.end(usage{err})
				}
				params := filled(map[string]any{"source": string(text), "format": cmp.Or(format, formatOf(file)), "title": title, "visibility": visibility})
				var made struct {
					Data deck
					Meta struct{ Sanitized []string }
				}
				if err := g.object(cmd, call{op: "Deck.Import", params: params}, &made); err != nil {
					return out.end(fmt.Errorf("%s: %w", file, err))
				}
				out.add(made.Data, fmt.Sprintf("%d\t%s\t%d slides", made.Data.ID, made.Data.Title, made.Data.Slides))
				for _, what := range made.Meta.Sanitized {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s: removed %s\n", file, what)
				}
			}
			return out.end(nil)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "html, markdown or define (default: by file name)")
	f.StringVar(&title, "title", "", "title of the deck (default: that of the presentation)")
	f.StringVar(&visibility, "visibility", "self", "who may see the deck: all, self or team")
	return cmd
}

// formatOf is the format that a file's name says; "" if it says nothing.
func formatOf(file string) string {
	return map[string]string{
		".htm": "html", ".html": "html", ".json": "define", ".markdown": "markdown", ".md": "markdown",
	}[filepath.Ext(file)]
}

func deckList(g *global) *cobra.Command {
	var page, size int64
	cmd := &cobra.Command{
		Use: "list", Short: "List your decks, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all struct{ Data []deck }
			if err := g.object(cmd, call{op: "Deck.List", params: map[string]any{"page": page, "per_page": size}}, &all); err != nil {
				return err
			}
			return list(g, cmd, all.Data, "ID\tTITLE\tPATH", func(d deck) string { return columns(strconv.FormatInt(d.ID, 10), d.Title, d.URL) })
		},
	}
	cmd.Flags().Int64Var(&page, "page", 1, "page number")
	cmd.Flags().Int64Var(&size, "per-page", 100, "decks per page")
	return cmd
}
