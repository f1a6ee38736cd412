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
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/blob"
	"catena/storage/blob/bucket"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres"

	"github.com/prometheus/client_golang/prometheus"
)

// shared reports whether the store is a database, which other nodes may share.
func (g *global) shared() bool { return g.store != "" }

// openStore opens the store of the data directory, or the database that the settings name.
func (g *global) openStore(ctx context.Context, a *app, o openOptions) error {
	if g.shared() {
		return g.openDatabase(ctx, a, o)
	}
	a.fresh = g.made() != nil
	store, err := badger.Open(filepath.Join(g.data, "store"), badger.Options{Durability: o.durability, Log: a.log})
	if err != nil {
		if used, _ := badger.InUse(filepath.Join(g.data, "store")); used {
			err = fmt.Errorf("%w, probably a server: send commands to it with --server, such as --server http://127.0.0.1:8080, stop it, or choose another directory with --data", err)
		}
		return err
	}
	a.db = kv.New(store, kv.Options{Log: a.log, Observe: a.meters.observe})
	return nil
}

// openDatabase opens the database of the settings. Unless it is opened for a copy, one that is not complete is refused.
func (g *global) openDatabase(ctx context.Context, a *app, o openOptions) error {
	s, err := postgres.Open(ctx, g.store, postgres.Options{Log: a.log, Connections: o.connections, Alone: o.alone})
	if err != nil {
		if fault.Is(err, fault.Invalid) {
			err = usage{err}
		}
		return err
	}
	a.db, a.database = kv.New(s, kv.Options{Log: a.log, Observe: a.meters.observe}), s
	// All nodes go by the clock of the database, since the times that they write are compared with
	// each other.
	a.clock = func() time.Time { return time.Now().Add(s.Skew()) }
	a.fresh, err = isEmpty(ctx, a.db)
	if err == nil && !o.alone && !a.fresh {
		var part bool
		if part, err = a.db.Copying(ctx); part {
			err = usage{errors.New("the database has an interrupted copy of a data directory: continue it with the same catena copy, or drop the schema catena")}
		}
	}
	if err != nil {
		// The caller gets no app to close when this fails.
		err = errors.Join(err, a.db.Close())
	}
	return err
}

// startTime is how long a node that starts waits for its first connection, as a database may be slow to let it in when all nodes
// come back at once.
const startTime = 30 * time.Second

// isEmpty reports whether a store has no rows.
func isEmpty(ctx context.Context, db *kv.DB) (empty bool, err error) {
	for end := time.Now().Add(startTime); ; {
		if empty, err = hasNone(ctx, db); !errors.Is(err, kv.ErrDown) || time.Now().After(end) {
			return empty, err
		}
	}
}

func hasNone(ctx context.Context, db *kv.DB) (empty bool, err error) {
	err = db.View(ctx, func(t *kv.Tx) error {
		n, more, err := t.Count(kv.Range{}, 1)
		empty = n == 0 && !more
		return err
	})
	return empty, err
}

// keeper keeps where the content of files is: a data directory for itself, a database for all of its nodes.
type keeper interface {
	read(ctx context.Context) (contentLocation, error)
	write(ctx context.Context, p contentLocation) error
}

// inDirectory is the keeper of a data directory.
type inDirectory string

func (d inDirectory) read(context.Context) (contentLocation, error) { return locationIn(string(d)) }

func (d inDirectory) write(_ context.Context, p contentLocation) error { return p.write(string(d)) }

// inDatabase is the keeper of a database.
type inDatabase struct{ store *postgres.Store }

// locationSetting is the name under which a database has where the content of files is.
const locationSetting = "content"

func (d inDatabase) read(ctx context.Context) (p contentLocation, err error) {
	text, err := d.store.Setting(ctx, locationSetting)
	if err == nil && text != "" {
		if err = json.Unmarshal([]byte(text), &p); err != nil {
			err = fault.Internal.Errorf("setting %s of the database: %w", locationSetting, err)
		}
	}
	return p, err
}

func (d inDatabase) write(ctx context.Context, p contentLocation) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return d.store.Set(ctx, locationSetting, string(text))
}

// folderMark is the file by which a folder with content is known to the nodes that share it.
const folderMark = "shared.id"

// sharedFolder opens the content of a database in a folder, which must be the same one on every node.
func (g *global) sharedFolder(ctx context.Context, k keeper, p contentLocation, log *slog.Logger) (*blob.Store, contentLocation, error) {
	folder := g.contentFolder()
	s, err := blob.OpenShared(folder, log)
	if err != nil {
		return nil, p, err
	}
	if err := markFolder(ctx, k, &p, folder); err != nil {
		return nil, p, errors.Join(err, s.Close())
	}
	return s, p, nil
}

// markFolder marks the folder of the first node, and makes sure that it is the one of any other.
func markFolder(ctx context.Context, k keeper, p *contentLocation, folder string) error {
	file := filepath.Join(folder, folderMark)
	mark, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Unavailable.Errorf("blobs: %w", err)
	}
	switch {
	case p.Folder == "" && len(mark) == 0:
		// The mark is written before the database names it. A crash in between leaves a folder that
		// is refused as another database's, never two databases with one folder, each of which
		// would sweep the other's content.
		p.Folder = rand.Text()
		if err := writeWhole(file, copyOf(strings.NewReader(p.Folder))); err != nil {
			return err
		}
		return k.write(ctx, *p)
	case p.Folder == "":
		return usage{fmt.Errorf("%s: has the content of another database; name another folder, or a bucket, with --blobs", folder)}
	case strings.TrimSpace(string(mark)) != p.Folder:
		return usage{fmt.Errorf("%s: is not the folder that has the content of files of this database: mount it on this node and name it with --blobs, or move the content to a bucket, which all nodes reach: catena blobs move s3://BUCKET", folder)}
	}
	return nil
}

