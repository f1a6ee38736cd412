// Package storage keeps documents in transactions: the tree, properties, permissions, locks, life cycles, versions,
// and the files that documents refer to. A Tx acts for one principal, and nothing is read or written through it that
// the principal may not read or write. It leaves ordered storage to kv, what documents consist of to schema, the
// content of files to blob, queries to search, and what is kept beside documents to the packages that own it (Owner).
//
// A document is a few rows of the ordered store (internal/layout has the table of all keys): its record, its
// position in the tree, a row below its parent, and a row for each index. A Tx writes them together, keeps
// the indexes in step with the documents, and records what happened in the audit log. Everything that a
// listener or an owner of other data does about a change happens in the same transaction, so that it is
// committed with the change or not at all.
//
// Permissions are checked here and nowhere above: whatever reads a document through a Tx gets it only if its
// principal may read it, and to everybody else it does not exist. What the server does on its own behalf runs
// as the system (Repo.System, Tx.As).
//
// Caches of documents' positions and of permissions hold for an epoch of the tree. A transaction that moves,
// renames or protects a folder begins a new epoch when it is committed, and uses no cache itself.
package storage

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/namehint"
	"catena/storage/internal/password"
	"catena/storage/internal/prefetch"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/limit"
	"catena/storage/schema"

	"github.com/google/uuid"
)

// DefaultRepository is the name of a store's first repository.
const DefaultRepository = "default"

// Config opens a repository.
type Config struct {
	Name  string // "" is DefaultRepository
	DB    *kv.DB
	Blobs *blob.Store
	Types *schema.Registry
	// Beside is what else is declared (Declared.Beside).
	Beside any
	// Declared returns what is declared with what the store keeps, which is asked for again after each deployment; nil: there are
	// Types and Beside alone.
	Declared Declarations
	// First is the first repository of the store, if this is a further one: DB and Blobs are its.
	First *Repo
	// Owners keep data about documents and users; those of the first repository are those of further ones too.
	Owners  []Owner
	Log     *slog.Logger
	PDFText PDFText          // nil: PDF files have no text
	Clock   func() time.Time // nil: time.Now
	NewID   func() string    // nil: UUIDs, random or for documents ordered by time
	Jitter  func() float64   // spreads what is tried again, in [0, 1); nil: random
	Limits  Limits
	Bounds  limit.Set // limits of packages that stand on this one

	Secret         []byte        // of which every other secret is made; nil: one kept in the store
	PasswordMemory uint32        // KiB one password check takes; 0: 19 MiB
	BlobGrace      time.Duration // how long content nobody refers to is kept; 0: 24 hours
}

// PDFText returns the text in a PDF file, which full text looks at.
type PDFText func(context.Context, *Blob) (string, error)

// Limits bound what one call may do; zero values take the defaults.
type Limits struct {
	PageSize    int   `setting:"limit-page" default:"1000" doc:"entries of one page"`
	CountLimit  int   `setting:"limit-query-count" default:"1000" doc:"results up to which a query counts"`
	QueryRows   int   `setting:"limit-query-rows" default:"1000000" doc:"index rows that one query reads for conditions without an index, as long as it takes no longer than five seconds"`
	ScanRows    int   `setting:"limit-rows" default:"100000" doc:"rows that one call reads to list a directory, a folder, jobs or events"`
	Password    int   `setting:"limit-password-length" default:"1" doc:"characters that a password has at least, wherever somebody sets one; passwords that users have stay valid"`
	PathDepth   int   `setting:"limit-folder-depth" default:"256" doc:"levels of the tree of documents"`
	NameLength  int   `setting:"limit-name" unit:"bytes" default:"255 B" doc:"size of the name of a document"`
	TreeCopy    int   `setting:"limit-tree" default:"5000" doc:"documents that one call copies, or marks as trashed with their folder; of more, the rest is marked in the background"`
	Automatic   int   `setting:"limit-automatic-indexes" default:"8" max:"16" unlimited:"true" doc:"indexes over several fields that the server declares by itself; negative means none"`
	BlobSize    int64 `setting:"limit-file" unit:"bytes" default:"5 GiB" doc:"size of one file"`
	BlobCache   int64 `setting:"limit-content-cache" unit:"bytes" default:"1 GiB" doc:"size of the local cache of files in a bucket"`
	EventDepth  int   `setting:"limit-event-depth" default:"8" doc:"levels of events that are fired by events"`
	EventsACall int   `setting:"limit-call-events" default:"10000" doc:"events of one call"`
}

