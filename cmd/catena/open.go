package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"catena/chains"
	"catena/cmd/catena/host"
	"catena/decks"
	"catena/decks/render"
	"catena/engine"
	"catena/engine/convert"
	"catena/engine/delivery"
	"catena/engine/egress"
	"catena/engine/hook"
	"catena/engine/library"
	"catena/engine/listener"
	"catena/engine/mail"
	"catena/engine/metadata"
	"catena/engine/pdf"
	"catena/engine/program"
	"catena/engine/schedule"
	"catena/engine/waiting"
	"catena/engine/worker"
	"catena/engine/workflow"
	"catena/ops"
	opsblob "catena/ops/blob"
	"catena/ops/conversion"
	"catena/ops/drive"
	"catena/ops/notification"
	"catena/ops/property"
	"catena/ops/service"
	"catena/rest"
	"catena/rest/automation"
	"catena/rest/server"
	"catena/scripts"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/blob"
	"catena/storage/cluster"
	"catena/storage/credential"
	"catena/storage/directory"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/limit"
	"catena/storage/owner"
	"catena/storage/postgres"
)

// platformVersion is the version of the platform whose interface is served; clients compare it.
const platformVersion = "2023.10"

// errCorrupt makes the exit code 4.
var errCorrupt = badger.ErrCorrupt

// app is an opened data directory with everything that runs on it. It is put together in the order of its
// parts: the store and the content of files (openFiles), the repositories (start), and the engine with what
// calls it (arm). close takes it apart in the opposite order.
type app struct {
	dir       string
	log       *slog.Logger
	level     *slog.LevelVar // of log
	server    service.Server // what operations tell of this process
	db        *kv.DB
	database  *postgres.Store  // that of db, if it is one
	clock     func() time.Time // nil: that of the machine
	fresh     bool             // nothing was there
	password  string           // made up for the Administrator of a fresh store
	member    *cluster.Member  // of the nodes that share database; nil: there are no others
	follower  *library.Follower
	keeper    keeper // of location
	blobs     *blob.Store
	location  contentLocation
	answering answering // of the bucket, if content is in one
	repo      *storage.Repo
	replica   atomic.Pointer[postgres.Store] // a standby that answers reads which accept its age; nil: there is none, or not yet
	engine    *engine.Engine
	pdf       *pdf.Tool
	programs  *program.Programs
	chains    *chains.Chains
	scripts   *scripts.Runner
	listeners *listener.Listeners
	schedules *schedule.Schedules
	hooks     *hook.Hooks
	waiting   *waiting.Runs
	declared  *declared
	mail      *mail.Sender
	meters    *meters
	branches  []branch        // of all repositories, the first one's first
	renderer  render.Auto     // of decks
	films     convert.Films   // what is kept of them
	outside   opsblob.Outside // what operations may reach; its client is the one there is
}

// branch is what every repository has of its own.
type branch struct {
	repo     *storage.Repo
	webhooks *delivery.Sender
}

// openOptions are what serve may set and other verbs leave alone.
type openOptions struct {
	durability    badger.Durability
	connections   int // to the database; 0: the default
	adminPassword string
	makePassword  bool // a first password if none is given
	limits        limits
	smtp          smtp
	base          string // public address
	egress        egress.Config
	chromium      string   // program of the browser; "": the one in PATH
	driveTests    bool     // the server is there for tests of the desktop client
	films         []string // formats that films are kept in; nil: all
	exports       string   // folder that operations may write files to; "": none
	repositories  []string
	alone         bool   // nobody else may use the database meanwhile
	home          string // data directory that says where its content is; "": this one
	withoutFiles  bool   // the content of files is not asked for
}

// files opens the store and the blobs alone.
func (g *global) files(ctx context.Context) (*app, error) {
	return g.openFiles(ctx, openOptions{})
}