// isFolder reports whether a setting of where content is names a folder, which a database permits.
func (g *global) isFolder() bool { return g.shared() && filepath.IsAbs(g.blobs) }

// checkPlaces tells what is wrong with the settings of where the store and the content of files are.
func (g *global) checkPlaces() error {
	var all []error
	if g.shared() && !isDatabase(g.store) {
		all = append(all, errors.New("store: must be the address of a database, such as postgres://USER@HOST/DATABASE"))
	}
	if g.blobs != "" && !g.isFolder() {
		if _, err := bucket.Open(g.blobs); err != nil {
			all = append(all, fault.Wrap(err, "blobs"))
		}
	}
	return errors.Join(all...)
}

// isDatabase reports whether a setting has the form of the address of a database.
func isDatabase(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// restoreShared fills an empty database from a backup.
func (g *global) restoreShared(ctx context.Context, r io.Reader) (err error) {
	a, err := g.openFiles(ctx, openOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if !a.fresh {
		return fault.Exists.Errorf("the database already contains data; a backup can only be restored into an empty one")
	}
	return restoreInto(ctx, a, r)
}

// where is what a server says it serves: the data directory, or the database without its password.
func (g *global) where() string {
	if !g.shared() {
		return g.data
	}
	return cmp.Or(postgres.Name(g.store), "a database")
}

// replicaRetry is how long a server waits before it tries again to open a replica.
const replicaRetry = 2 * time.Second

// checkReplica tells what is wrong with the setting of the replica.
func (s *serve) checkReplica(g *global) error {
	switch {
	case s.replica == "":
		return nil
	case !g.shared():
		return errors.New("replica: needs a database as store; set store")
	case !isDatabase(s.replica):
		return errors.New("replica: must be the address of a standby of the database, such as postgres://USER@HOST/DATABASE")
	}
	return nil
}

// followReplica has the replica of an address answer reads until ctx ends. The server works without it, and looks for it as long as
// it takes.
func (a *app) followReplica(address string, o openOptions) func(context.Context) error {
	return func(ctx context.Context) error {
		told := ""
		for ctx.Err() == nil {
			stop, err := a.openReplica(ctx, address, o)
			if err == nil {
				a.log.Info("the replica answers reads that accept its age", "replica", postgres.Name(address))
				<-ctx.Done()
				return stop()
			}
			if text := err.Error(); text != told && ctx.Err() == nil {
				a.log.Warn("the replica cannot be used", "replica", postgres.Name(address), "error", err)
				told = text
			}
			select {
			case <-time.After(replicaRetry):
			case <-ctx.Done():
			}
		}
		return nil
	}
}

// openReplica opens the repositories of a replica, and has the engines ask them until stop is called, after the last request.
func (a *app) openReplica(ctx context.Context, address string, o openOptions) (stop func() error, err error) {
	store, err := a.database.OpenReplica(ctx, address)
	if err != nil {
		return nil, err
	}
	db := kv.New(store, kv.Options{Log: a.log, Observe: a.meters.observe})
	var repos []*storage.Repo
	closed := func() (err error) {
		for _, r := range slices.Backward(repos) {
			err = errors.Join(err, r.Close())
		}
		return errors.Join(err, db.Close())
	}
	for i, b := range a.branches {
		c := a.repository(o)
		if i > 0 {
			c = a.further(o, b.repo.Name())
			c.First = repos[0]
		}
		c.DB = db
		r, err := storage.Open(ctx, c, "")
		if err != nil {
			return nil, errors.Join(fault.Wrap(err, "repository %s", b.repo.Name()), closed())
		}
		repos = append(repos, r)
	}
	a.replica.Store(store)
	for i, b := range a.branches {
		a.engine.On(b.repo).Follow(&engine.Replica{Repo: repos[i], Behind: store.Behind})
	}
	return func() error {
		a.replica.Store(nil)
		for _, b := range a.branches {
			a.engine.On(b.repo).Follow(nil)
		}
		return closed()
	}, nil
}

// replicaFigures are those of the replica, if the settings name one.
type replicaFigures struct {
	*app
	named bool
}

var (
	descReplicaUp  = prometheus.NewDesc("catena_replica_up", "1 while the replica answers, 0 while it does not.", nil, nil)
	descReplicaAge = prometheus.NewDesc("catena_replica_age_seconds", "How old what the replica shows may be, while it answers.", nil, nil)
)

// Describe lists the figures.
func (f replicaFigures) Describe(to chan<- *prometheus.Desc) {
	to <- descReplicaUp
	to <- descReplicaAge
}

// Collect finds them out.
func (f replicaFigures) Collect(to chan<- prometheus.Metric) {
	if !f.named {
		return
	}
	if store := f.replica.Load(); store != nil {
		if age, ok := store.Behind(); ok {
			to <- prometheus.MustNewConstMetric(descReplicaUp, prometheus.GaugeValue, 1)
			to <- prometheus.MustNewConstMetric(descReplicaAge, prometheus.GaugeValue, age.Seconds())
			return
		}
	}
	to <- prometheus.MustNewConstMetric(descReplicaUp, prometheus.GaugeValue, 0)
}