// Repo is an opened repository of documents.
type Repo struct {
	*common

	name     string
	db       *kv.DB
	part     bool // db is a part of another repository's
	shared   bool // other processes may write to db
	blobs    *blob.Store
	pdfText  PDFText
	log      *slog.Logger
	clock    func() time.Time
	newID    func() string
	newDocID func() string
	jitter   func() float64
	limits   Limits
	bounds   limit.Set
	grace    time.Duration

	catalog atomic.Pointer[catalog] // as of the last deployment of declarations that this process knows

	root      layout.ID
	tree      atomic.Pointer[treeCache]
	access    accessCache
	backlog   backlog
	naming    naming
	hints     namehint.Names
	requests  prefetch.History
	feed      feed
	numbering numbering
	zones     zones
	master    []byte
	secrets   sync.Map // by purpose, which are few

	ready atomic.Pointer[readyIndexes] // as a transaction found them last

	listeners []func(*Tx, Event) error
	owners    []Owner
	base      []string // indexes that are declared by no text that the store keeps; nil: all are
	ownReads  [][]byte // keys of the rows that they are asked for (Owner.Reads)
	working   sync.WaitGroup
}

func (c *Config) setDefaults() {
	c.Name = cmp.Or(c.Name, DefaultRepository)
	c.BlobGrace = cmp.Or(c.BlobGrace, 24*time.Hour)
	limit.Fill(&c.Limits)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.PDFText == nil {
		c.PDFText = func(context.Context, *Blob) (string, error) { return "", nil }
	}
}

// Open opens the repository and, on an empty store, writes the content a fresh server has: the first
// folders, the groups, and the user Administrator with the given password.
func Open(ctx context.Context, c Config, adminPassword string) (*Repo, error) {
	newDocID := c.NewID
	if c.NewID == nil {
		c.NewID, newDocID = uuid.NewString, timedID
	}
	c.setDefaults()
	r := &Repo{
		name: c.Name, db: c.DB, blobs: c.Blobs, log: c.Log, clock: c.Clock,
		newID: c.NewID, newDocID: newDocID, jitter: c.Jitter, limits: c.Limits, bounds: c.Bounds, grace: c.BlobGrace, pdfText: c.PDFText, owners: c.Owners,
	}
	r.access.init()
	if err := r.join(c.First); err != nil {
		return nil, err
	}
	for _, o := range r.owners {
		for _, row := range o.Reads {
			r.ownReads = append(r.ownReads, row.Key)
		}
	}
	if !r.part {
		r.people.init()
		r.pins.init()
		password.Of(&r.memory).Init(c.Clock, c.PasswordMemory, max(2, limit.Processors))
	}
	if err := r.openDeclared(ctx, &c); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{r.openNumbering, r.openBacklog, r.openFeed} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.seed(ctx, adminPassword); err != nil {
		return nil, err
	}
	if err := r.openSecret(ctx, c.Secret); err != nil {
		return nil, err
	}
	if err := r.openOwned(ctx); err != nil {
		return nil, err
	}
	r.db.Warm(kv.Prefix([]byte{layout.RecordSpace}))
	return r, r.openIndexes(ctx)
}

// seed finds the root, or writes what a fresh repository has.
func (r *Repo) seed(ctx context.Context, password string) error {
	found, missing := false, 0
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		if found, err = t.findRoot(); err == nil {
			missing, err = t.eachMissing(func([]byte, []byte) error { return nil })
		}
		return err
	})
	if err != nil || found && (missing == 0 || r.db.Writable() != nil) {
		return err
	}
	return r.Update(ctx, r.System(), func(t *Tx) error {
		if _, err := t.eachMissing(t.kv.Set); err != nil {
			return err
		}
		if found, err := t.findRoot(); err != nil || found {
			return err
		}
		if err := t.listIndexes(t.repo.wantedIndexes()); err != nil {
			return err
		}
		if err := t.seedTree(); err != nil {
			return err
		}
		if r.part {
			return nil // people are there already
		}
		return t.seedOwned(password)
	})
}

// FirstRow is a row as it is in the beginning.
type FirstRow struct{ Key, Value []byte }

