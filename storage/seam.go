package storage

// This file is the seam while the parts are being built: the whole surface that the engine,
// the operations and the doors use. It dissolves into the files that implement it.

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"time"

	"catena/storage/blob"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Ref names a document: an absolute path ("/a/b"), an id, either with a "repository:" or "doc:" in front.
type Ref string

// Refs names several documents.
type Refs []Ref

// Props are property values by xpath.
type Props map[string]any

// Blob is a file's content with its name and type.
type Blob = blob.Blob

// Blobs is a list of files.
type Blobs []*Blob

// Docs is a list of documents.
type Docs []*Doc

// Principal is who acts.
type Principal struct {
	Name     string
	Groups   []string // transitive, with "members" for everyone who signed in
	Admin    bool     // member of administrators, or the system
	System   bool     // the server itself; audit shows Actor
	Actor    string   // the originating user when Name is not
	ReadOnly bool     // signed in by a key of read-only scope: writes are refused
	KeyID    int64    // the API key used, or 0
	Revision string   // deck revision pinned by the key: "", "A", "B"
}

// Config opens a repository.
type Config struct {
	Name   string // "default"
	DB     *kv.DB
	Blobs  *blob.Store
	Types  *schema.Registry
	Log    *slog.Logger
	Clock  func() time.Time // nil: time.Now
	NewID  func() string    // nil: random UUID (version 4)
	Limits Limits
}

// Limits bound what one call may do; zero values take the defaults of DefaultLimits.
type Limits struct {
	PageSize    int   // most entries of one page (1,000)
	CountLimit  int   // bounded totals stop here (1,000)
	ScanRows    int   // most index rows one query may read (100,000)
	PathDepth   int   // levels of the tree (256)
	NameLength  int   // bytes of a document's name (255)
	TreeCopy    int   // documents one copy or delete may touch in a transaction (5,000)
	BlobSize    int64 // bytes of one blob (5 GiB)
	EventDepth  int   // events fired by events (8)
	EventsACall int   // (10,000)
}

// Repo is an opened repository of documents.
type Repo struct{}

// Open opens the repository and, on an empty store, writes the content a fresh server has
// (the tree of rest-wire 21, the user Administrator with the given password, groups).
func Open(ctx context.Context, c Config, adminPassword string) (*Repo, error) {
	panic("storage: being built")
}

func (r *Repo) Name() string            { panic("storage: being built") }
func (r *Repo) Types() *schema.Registry { panic("storage: being built") }
func (r *Repo) Blobs() *blob.Store      { panic("storage: being built") }
func (r *Repo) View(ctx context.Context, as *Principal, fn func(*Tx) error) error {
	panic("storage: being built")
}

// reruns fn on conflict
func (r *Repo) Update(ctx context.Context, as *Principal, fn func(*Tx) error) error {
	panic("storage: being built")
}
func (r *Repo) System() *Principal { panic("storage: being built") }

// SignIn checks a password (argon2id, bounded concurrency, back-off after failures per user). Wrong: fault.Denied.
func (r *Repo) SignIn(ctx context.Context, user, password string) (*Principal, error) {
	panic("storage: being built")
}

// SignInKey checks an API key "cat_<id>_<secret>" (sha-256 at rest, constant time, expiry, revocation; last use recorded lazily).
func (r *Repo) SignInKey(ctx context.Context, key string) (*Principal, error) {
	panic("storage: being built")
}

// RunJobs claims and carries out outbox rows until ctx ends; handlers by kind. At least once, retries with back-off, dead letter after 8 tries.
func (r *Repo) RunJobs(ctx context.Context, handlers map[string]func(context.Context, Job) error) error {
	panic("storage: being built")
}

// Sweep removes what nobody needs any more: tombstoned children of deleted trees, unreferenced blobs after a grace period, finished jobs, expired idempotency records.
func (r *Repo) Sweep(ctx context.Context) error { panic("storage: being built") }
func (r *Repo) Verify(ctx context.Context) (problems []string, err error) {
	panic("storage: being built")
}
func (r *Repo) Close() error { panic("storage: being built") }

// Tx is one transaction seen by one principal: every read and write is checked against the principal's permissions.
type Tx struct{}

func (t *Tx) Context() context.Context { panic("storage: being built") }
func (t *Tx) Repo() *Repo              { panic("storage: being built") }
func (t *Tx) Principal() *Principal    { panic("storage: being built") }

