package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"catena/storage/blob"
	"catena/storage/blob/bucket"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"
)

const (
	// locationFile is the file of a data directory that says where the content of its files is, unless that is the folder blobs.
	locationFile = "content.json"
	// inFolder stands for that folder where an address is expected.
	inFolder = "folder"
	// movers are how many contents are moved at once.
	movers = 8
)

// contentLocation is where the content of files is.
type contentLocation struct {
	Owner   string `json:"owner,omitempty"`   // what the bucket knows the data directory by
	Address string `json:"address,omitempty"` // of the bucket; "": content is in the folder
	Left    string `json:"left,omitempty"`    // what the bucket was handed over to, together with all documents
	Folder  string `json:"folder,omitempty"`  // what is in the file of the folder by which nodes know it
}

// left is why a store is refused whose bucket was handed over.
func (p contentLocation) left() error {
	return fmt.Errorf("everything was copied to %s, which has the content of files in %s now", p.Left, p.Address)
}

func locationIn(data string) (p contentLocation, err error) {
	text, err := os.ReadFile(filepath.Join(data, locationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		err = fault.Internal.Errorf("%s: %w", filepath.Join(data, locationFile), err)
	}
	return p, err
}

// write makes the location that of a data directory, durably.
func (p contentLocation) write(data string) error {
	if err := writeWhole(filepath.Join(data, locationFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(p) }); err != nil {
		return err
	}
	return disk.SyncDir(data)
}

// contentFolder has the content of files, or what is on its way to the bucket and was read of it lately.
func (g *global) contentFolder() string {
	if g.isFolder() {
		return g.blobs
	}
	return filepath.Join(g.data, "blobs")
}

// openBlobs opens the content of files, in a bucket if the settings or the keeper say so.
func (g *global) openBlobs(ctx context.Context, k keeper, cache int64, log *slog.Logger) (*blob.Store, contentLocation, error) {
	p, err := k.read(ctx)
	if err != nil {
		return nil, p, err
	}
	if p.Left != "" {
		return nil, p, usage{p.left()}
	}
	if g.shared() && p.Address == "" && (g.blobs == "" || g.isFolder()) {
		return g.sharedFolder(ctx, k, p, log)
	}
	if g.isFolder() {
		return nil, p, usage{fmt.Errorf("blobs: the content of files is in %s; catena blobs move %s brings it back", p.Address, inFolder)}
	}
	if g.blobs == "" && p.Address == "" {
		s, err := blob.Open(g.contentFolder(), log)
		return s, p, err
	}
	// Without this check, files in the folder would be lost from sight once the bucket is the location.
	if p.Address == "" {
		if err := g.unused(ctx); err != nil {
			return nil, p, err
		}
	}
	return g.enter(ctx, entering{k, p, cmp.Or(g.blobs, p.Address), cache, log})
}

// unused makes sure that no content is in the folder.
func (g *global) unused(ctx context.Context) error {
	s, err := blob.Open(g.contentFolder(), nil)
	if err != nil {
		return err
	}
	err = s.Each(ctx, func(string, int64, time.Time) error {
		return usage{fmt.Errorf("%s: already contains files; move them to a bucket with catena blobs move", g.contentFolder())}
	})
	return errors.Join(err, s.Close())
}

// entering is how the content in a bucket is opened.
type entering struct {
	keeper   keeper          // of location
	location contentLocation // where the content is so far
	address  string          // of the bucket
	cache    int64           // bytes of the local cache
	log      *slog.Logger
}

// enter opens the content in a bucket, which becomes the recorded location.
func (g *global) enter(ctx context.Context, e entering) (*blob.Store, contentLocation, error) {
	p := e.location
	in, err := bucket.Open(e.address)
	if err != nil {
		return nil, p, usage{fault.Wrap(err, "blobs")}
	}
	if p.Owner == "" {
		p.Owner = rand.Text()
		if err := e.keeper.write(ctx, p); err != nil { // first, so that the bucket is still ours if the rest is interrupted
			return nil, p, err
		}
	}
	// The owner is written into the bucket as well, so that two data directories cannot share one prefix and
	// sweep each other's content.
	s, err := blob.OpenObjects(ctx, g.contentFolder(), blob.Objects{Bucket: in, Owner: p.Owner, New: p.Address == "", Shared: g.shared(), Cache: e.cache}, e.log)
	if fault.Is(err, fault.Conflict) {
		err = usage{err}
	}
	if err == nil && p.Address != e.address {
		p.Address, p.Folder = e.address, ""
		if err = e.keeper.write(ctx, p); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return s, p, err
}

func blobsCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "blobs", Short: "Manage the content of files"}
	cmd.AddCommand(&cobra.Command{
		Use: "move TO", Short: "Move the content of all files to s3://BUCKET/PREFIX?endpoint=URL&region=REGION, or back to the data directory for " + inFolder + "; an interrupted move continues", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			n, err := g.move(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.say(cmd.OutOrStdout(), map[string]any{"sent": n, "to": args[0]}, "%d sent, all content is in %s", n, args[0])
		},
	})
	return cmd
}