// firstRows are rows that every transaction which writes reads, beside those of the owners. One that is there can be read
// without guarding the place where it would be, which on a database is a place that others write near to: without them,
// most transactions that write at the same time would conflict.
var firstRows = []FirstRow{
	{automaticKey, noAutomatic},
	{awaitedKey, []byte{'\n'}},
	{declaredKey, []byte("0")},
}

// eachMissing calls fn for those of the first rows that are not there, in stores of older versions, and returns how many they are.
func (t *Tx) eachMissing(fn func(key, value []byte) error) (n int, err error) {
	rows := slices.Clone(firstRows)
	for _, o := range t.repo.owners {
		rows = append(rows, o.Reads...)
	}
	for _, row := range rows {
		raw, err := t.kv.Get(row.Key)
		if err != nil {
			return n, err
		}
		if raw != nil {
			continue
		}
		n++
		if err := fn(row.Key, row.Value); err != nil {
			return n, err
		}
	}
	return n, nil
}

var rootKey = layout.MetaKey("root")

func (t *Tx) findRoot() (bool, error) {
	b, err := t.kv.Get(rootKey)
	if err != nil || b == nil {
		return false, err
	}
	if len(b) != 16 {
		return false, fault.Internal.Errorf("root: id has %d bytes", len(b))
	}
	copy(t.repo.root[:], b)
	return true, nil
}

// seedTree creates the root and the folders that clients of the platform expect in a new repository, with their permissions.
func (t *Tx) seedTree() error {
	root, err := t.NewDoc("Root")
	if err != nil {
		return err
	}
	if root.id, err = t.newDocID(); err != nil {
		return err
	}
	t.repo.root = root.id
	if err := t.kv.Set(rootKey, root.id[:]); err != nil {
		return err
	}
	t.touch(root, true)
	if err := t.insert(root, "create", Event{Name: "documentCreated", Doc: root}); err != nil {
		return err
	}
	if root, err = t.SetACL(root, "local", []ACE{
		{User: AdministratorName, Permission: "Everything", Granted: true},
		{User: Members, Permission: "Read", Granted: true},
	}); err != nil {
		return err
	}
	domain, err := t.Create(root, "Domain", "default-domain", Props{"dc:title": "Domain"})
	if err != nil {
		return err
	}
	for _, c := range [...][3]string{
		{"WorkspaceRoot", "workspaces", "Workspaces"},
		{"SectionRoot", "sections", "Sections"},
		{"TemplateRoot", "templates", "Templates"},
	} {
		d, err := t.Create(domain, c[0], c[1], Props{"dc:title": c[2]})
		if err != nil {
			return err
		}
		if c[0] != "SectionRoot" {
			continue
		}
		if _, err := t.SetACL(d, "local", []ACE{{User: Members, Permission: "CanAskForPublishing", Granted: true}}); err != nil {
			return err
		}
	}
	return nil
}

// Name returns the repository's name.
func (r *Repo) Name() string { return r.name }

// IsPart reports whether the repository is a further one of a store, which has users and contents for all of them.
func (r *Repo) IsPart() bool { return r.part }

// Shared reports whether other processes may write to the store as well.
func (r *Repo) Shared() bool { return r.shared }

// Types returns the declared document types as they are now. A transaction has those of its beginning: TypesOf.
func (r *Repo) Types() *schema.Registry { return r.catalog.Load().types }

// Beside returns what is declared beside the types as it is now. A transaction has that of its beginning: BesideOf.
func (r *Repo) Beside() any { return r.catalog.Load().beside }

// Blobs returns the store of the files' content.
func (r *Repo) Blobs() *blob.Store { return r.blobs }

// Limits returns the bounds that hold.
func (r *Repo) Limits() Limits { return r.limits }

// Bounds returns the limits of packages that stand on this one, for limit.Of.
func (r *Repo) Bounds() limit.Set { return r.bounds }

// Log returns where the repository says what nobody is told otherwise.
func (r *Repo) Log() *slog.Logger { return r.log }

// Memory returns what packages below storage keep in memory, for all repositories of the store.
func (r *Repo) Memory() *row.Memory { return &r.memory }

// NewID returns a new identifier.
func (r *Repo) NewID() string { return r.newID() }

// Jitter returns a random part of a duration, by which attempts of many are spread.
func (r *Repo) Jitter(most time.Duration) time.Duration {
	return time.Duration(r.jitter() * float64(most))
}

// BlobGrace returns how long content nobody refers to is kept.
func (r *Repo) BlobGrace() time.Duration { return r.grace }