// the same transaction for another principal
func (t *Tx) As(p *Principal) *Tx { panic("storage: being built") }

// one instant a transaction, UTC, milliseconds
func (t *Tx) Now() time.Time                      { panic("storage: being built") }
func (t *Tx) NewID() string                       { panic("storage: being built") }
func (t *Tx) Next(sequence string) (int64, error) { panic("storage: being built") }
func (t *Tx) Writable() bool                      { panic("storage: being built") }

// savepoint
func (t *Tx) Nest(fn func() error) error { panic("storage: being built") }
func (t *Tx) AfterCommit(fn func())      { panic("storage: being built") }

// what this transaction has changed so far, in order, coalesced by document
func (t *Tx) Changes() []Change { panic("storage: being built") }

// Change is one effect of a transaction, as a dry run lists it.
type Change struct {
	Kind string `json:"kind"` // create, update, delete, move, copy, lock, unlock, acl, lifecycle, version, job, audit, record
	ID   string `json:"id,omitempty"`
	Path string `json:"path,omitempty"`
	Type string `json:"type,omitempty"`
	Note string `json:"note,omitempty"` // e.g. the changed xpaths, the job's kind
}

// Documents.
// NotFound with the ref as message; unreadable: Denied "Privilege 'Read' is not granted to 'bob'"
func (t *Tx) Doc(ref Ref) (*Doc, error) { panic("storage: being built") }

// also "." relative paths
func (t *Tx) DocFrom(base *Doc, ref Ref) (*Doc, error) { panic("storage: being built") }
func (t *Tx) Docs(refs Refs) (Docs, error)             { panic("storage: being built") }
func (t *Tx) Reload(d *Doc) (*Doc, error)              { panic("storage: being built") }
func (t *Tx) Root() (*Doc, error)                      { panic("storage: being built") }

// nil for the root
func (t *Tx) Parent(d *Doc) (*Doc, error) { panic("storage: being built") }

// readable ones, root first, without d
func (t *Tx) Ancestors(d *Doc) (Docs, error) { panic("storage: being built") }

// NotFound
func (t *Tx) Child(d *Doc, name string) (*Doc, error)       { panic("storage: being built") }
func (t *Tx) Children(d *Doc, o PageOptions) (*Page, error) { panic("storage: being built") }

// readable children in order
func (t *Tx) EachChild(d *Doc) iter.Seq2[*Doc, error]          { panic("storage: being built") }
func (t *Tx) HasChildren(d *Doc, folderish bool) (bool, error) { panic("storage: being built") }

// unsaved, with default values
func (t *Tx) Blank(typeName string) (*Doc, error) { panic("storage: being built") }

// name "" -> "Untitled"; a taken name gets "."+milliseconds; fires aboutToCreate, documentCreated
func (t *Tx) Create(parent *Doc, typeName, name string, p Props) (*Doc, error) {
	panic("storage: being built")
}

// fires documentModified when something changed; locked by another: Denied
func (t *Tx) Save(d *Doc, o SaveOptions) (*Doc, error)       { panic("storage: being built") }
func (t *Tx) Delete(d *Doc) error                            { panic("storage: being built") }
func (t *Tx) Move(d, target *Doc, name string) (*Doc, error) { panic("storage: being built") }
func (t *Tx) Copy(d, target *Doc, name string) (*Doc, error) { panic("storage: being built") }
func (t *Tx) Lock(d *Doc) (*Doc, error)                      { panic("storage: being built") }
func (t *Tx) Unlock(d *Doc) (*Doc, error)                    { panic("storage: being built") }
func (t *Tx) Follow(d *Doc, transition string) (*Doc, error) { panic("storage: being built") }
func (t *Tx) SetTrashed(d *Doc, trashed bool) (*Doc, error)  { panic("storage: being built") }
func (t *Tx) Path(d *Doc) (string, error)                    { panic("storage: being built") }

// spooled, not yet kept
func (t *Tx) NewBlob(name, typ string, r io.Reader) (*Blob, error) { panic("storage: being built") }

// SaveOptions guard a save.
type SaveOptions struct {
	ChangeToken string // non-empty and stale: Conflict "{id}, Invalid change token"
	Comment     string // for the audit record
	Source      string
	Quiet       bool // no modification date, contributors or event
}