// If it fails, nothing stays open, and a store that this call created is removed again, so that the next
// start is still the first one, which sets the password of Administrator.
func (g *global) openFiles(ctx context.Context, o openOptions) (*app, error) {
	a, err := g.newApp()
	if err == nil {
		err = a.openFiles(ctx, g, o)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// newApp is an app of which nothing is open.
func (g *global) newApp() (*app, error) {
	log, err := g.logger()
	if err == nil && g.data == "" {
		err = usage{fault.Invalid.Errorf("data: name a directory with --data or CATENA_DATA")}
	}
	return &app{dir: g.data, log: log, level: g.level, meters: newMeters()}, err
}

// openFiles is that of global, for an app that has been made.
func (a *app) openFiles(ctx context.Context, g *global, o openOptions) error {
	host.KeepPrivate()
	if err := host.CheckOwner(g.data); err != nil {
		return usage{err}
	}
	for _, sub := range []string{"", "actions", "chains", "directories", "hooks", "listeners", "mail", "modules", "providers", "schedules", "scripts", "templates", "types", "workflows"} {
		if err := os.MkdirAll(filepath.Join(g.data, sub), 0o700); err != nil {
			return usage{err}
		}
	}
	err := g.openStore(ctx, a, o)
	if err != nil {
		return err
	}
	a.keeper = inDirectory(cmp.Or(o.home, g.data))
	if a.database != nil {
		a.keeper = inDatabase{a.database}
	}
	cache := cmp.Or(o.limits.storage.BlobCache, limit.Defaults[storage.Limits]().BlobCache)
	if o.withoutFiles {
		a.blobs, err = blob.Open("", a.log)
	} else {
		a.blobs, a.location, err = g.openBlobs(ctx, a.keeper, cache, a.log)
	}
	if err != nil {
		err = errors.Join(err, a.db.Close())
		if a.fresh && !g.shared() { // it is still the next start that is the first
			err = errors.Join(err, os.RemoveAll(filepath.Join(g.data, "store")))
		}
	}
	return err
}

// open opens the data directory whole; an empty one gets the content of a fresh server.
func (g *global) open(ctx context.Context) (*app, error) {
	return g.openWith(ctx, openOptions{})
}

func (g *global) openWith(ctx context.Context, o openOptions) (*app, error) {
	a, err := g.newApp()
	if err != nil {
		return nil, err
	}
	var made makings
	made.begin(a, g.data, o) // while the store is opened, which waits for the disk
	err = a.openFiles(ctx, g, o)
	wrong := made.wait()
	if err != nil {
		a.db, a.blobs = nil, nil // which are closed
		return nil, errors.Join(err, a.close())
	}
	if wrong == nil && a.fresh {
		wrong = a.declared.misfit() // nothing can be kept yet
	}
	if wrong != nil {
		return nil, errors.Join(usage{wrong}, a.close())
	}
	switch {
	case a.fresh && o.adminPassword == "" && o.makePassword:
		o.adminPassword = rand.Text()
		// It is printed once, by the caller; the store has only its hash.
		a.password = o.adminPassword
	case a.fresh && o.adminPassword == "" && g.shared():
		return nil, errors.Join(usage{errors.New("the database is empty: start a server with --store, or run catena init")}, a.close())
	}
	if err = a.start(ctx, o); err == nil {
		err = made.unfit
	}
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	a.arm(ctx, o, made.set)
	return a, nil
}

// makings are what a start makes beside opening the store, since both take about as long: what the files declare, and the set of
// operations, which does not ask for that yet.
type makings struct {
	running      sync.WaitGroup
	set          *engine.Set
	wrong, unfit error // with what the files declare; with the settings of what operations use
}

// begin begins with a data directory.
func (m *makings) begin(a *app, dir string, o openOptions) {
	m.running.Go(func() {
		a.declared = readDeclared(dir)
		m.running.Go(func() { m.wrong = a.declared.declare() })
		var self string
		if self, m.unfit = ownProgram(); m.unfit == nil {
			a.tools(o, self)
			m.set, m.unfit = a.assemble(o, self)
		}
	})
}

// wait returns what is wrong with what the files declare, once everything is made.
func (m *makings) wait() error {
	m.running.Wait()
	return m.wrong
}

// ownProgram is the path of the program that workers are started from.
var ownProgram = worker.Self

// tools are what reads and converts files in processes of its own.
func (a *app) tools(o openOptions, self string) {
	a.films = convert.Films{Formats: o.films, Largest: o.limits.program.Film}
	a.programs = program.New([]string{self, workerVerb, ofProgram}, worker.Installed, o.limits.program)
	a.pdf = pdf.New([]string{self, workerVerb, ofPDF}, a.programs.Path(program.PDFToPPM), o.limits.pdf)
}

// start puts the repositories on the opened files.
func (a *app) start(ctx context.Context, o openOptions) (err error) {
	a.repo, err = storage.Open(ctx, a.repository(o), o.adminPassword)
	if err != nil {
		return err
	}
	a.branches = []branch{{repo: a.repo}}
	a.declared.types, a.declared.wrong = a.repo.Types(), a.declared.texts.Open(ctx, a.repo)
	if wrong := a.declared.misfit(); wrong != nil {
		return usage{wrong}
	}
	if err := credential.Open(ctx, a.repo); err != nil {
		return err
	}
	names, err := a.repo.Declare(ctx, o.repositories...)
	if err != nil {
		return usage{err}
	}
	for _, name := range names {
		r, err := storage.Open(ctx, a.further(o, name), "")
		if err != nil {
			return err
		}
		a.branches = append(a.branches, branch{repo: r})
	}
	return nil
}

// repository is how the first repository of the store is opened.
func (a *app) repository(o openOptions) storage.Config {
	base := a.declared.kinds.Base()
	return storage.Config{
		Name: "default", DB: a.db, Blobs: a.blobs, Types: base.Types, Beside: base.Beside, Declared: a.declared.kinds.Declared,
		Owners:  slices.Concat([]storage.Owner{waiting.Owner, cluster.Owner}, owner.All, ops.Owners, decks.Owners),
		PDFText: a.pdf.PlainText, Log: a.log, Clock: a.clock, Limits: o.limits.storage, Bounds: o.limits.bounds(),
	}
}

// further is how another repository beside the first one is opened.
func (a *app) further(o openOptions, name string) storage.Config {
	return storage.Config{
		Name: name, First: a.repo, Types: a.declared.kinds.Base().Types,
		PDFText: a.pdf.PlainText, Log: a.log, Clock: a.clock, Limits: o.limits.storage, Bounds: o.limits.bounds(),
	}
}

// assemble makes what runs on the engine, and the set of operations. Neither asks for a repository yet.
func (a *app) assemble(o openOptions, self string) (*engine.Set, error) {
	a.chains = chains.New()
	a.chains.Workflows = func(name string) (uses []chains.Use) {
		a.declared.texts.Workflows.Value().Uses(name, func(model, node string) { uses = append(uses, chains.Use{Kind: "workflow", Name: model, Node: node}) })
		return uses
	}
	a.scripts = scripts.New(scripts.Options{Worker: []string{self, workerVerb}, Limits: o.limits.scripts, Log: a.log})
	a.listeners, a.schedules, a.hooks, a.waiting = listener.New(), schedule.New(), hook.New(), waiting.New()
	err := errors.Join(a.sender(o.smtp, o.base), a.printer(o.chromium))
	if err != nil {
		return nil, err
	}
	a.outside.Folder = o.exports
	if a.outside.Client, err = egress.New(o.egress); err != nil {
		return nil, usage{err}
	}
	set, err := engine.NewSet(append(a.operations(self, o.driveTests), a.deployments().Ops())...)
	if err != nil {
		return nil, err
	}
	return chains.Builtin(set)
}

// arm makes the engine with everything that runs on it. The engine exists before anything is deployed, and
// everything is deployed before the first request is answered.
func (a *app) arm(ctx context.Context, o openOptions, set *engine.Set) {
	// Listeners are added before the first request, as the list of a repository is not locked.
	for i, b := range a.branches {
		decks.Listen(b.repo)
		mail.Watch(b.repo)
		workflow.Watch(b.repo)
		conversion.Watch(b.repo, a.converting())
		(&property.Mappings{Tools: metadata.Tools{PDF: a.pdf, Programs: a.programs}, Log: a.log}).Watch(b.repo)
		a.branches[i].webhooks = delivery.New(b.repo, postWith(a.outside.Client), a.log, nil)
		// Load does this for the first repository.
		if i > 0 {
			a.listeners.Watch(b.repo)
			a.waiting.Watch(b.repo)
		}
	}
	a.engine = engine.New(engine.Config{Repo: a.repo, Set: set, PDF: a.pdf, Programs: a.programs, Limits: o.limits.engine, Log: a.log, Uploads: ops.Uploads, Keeper: a.waiting})
	// Kept texts may name an operation that is gone: they stay kept, and everything else works.
	if err := a.deployments().Load(ctx, a.engine); err != nil {
		a.log.Error("not deployed", "error", err)
	}
}

// converting is what conversions in the background use.
func (a *app) converting() convert.Tools {
	return convert.Tools{PDF: a.pdf, Programs: a.programs, Films: a.films}
}

// fileFlags defines flags for what is made of files.
func (s *serve) fileFlags(f *pflag.FlagSet) {
	f.StringVar(&s.chromium, "chromium", "", "path of the browser that prints decks (default: found in PATH; \"off\" disables it)")
	f.StringSliceVar(&s.films, "transcode", conversion.FilmFormats(), "formats that films are kept in after an upload, beside their own; an empty list turns it off")
	f.StringVar(&s.exportFolder, "export-folder", "", "folder that Blob.ExportToFS may write to; without it, the operation is refused")
}

// checkFilms returns what is wrong with the formats that films are to be kept in.
func checkFilms(words []string) error {
	known := conversion.FilmFormats()
	for _, word := range words {
		if !slices.Contains(known, word) {
			return fmt.Errorf("transcode: unknown format %q, must be one of %s", word, strings.Join(known, ", "))
		}
	}
	return nil
}

// operations are those of the program, as they are configured: the families of ops, and decks. What is
// deployed at run time (chains, scripts) joins the set later.
func (a *app) operations(self string, driveTests bool) [][]engine.Op {
	return append(ops.All(ops.Config{
		Directories:  func() *directory.Registry { return record.RegistryOf(a.repo) },
		Drive:        drive.Config{Version: platformVersion, Tests: driveTests},
		Notification: notification.Config{Base: a.mail.Base},
		Outside:      a.outside,
		Spreadsheets: []string{self, workerVerb, ofSheets},
		Service:      service.Config{Level: a.level, Server: &a.server},
		Texts:        a.declared.texts,
	}), decks.Ops())
}

// handler is the REST interface on this data directory.
func (a *app) handler(c rest.Config) *rest.Handler {
	c.Engine, c.Log, c.Version, c.Program, c.Hooks = a.engine, a.log, platformVersion, version, automation.Receive(a.hooks)
	c.Ready = append(c.Ready, rest.Check{Name: "storageStatus", Test: a.repo.Writable}, rest.Check{Name: "logStatus", Test: a.logStatus, Part: true}, rest.Check{Name: "scriptStatus", Test: a.scripts.Ready, Part: true}, rest.Check{Name: "workflowStatus", Test: a.workflowStatus, Part: true},
		rest.Check{Name: "deployedStatus", Test: func(context.Context) error { return a.deployments().Status(a.engine) }, Part: true, Says: true})
	if a.location.Address != "" {
		c.Ready = append(c.Ready, rest.Check{Name: "contentStatus", Test: a.answering.status, Part: true})
	}
	return server.New(c)
}

// close ends everything in the opposite order of its start: first what runs calls, then what calls write to,
// and the store last. All parts are closed even if one fails.
func (a *app) close() error {
	var errs []error
	if a.renderer.Browser != nil {
		a.renderer.Browser.Close()
	}
	// Each part may be missing: close also serves a start that failed half way.
	a.programs.Close()
	if a.scripts != nil {
		errs = append(errs, a.scripts.Close())
	}
	if a.repo != nil {
		// Uses of keys and failed attempts are counted in memory and written now and then.
		errs = append(errs, credential.Flush(context.Background(), a.repo))
	}
	for _, b := range slices.Backward(a.branches) {
		errs = append(errs, b.repo.Close())
	}
	if a.blobs != nil {
		errs = append(errs, a.blobs.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	return errors.Join(errs...)
}

// made returns why there is no data directory, or nil.
func (g *global) made() error {
	if g.shared() {
		return nil // whether it has anything is found out when it is opened
	}
	if _, err := os.Stat(filepath.Join(g.data, "store")); errors.Is(err, fs.ErrNotExist) {
		return usage{errors.New(g.data + ": not a data directory: create one with catena init, or name a running server with --server")}
	}
	return nil
}

// local opens the data directory and returns a client of its REST interface, acting as Administrator: anyone
// who can read the directory needs no password. The returned function closes it. A directory that a server
// has open cannot be opened; the error of the store says so.
func (g *global) local(ctx context.Context) (*client, func(), error) {
	if err := g.made(); err != nil {
		return nil, nil, err
	}
	a, err := g.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.client(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, a.close())
	}
	return c, func() {
		if err := a.close(); err != nil {
			a.log.Error("closing the data directory", "error", err)
		}
	}, nil
}

// client returns a client of this data directory's REST interface.
func (a *app) client(ctx context.Context) (*client, error) {
	as, err := a.engine.PrincipalOf(ctx, "Administrator")
	if err != nil {
		return nil, err
	}
	h := a.handler(rest.Config{As: as})
	return &client{base: "http://127.0.0.1", http: &http.Client{Transport: transport{h}}, sign: func(*http.Request) {}}, nil
}

// logStatus fails while the server runs that left out the end of the redo log.
func (a *app) logStatus(context.Context) error {
	if what, now := a.db.Dropped(); now {
		return fault.Unavailable.Errorf("redo log: %s", what)
	}
	return nil
}