// move has the content of a closed data directory at another location, and returns how many had to be sent there. Until all are
// there the data directory has its content where it was.
func (g *global) move(ctx context.Context, to string) (sent int, err error) {
	if err := g.made(); err != nil {
		return 0, err
	}
	from := *g
	from.blobs = "" // the setting may be that of afterwards
	a, err := from.files(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	address := to
	if to == inFolder {
		address = ""
	}
	if p := a.location; p.Address != address {
		if sent, err = g.fetch(ctx, a, address); err != nil {
			return sent, err
		}
	}
	if address == "" {
		return sent, nil
	}
	return sent, g.clear(ctx)
}

// fetch copies all content to another location, which becomes that of the data directory.
func (g *global) fetch(ctx context.Context, a *app, address string) (sent int, err error) {
	p := contentLocation{Owner: a.location.Owner}
	var to *blob.Store
	if address == "" {
		to, err = blob.Open(g.contentFolder(), a.log)
	} else {
		aside := filepath.Join(g.data, "moving") // it is not the location yet
		defer os.RemoveAll(aside)
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return 0, err
		}
		if p.Owner == "" {
			p.Owner = rand.Text()
			if err := a.keeper.write(ctx, p); err != nil {
				return 0, err
			}
		}
		to, p, err = g.enter(ctx, entering{inDirectory(aside), p, address, 1, a.log})
	}
	if err != nil {
		return 0, err
	}
	sent, err = copyContent(ctx, a.blobs, to)
	if err = errors.Join(err, to.Close()); err != nil {
		return sent, err
	}
	if err := a.keeper.write(ctx, p); err != nil || address != "" {
		return sent, err
	}
	return sent, a.blobs.Leave()
}

// copyContent copies what is not there yet, several at once. Damaged content ends it.
func copyContent(ctx context.Context, from, to *blob.Store) (sent int, err error) {
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(movers)
	listed := from.Each(ctx, func(digest string, size int64, _ time.Time) error {
		work.Go(func() error {
			// Content is named by its digest, so what is there is the same; this is how an interrupted move
			// continues.
			there, err := to.Has(ctx, digest)
			if there || err != nil {
				return err
			}
			if err := copyOne(ctx, from, to, digest, size); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			sent++
			return nil
		})
		return ctx.Err()
	})
	err = cmp.Or(work.Wait(), listed)
	return sent, err
}

func copyOne(ctx context.Context, from, to *blob.Store, digest string, size int64) error {
	r, err := from.Read(ctx, digest, size)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := to.Spool(ctx, digest, blob.Unknown, r, 0)
	if err != nil {
		return err
	}
	// Copying damage would make it look like the original.
	if b.Digest != digest {
		return fault.Internal.Errorf("blob %s: content is damaged, its actual digest is %s: %w", digest, b.Digest, kv.ErrDamaged)
	}
	return to.Keep(ctx, b)
}

// clear removes content from the folder, all of which is in the bucket.
func (g *global) clear(ctx context.Context) error {
	s, err := blob.Open(g.contentFolder(), nil)
	if err != nil {
		return err
	}
	err = s.Each(ctx, func(digest string, _ int64, _ time.Time) error { return s.Remove(ctx, digest) })
	return errors.Join(err, s.Close())
}

const (
	// askEvery is how often the object store is asked whether it answers.
	askEvery = 15 * time.Second
	// unanswered is how often in a row it does not until that counts: one slow answer says nothing.
	unanswered = 3
)

// answering knows whether the object store of the content answers.
type answering struct {
	mu     sync.Mutex
	missed int
	err    error // of the last time
}

// run asks until ctx ends.
func (w *answering) run(ctx context.Context, ping func(context.Context) error) error {
	t := time.NewTicker(askEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		limited, stop := context.WithTimeout(ctx, askEvery)
		err := ping(limited)
		if stop(); ctx.Err() != nil {
			return nil
		}
		w.note(err)
	}
}

// note takes in what came of asking once.
func (w *answering) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.missed = 0
	} else {
		w.missed++
	}
}

// status returns why the object store does not answer, if that has been so for a while.
func (w *answering) status(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A server that reports itself as degraded for a single slow answer teaches its operators to ignore it.
	if w.missed < unanswered {
		return nil
	}
	return w.err
}