// PageOptions ask for a part of a list.
type PageOptions struct {
	Offset, Limit int
	After         string // opaque cursor of Page.Next; wins over Offset
	CountLimit    int    // 0: the default bound; -1: do not count
}

// Page is a part of a list of documents.
type Page struct {
	Docs     Docs
	Offset   int
	Limit    int    // page size asked for (0: none)
	Total    int    // exact, or the bound reached when More
	More     bool   // Total is only a lower bound
	HasNext  bool   // another page exists
	Next     string // cursor, "" at the end
	Provider string // name of the page provider, if any
	MaxPage  int    // largest page size allowed
}

// QueryOptions bind and bound a query.
type QueryOptions struct {
	PageOptions
	Args  []any          // for ?
	Named map[string]any // for :name
	Sort  []SortKey      // replaces ORDER BY when not empty
	Max   int            // most results altogether; 0: no bound but the limits
}

// SortKey is one ORDER BY item.
type SortKey struct {
	Field string
	Desc  bool
}

// Rows are the columns of a query's results.
type Rows struct {
	Page    // paging figures; Docs is nil
	Columns []string
	Entries []map[string]any
}

// Doc is a document as read: system fields plus properties, which decode on first use. Setting changes memory only.
type Doc struct{}

func (d *Doc) ID() string   { panic("storage: being built") }
func (d *Doc) Ref() Ref     { panic("storage: being built") }
func (d *Doc) Name() string { panic("storage: being built") }

// empty name segments never occur; "/" for the root; for a version its name
func (d *Doc) Path() string                                     { panic("storage: being built") }
func (d *Doc) ParentID() string                                 { panic("storage: being built") }
func (d *Doc) Type() *schema.Type                               { panic("storage: being built") }
func (d *Doc) Title() string                                    { panic("storage: being built") }
func (d *Doc) State() string                                    { panic("storage: being built") }
func (d *Doc) Facets() []string                                 { panic("storage: being built") }
func (d *Doc) HasFacet(name string) bool                        { panic("storage: being built") }
func (d *Doc) Schemas() []*schema.Schema                        { panic("storage: being built") }
func (d *Doc) Repository() string                               { panic("storage: being built") }
func (d *Doc) ChangeToken() string                              { panic("storage: being built") }
func (d *Doc) VersionLabel() string                             { panic("storage: being built") }
func (d *Doc) IsFolder() bool                                   { panic("storage: being built") }
func (d *Doc) IsVersion() bool                                  { panic("storage: being built") }
func (d *Doc) IsProxy() bool                                    { panic("storage: being built") }
func (d *Doc) IsTrashed() bool                                  { panic("storage: being built") }
func (d *Doc) IsCheckedOut() bool                               { panic("storage: being built") }
func (d *Doc) Locked() (owner string, since time.Time, ok bool) { panic("storage: being built") }
func (d *Doc) Position() int64                                  { panic("storage: being built") }

// it exists in the repository
func (d *Doc) Saved() bool                   { panic("storage: being built") }
func (d *Doc) Dirty() bool                   { panic("storage: being built") }
func (d *Doc) Get(xpath string) (any, error) { panic("storage: being built") }
func (d *Doc) Set(xpath string, v any) error { panic("storage: being built") }
func (d *Doc) Remove(xpath string) error     { panic("storage: being built") }

// nil when empty
func (d *Doc) Blob(xpath string) (*Blob, error) { panic("storage: being built") }

// file:content, else the note's text, else nil
func (d *Doc) MainBlob() (*Blob, error) { panic("storage: being built") }

// main first, then files:files
func (d *Doc) AllBlobs() (Blobs, error)      { panic("storage: being built") }
func (d *Doc) AddFacet(name string) error    { panic("storage: being built") }
func (d *Doc) RemoveFacet(name string) error { panic("storage: being built") }

// AppendProperties appends `"dc:title":…,` members of the schemas wanted (nil: all): the stored JSON is copied when nothing in it needs an address.
func (d *Doc) AppendProperties(dst []byte, want func(schema string) bool, blobURL func(xpath string, b *Blob) string) []byte {
	panic("storage: being built")
}

// ACE is one entry of an access control list.
type ACE struct {
	User, Permission string
	Granted          bool
	Creator          string
	Begin, End       time.Time // zero: unbounded
	Notify           bool
	Comment          string
}

// user:permission:granted:creator:begin:end
func (a ACE) ID() string { panic("storage: being built") }

