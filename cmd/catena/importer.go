package main

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"catena/engine/lines"
	"catena/storage/fault"
)

// A call of the import carries at most this many files and bytes, so that one
// transaction stays small whatever the folder holds.
const (
	importFiles = 100
	importBytes = 16 << 20
)

func importCmd(g *global) *cobra.Command {
	im, l := &importer{}, &loader{query: url.Values{}}
	var into, rejected string
	cmd := &cobra.Command{
		Use: "import DIR|FILE", Short: "Import a folder of files, or documents from JSON Lines or CSV", Args: cobra.ExactArgs(1),
		Long: "Imports a folder of files with its sub-folders, or documents with their properties from the records of a file that ends in .jsonl, .ndjson or .csv.",
		Example: "  catena import ~/reports --into /default-domain/workspaces\n" +
			"  catena import invoices.csv --into /default-domain/workspaces/invoices --key name --files scans",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			if format := lines.Named(args[0]); format != "" {
				l.client, l.errs, l.file, l.format = c, cmd.ErrOrStderr(), args[0], format
				l.query.Set("into", into)
				return l.report(cmd, g, rejected)
			}
			im.client, im.root, im.into, im.errs = c, args[0], strings.TrimRight(into, "/"), cmd.ErrOrStderr()
			if err := im.run(cmd.Context()); err != nil {
				return err
			}
			return g.say(cmd.OutOrStdout(), map[string]int{"folders": im.folders, "files": im.files},
				"%s in %s imported into %s", counted(im.files, "file"), counted(im.folders, "folder"), into)
		},
	}
	f := cmd.Flags()
	f.StringVar(&into, "into", "/default-domain/workspaces", "folder to import into")
	f.BoolVar(&im.overwrite, "overwrite", false, "folders: replace documents that have the same file name")
	f.StringVar(&l.files, "files", "", "records: folder of the files that records name (default: that of FILE)")
	f.StringVar(&rejected, "rejected", "", "records: file to write rejected records to, with the reasons")
	f.BoolVar(&l.dry, "dry-run", false, "records: change nothing")
	for _, flag := range [][2]string{
		{"type", "records: type of documents whose records have none (default File)"},
		{"key", "records: what identifies a document, so that a file can be imported again: name, or an indexed text property"},
		{"existing", "records: what becomes of a record whose document exists: skip, update or reject (default skip)"},
		{"workers", "records: transactions at a time, at most 8 (default 1, on PostgreSQL without --key 4); 1 keeps the order of events that of the records"},
	} {
		f.Var(&queryValue{l.query, flag[0]}, flag[0], flag[1])
	}
	return cmd
}

// queryValue is a flag that becomes a parameter of the query.
type queryValue struct {
	query url.Values
	name  string
}

func (v *queryValue) String() string { return "" }
func (v *queryValue) Type() string   { return "string" }
func (v *queryValue) Set(s string) error {
	v.query.Set(v.name, s)
	return nil
}

// importer walks a folder and sends it.
type importer struct {
	client         *client
	root, into     string
	overwrite      bool
	errs           io.Writer
	folders, files int
	bar            *progressbar.ProgressBar
}

func (im *importer) run(ctx context.Context) error {
	total, err := im.count()
	if err != nil {
		return usage{err}
	}
	im.bar = newBar(im.errs, total)
	defer func() { _ = im.bar.Close() }() // it only draws
	if err := im.folder(ctx, im.root, path.Join(im.into, filepath.Base(filepath.Clean(im.root)))); err != nil {
		return err
	}
	return im.bar.Finish()
}

// count is the number of bytes to send, for the bar.
func (im *importer) count() (int64, error) {
	var total int64
	err := filepath.WalkDir(im.root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		fi, err := d.Info()
		if err == nil {
			total += fi.Size()
		}
		return err
	})
	return total, err
}

func newBar(w io.Writer, total int64) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return progressbar.DefaultBytesSilent(total)
	}
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription("importing"), progressbar.OptionClearOnFinish())
}

// folder makes one folder and imports what is in it. Links and devices are left out.
func (im *importer) folder(ctx context.Context, dir, target string) error {
	if err := im.ensure(ctx, target); err != nil {
		return err
	}
	im.folders++
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var batch []string
	var size int64
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if len(batch) > 0 && (len(batch) == importFiles || size+fi.Size() > importBytes) {
			if err := im.send(ctx, batch, size, target); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size = append(batch, filepath.Join(dir, e.Name())), size+fi.Size()
	}
	if err := im.send(ctx, batch, size, target); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := im.folder(ctx, filepath.Join(dir, e.Name()), path.Join(target, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates the folder unless it is there.
func (im *importer) ensure(ctx context.Context, target string) error {
	resp, err := im.client.send(ctx, http.MethodGet, "/api/v1/path"+escapePath(target), "", nil)
	if err == nil {
		return resp.Body.Close()
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	parent, name := path.Split(target)
	return im.client.object(ctx, call{
		op: "Document.Create", input: "doc:" + path.Clean(parent),
		params: map[string]any{"type": "Folder", "name": name, "properties": map[string]string{"dc:title": name}},
	}, nil)
}

// send imports files in one call, which is one transaction.
func (im *importer) send(ctx context.Context, files []string, size int64, target string) error {
	if len(files) == 0 {
		return nil
	}
	op := call{
		op: "FileManager.Import", params: map[string]any{"overwite": im.overwrite},
		vars: map[string]any{"currentDocument": target}, query: url.Values{},
	}
	resp, err := im.client.upload(ctx, op, files)
	if err != nil {
		return fault.Wrap(err, "%s", filepath.Dir(files[0]))
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	im.files += len(files)
	if err := im.bar.Add64(size); err != nil {
		return err
	}
	return resp.Body.Close()
}

// escapePath escapes each name of a document path.
func escapePath(p string) string {
	names := strings.Split(p, "/")
	for i, n := range names {
		names[i] = url.PathEscape(n)
	}
	return strings.Join(names, "/")
}

// counted is a number of things in words: 1 file, 2 files.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