// OnEvent has fn called for every event, in the transaction it happens in; an error refuses what
// happens. It is called before the repository is used.
func (r *Repo) OnEvent(fn func(*Tx, Event) error) { r.listeners = append(r.listeners, fn) }

// Writable returns why no write would succeed now, or nil.
func (r *Repo) Writable(context.Context) error { return r.db.Writable() }

// View runs fn on one snapshot, which it cannot change.
func (r *Repo) View(ctx context.Context, as *Principal, fn func(*Tx) error) error {
	if as == nil {
		return ErrNobody
	}
	bound, settled := r.before(ctx)
	for {
		err := r.db.View(ctx, func(k *kv.Tx) error {
			return r.begin(ctx, k, as, func(t *Tx) error {
				t.bound, t.settled = bound, settled
				err := fn(t)
				if err == nil {
					r.learn(ctx, k)
				}
				return err
			})
		})
		if !r.outdated(ctx, &err) {
			return err
		}
	}
}

// Update runs fn in a transaction and commits it unless fn returns an error. After a lost race fn
// runs again from the start.
func (r *Repo) Update(ctx context.Context, as *Principal, fn func(*Tx) error) (err error) {
	if as == nil {
		return ErrNobody
	}
	if as.ReadOnly {
		return errReadOnly()
	}
	var own struct { // what outlives an attempt
		pinned []string
		noted  uint64
		fed    int64
		claims claims
		asks   inquiries
	}
	if own.asks.Findings, _ = ctx.Value(FindingsKey{}).(*Findings); own.asks.Findings == nil {
		own.asks.Findings = new(Findings)
	}
	defer func() {
		r.pins.release(own.pinned)
		r.backlog.end(own.noted)
		r.feed.end(&own.fed)
		r.naming.end(&own.claims, err == nil)
	}()
	bound, settled, ended := r.backlog.bound.Load(), r.feed.settled.Load(), r.naming.ended.Load()
	attempt := func(k *kv.Tx) error {
		own.claims.begun, own.claims.attempts = ended, own.claims.attempts+1
		defer func() { ended = r.naming.ended.Load() }() // before the snapshot of the next attempt
		return r.begin(ctx, k, as, func(t *Tx) error {
			t.pinned, t.noted, t.fed, t.claims, t.bound, t.settled = &own.pinned, &own.noted, &own.fed, &own.claims, bound, settled
			t.inquiries, t.again, own.asks.wanted, own.asks.again = &own.asks, own.asks.again, nil, false
			if err := fn(t); !Abandoned(t) {
				return err
			}
			return ErrAgain // whatever fn made of it
		})
	}
	for {
		err = r.db.Update(ctx, attempt)
		if r.outdated(ctx, &err) {
			continue
		}
		if own.asks.wanted == nil {
			return err
		}
		if f := own.asks.inquire(ctx, *own.asks.wanted); f.err != nil && ctx.Err() != nil {
			return f.err
		}
		own.asks.wanted, own.asks.again = nil, true
	}
}

// ErrNobody refuses what only somebody who signed in may do.
var ErrNobody = fault.Denied.Errorf("nobody is signed in")

func errReadOnly() error {
	return fault.Denied.Errorf("the key is read-only").WithCode(fault.CodeInsufficientScope)
}

func (r *Repo) begin(ctx context.Context, k *kv.Tx, as *Principal, fn func(*Tx) error) error {
	own := new(struct { // in one piece, as every call needs both
		session
		Tx
	})
	s, t := &own.session, &own.Tx
	*s = session{ctx: ctx, repo: r.catalog.Load(), kv: k, now: r.clock().UTC().Truncate(time.Millisecond)}
	*t = Tx{session: s, as: as}
	as, err := t.acting(as)
	if err != nil {
		return err
	}
	t.as, t.rights = as, r.access.of(as)
	if err := t.upToDate(); err != nil {
		return err
	}
	err = fn(t)
	if err = cmp.Or(s.failed, err); err != nil {
		return err
	}
	if err := t.putAudited(); err != nil {
		return err
	}
	if err := t.putMarked(); err != nil {
		return err
	}
	for _, fn := range s.after {
		k.AfterCommit(fn)
	}
	return nil
}

// Close waits for what runs. The database and the blob store
// belong to the caller.
func (r *Repo) Close() error {
	r.working.Wait()
	if r.part {
		return r.db.Close()
	}
	return nil
}