// effective, pending, archived
func (a ACE) Status(now time.Time) string { panic("storage: being built") }

// ACL is a named list of entries.
type ACL struct {
	Name    string // "local", "inherited", or any other
	Entries []ACE
}

// local lists first, then "inherited", nearest first; needs ReadSecurity
func (t *Tx) ACLs(d *Doc) ([]ACL, error) { panic("storage: being built") }

// empty removes; needs WriteSecurity; unknown permission: Invalid
func (t *Tx) SetACL(d *Doc, name string, entries []ACE) (*Doc, error) { panic("storage: being built") }
func (t *Tx) Can(d *Doc, permission string) bool                      { panic("storage: being built") }
func (t *Tx) Permissions(d *Doc) []string                             { panic("storage: being built") }
func (t *Tx) Users() (Table, error)                                   { panic("storage: being built") }

// Entry is one audit record.
type Entry struct {
	ID                                int64
	Event, Category, User, Comment    string
	DocID, DocPath, DocType, DocState string
	Time, Logged                      time.Time
	Source                            string // "server", or "client" for entries a client wrote
	Extended                          map[string]any
}

// EntryFilter selects audit records.
type EntryFilter struct {
	DocID                     string
	Events, Categories, Users []string
	From, To                  time.Time
	Ascending                 bool
	PageOptions
}

// EntryPage is a part of the audit log.
type EntryPage struct {
	Entries []Entry
	Page    // paging figures
}

func (t *Tx) LogEntry(e Entry) error                    { panic("storage: being built") }
func (t *Tx) Entries(f EntryFilter) (*EntryPage, error) { panic("storage: being built") }

// Fire records an event: its audit record is written in this transaction and listeners run.
func (t *Tx) Fire(event string, d *Doc, extra map[string]any) error { panic("storage: being built") }

// Job is a row of the outbox.
type Job struct {
	ID, Kind string
	Due      time.Time
	Tries    int
	As       string // user it acts for
	Data     json.RawMessage
}

func (t *Tx) Enqueue(j Job) error { panic("storage: being built") }

// Table is a named set of small JSON records with string keys, for what is not a document: users, groups, keys, chains, idempotency records, deck links.
type Table struct{}

func (t *Tx) Table(name string) Table                  { panic("storage: being built") }
func (t Table) Get(key string, into any) (bool, error) { panic("storage: being built") }
func (t Table) Put(key string, v any) error            { panic("storage: being built") }

// Exists
func (t Table) Create(key string, v any) error { panic("storage: being built") }
func (t Table) Delete(key string) error        { panic("storage: being built") }
func (t Table) Scan(from, to string, reverse bool, limit int) iter.Seq2[string, json.RawMessage] {
	panic("storage: being built")
}

// User is somebody who can sign in. The deck account's fields live here too.
type User struct {
	ID                                                   int64
	Username, FirstName, LastName, Email, Company        string
	Groups                                               []string
	Description, ThumbnailURL, WebsiteURL, TwitterHandle string
	AccountType, BillingPeriod                           string // free|lite|pro|team, none|monthly|yearly
	TeamID                                               int64
	TeamRole                                             string
	Created, Updated                                     time.Time
}

// Group is a named set of users and groups.
type Group struct {
	Name, Label   string
	Users, Groups []string
}

// Key is an API key; its secret is shown once and kept as a hash.
type Key struct {
	ID                                  int64
	User, Scope, Name                   string // Scope: read_only, read_write
	Revision                            string
	Created, Expires, LastUsed, Revoked time.Time
}

// NotFound
func (t *Tx) User(name string) (*User, error) { panic("storage: being built") }

// "" keeps the password; administrators, or oneself
func (t *Tx) SaveUser(u *User, password string) error     { panic("storage: being built") }
func (t *Tx) Group(name string) (*Group, error)           { panic("storage: being built") }
func (t *Tx) SaveGroup(g *Group) error                    { panic("storage: being built") }
func (t *Tx) PrincipalOf(user string) (*Principal, error) { panic("storage: being built") }
func (t *Tx) CreateKey(k Key) (Key, string, error)        { panic("storage: being built") }

// own; "" with administrator: all
func (t *Tx) Keys(user string) ([]Key, error) { panic("storage: being built") }
func (t *Tx) RevokeKey(id int64) error        { panic("storage: being built") }
