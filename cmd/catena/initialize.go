package main

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
)

// demo is the content of `catena init --demo`: chains, scripts, a listener, a folder of files and a
// deck.
//
//go:embed demo
var demo embed.FS

func initCmd(g *global) *cobra.Command {
	var withDemo bool
	var password string
	cmd := &cobra.Command{
		Use: "init", Short: "Create a data directory; running it again changes nothing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.initialize(cmd.Context(), cmd.OutOrStdout(), password, withDemo)
		},
	}
	cmd.Flags().BoolVar(&withDemo, "demo", false, "with example documents, chains, a script and a deck")
	cmd.Flags().StringVar(&password, "admin-password", "", "first password of Administrator (default: random, shown once); prefer CATENA_ADMIN_PASSWORD")
	return cmd
}

func (g *global) initialize(ctx context.Context, out io.Writer, password string, withDemo bool) error {
	if g.shared() {
		return g.initializeShared(ctx, out, password, withDemo)
	}
	if _, err := os.Stat(filepath.Join(g.data, "store")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage{err}
	} else if err == nil {
		return g.say(out, madeIn{Data: g.data}, "%[1]s: already a data directory; its content and passwords are unchanged (for a new one: --data DIRECTORY, or make run DATA=DIRECTORY)", g.data)
	}
	made := password == ""
	if made {
		password = rand.Text()
	}
	a, err := g.openWith(ctx, openOptions{adminPassword: password})
	if err != nil {
		return err
	}
	if withDemo {
		err = a.demo(ctx)
	}
	if err = errors.Join(err, a.close()); err != nil {
		return err
	}
	if !made {
		return g.say(out, madeIn{Data: g.data, Made: true}, "%s: ready", g.data)
	}
	return g.say(out, madeIn{Data: g.data, Made: true, Password: password},
		"%s: ready\nuser Administrator, password %s (shown this once)", g.data, password)
}

// initializeShared fills an empty database.
func (g *global) initializeShared(ctx context.Context, out io.Writer, password string, withDemo bool) error {
	a, err := g.openWith(ctx, openOptions{adminPassword: password, makePassword: true})
	if err != nil {
		return err
	}
	made := madeIn{Data: g.where(), Made: a.fresh, Password: a.password}
	if a.fresh && withDemo {
		err = a.demo(ctx)
	}
	if err = errors.Join(err, a.close()); err != nil {
		return err
	}
	switch {
	case !made.Made:
		return g.say(out, made, "%s: has content already, which is unchanged", made.Data)
	case made.Password == "":
		return g.say(out, made, "%s: ready", made.Data)
	}
	return g.say(out, made, "%s: ready\nuser Administrator, password %s (shown this once)", made.Data, made.Password)
}

// madeIn is a data directory and, once, the password made up for its Administrator.
type madeIn struct {
	Data     string `json:"data"`
	Made     bool   `json:"made"` // by this call
	Password string `json:"password,omitempty"`
}

// demo writes the example files beside the store, deploys them, and imports the folder.
func (a *app) demo(ctx context.Context) error {
	for _, sub := range []string{"chains", "listeners", "scripts"} {
		if err := writeDemo(sub, filepath.Join(a.dir, sub)); err != nil {
			return err
		}
	}
	if err := a.sync(ctx); err != nil {
		return err
	}
	files, err := os.MkdirTemp("", "catena-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	dir := filepath.Join(files, "demo")
	if err := writeDemo("files", dir); err != nil {
		return err
	}
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	im := &importer{client: c, root: dir, into: "/default-domain/workspaces", errs: io.Discard}
	if err := im.run(ctx); err != nil {
		return err
	}
	return demoDeck(ctx, c)
}

// demoDeck makes a deck that tells what catena is, for everyone to see.
func demoDeck(ctx context.Context, c *client) error {
	html, err := demo.ReadFile("demo/decks/welcome.html")
	if err != nil {
		return err
	}
	return c.object(ctx, call{op: "Deck.Create", params: map[string]any{
		"title": "Welcome to catena", "description": "What operations, chains, scripts and decks are.", "visibility": "all",
		"width": 1280, "height": 720, "data": string(html),
	}}, nil)
}

func writeDemo(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := demo.ReadDir(path.Join("demo", from))
	if err != nil {
		return err
	}
	for _, e := range entries {
		b, err := demo.ReadFile(path.Join("demo", from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
