// Package uisession keeps what the user interfaces of a user share with operations: for each conversation the current
// document and what to show or say next, and for the user lists of documents. A list holds ids, and is read with the
// rights of the caller. What operations do with it is theirs.
//
// A session is one row, written when the call that changed it is committed, so a call that fails leaves the
// screen of the user as it was. Its size is bounded, as it is read with every call of the conversation. The
// scopes (event, page, conversation, user) are those of the platform's former user interface, whose chains
// still use them.
package uisession

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/internal/row"
	"catena/storage/lazy"
	"catena/storage/limit"
)

// Limits bound the sessions of one user; zero values take the defaults.
type Limits struct {
	Sessions int           `setting:"limit-ui-sessions" default:"100" doc:"sessions of user interfaces of one user"`
	Size     int           `setting:"limit-ui-session-size" unit:"bytes" default:"256 KiB" doc:"size of one session of a user interface, and of all lists of one user"`
	List     int           `setting:"limit-ui-list" default:"1000" doc:"documents of the clipboard, the worklist, or another list of a user interface"`
	Time     time.Duration `setting:"limit-ui-session-time" default:"12h" doc:"time that a session of a user interface is kept after its last change"`
}

func limitsOf(r *storage.Repo) Limits { return limit.Of[Limits](r.Bounds()) }

// Session is the state of one conversation of a user.
type Session struct {
	ID               string
	Created, Changed time.Time
	Expires          time.Time `json:"expires"`

	Document  string           `json:",omitempty"` // id of the current one
	Outcome   string           `json:",omitempty"` // name of the view to be shown next
	Tab       string           `json:",omitempty"`
	Messages  []Message        `json:",omitempty"`
	Events    []string         `json:",omitempty"` // raised and not taken yet
	Form      *Form            `json:",omitempty"`
	File      *File            `json:",omitempty"` // to be downloaded
	Documents map[Scope]ByName `json:",omitempty"`
}

// Message is something to be said to the user.
type Message struct{ Severity, Text string }

// Form is one that the user fills in: of a document to be made, or else of the current one.
type Form struct {
	Type       string         `json:",omitempty"` // of the document to be made; "": the current one is changed
	Parent     string         `json:",omitempty"` // id of the folder it is to be made in
	Properties map[string]any `json:",omitempty"` // as JSON has them
}

// Name is that of a document to be made: its title.
func (f *Form) Name() string {
	title, _ := f.Properties["dc:title"].(string)
	return cmp.Or(strings.TrimSpace(title), "Untitled")
}

// File is one that waits to be downloaded.
type File struct {
	Holder string // of the content
	Blob   storage.Blob
}

// ByName are ids of documents by the names they were given.
type ByName map[string]string

// Scope is how long a document keeps a name.
type Scope string

// The scopes, from the narrowest.
const (
	Event        Scope = "event"        // until what was raised is taken
	Page         Scope = "page"         // until another document is shown
	Conversation Scope = "conversation" // as long as the session
	User         Scope = "session"      // in all conversations of the user
)

// Scopes are all scopes, from the narrowest.
var Scopes = []Scope{Event, Page, Conversation, User}

// Names of lists.
const (
	Clipboard = "CLIPBOARD"
	Selection = "CURRENT_SELECTION"
	Worklist  = "DEFAULT"
)

var (
	sessions = row.Secret{Name: "uisessions"}
	shelves  = row.Secret{Name: "uilists"}
)

var names = lazy.Regexp(`^[A-Za-z0-9._-]{1,64}$`)

// keyPrefix begins the keys of a user's rows in a repository.
func keyPrefix(tx *storage.Tx) (string, error) {
	as := tx.Principal()
	if as.Name == "" || as.System || as.Name == storage.Guest().Name {
		return "", storage.ErrNobody
	}
	return as.Identity() + "\x00" + tx.Repo().Name() + "\x00", nil
}

// Of returns a session of the principal's.
func Of(tx *storage.Tx, id string) (*Session, error) {
	at, err := keyPrefix(tx)
	if err != nil {
		return nil, err
	}
	s := &Session{}
	found := false
	if names().MatchString(id) {
		if found, err = tx.Secret(sessions).Get(at+id, s); err != nil {
			return nil, err
		}
	}
	if !found || !tx.Now().Before(s.Expires) {
		return nil, fault.NotFound.Errorf("UI session %.64q", id).WithCode(fault.CodeUISession)
	}
	return s, nil
}

// All returns the sessions of the principal.
func All(tx *storage.Tx) ([]*Session, error) {
	at, err := keyPrefix(tx)
	if err != nil {
		return nil, err
	}
	var list []*Session
	for s, err := range storage.Records[*Session](tx.Secret(sessions), at, below(at), 0) {
		if err != nil {
			return nil, err
		}
		if tx.Now().Before(s.Expires) {
			list = append(list, s)
		}
	}
	return list, nil
}

func below(prefix string) string { return prefix[:len(prefix)-1] + "\x01" }

// Open returns the principal's session of an id, and begins it if there is none.
func Open(tx *storage.Tx, id string) (*Session, error) {
	s, err := Of(tx, id)
	if err == nil {
		return s, s.Keep(tx)
	}
	if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	if !names().MatchString(id) {
		return nil, fault.Invalid.Errorf("UI session %.64q: an id must have 1 to 64 letters, digits, dots, - and _", id).In("conversationId")
	}
	all, err := All(tx)
	if err != nil {
		return nil, err
	}
	if most := limitsOf(tx.Repo()).Sessions; len(all) >= most {
		return nil, fault.Limit.Errorf("UI sessions: user %s has %d, at most %d are allowed; end one first", tx.Principal().Name, len(all), most)
	}
	if err := Drop(tx, id); err != nil { // one that has expired
		return nil, err
	}
	s = &Session{ID: id, Created: tx.Now()}
	return s, s.Keep(tx)
}

// Keep writes the session, which from then on lives its whole time again.
func (s *Session) Keep(tx *storage.Tx) error {
	at, err := keyPrefix(tx)
	if err != nil {
		return err
	}
	s.Changed = tx.Now()
	s.Expires = s.Changed.Add(limitsOf(tx.Repo()).Time)
	return put(tx, sessions, at+s.ID, "UI session "+s.ID, s)
}

// put writes a row that is no larger than it may be.
func put(tx *storage.Tx, table row.Secret, key, what string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fault.Invalid.Errorf("%s: %w", what, err)
	}
	if most := limitsOf(tx.Repo()).Size; len(raw) > most {
		return fault.Limit.Errorf("%s: %d bytes, at most %d", what, len(raw), most)
	}
	return tx.Secret(table).Put(key, json.RawMessage(raw))
}

// Drop ends a session of the principal's, which may be over.
func Drop(tx *storage.Tx, id string) error {
	at, err := keyPrefix(tx)
	if err != nil || !names().MatchString(id) {
		return err
	}
	return drop(tx, at+id)
}

// drop removes the row of a session, and lets go of the file it holds.
func drop(tx *storage.Tx, key string) error {
	var s Session
	found, err := tx.Secret(sessions).Get(key, &s)
	if err != nil || !found {
		return err
	}
	return cmp.Or(s.release(tx), tx.Secret(sessions).Delete(key))
}

// Hold has the session offer a file for download, in place of the one before.
func (s *Session) Hold(tx *storage.Tx, b *storage.Blob) error {
	if err := s.release(tx); err != nil {
		return err
	}
	holder := tx.NewID()
	if err := hold.Keep(tx, holder, b); err != nil {
		return err
	}
	s.File = &File{holder, *b}
	return nil
}

func (s *Session) release(tx *storage.Tx) error {
	f := s.File
	if s.File = nil; f == nil {
		return nil
	}
	return hold.Release(tx, f.Holder, f.Blob.Digest)
}

// Download returns the file that is to be downloaded.
func (s *Session) Download(tx *storage.Tx) (*storage.Blob, error) {
	if s.File == nil {
		return nil, fault.NotFound.Errorf("UI session %s: there is no file to download", s.ID)
	}
	return hold.Load(tx, s.File.Blob), nil
}

// Raise adds events that were not raised since the last were taken.
func (s *Session) Raise(events ...string) {
	for _, e := range events {
		if e != "" && !slices.Contains(s.Events, e) {
			s.Events = append(s.Events, e)
		}
	}
}

// Show makes a document the current one; what belongs to another one goes.
func (s *Session) Show(id string) {
	if s.Document != id {
		s.Form, s.Tab = nil, ""
		delete(s.Documents, Page)
	}
	s.Document = id
}

// Taken forgets what is shown once: messages, events, the outcome, and documents that were named for the event.
func (s *Session) Taken() {
	s.Messages, s.Events, s.Outcome = nil, nil, ""
	delete(s.Documents, Event)
}

// Owner keeps what users have open in user interfaces.
var Owner = storage.Owner{Name: "uisession", Leave: end}

// end removes what is kept for a user who is gone.
func end(tx *storage.Tx, user string) error {
	for _, key := range keysOf(tx, sessions, user) {
		if err := drop(tx, key); err != nil {
			return err
		}
	}
	for _, key := range keysOf(tx, shelves, user) {
		if err := tx.Secret(shelves).Delete(key); err != nil {
			return err
		}
	}
	return tx.Err()
}

// keysOf are the keys of a user's rows in all repositories, whichever number the user has.
func keysOf(tx *storage.Tx, table row.Secret, user string) (keys []string) {
	for key := range tx.Secret(table).Scan(user+"#", user+"$", false, 0) {
		number, _, _ := strings.Cut(key[len(user)+1:], "\x00")
		if strings.Trim(number, "0123456789") == "" { // it is not one of a user whose name begins so
			keys = append(keys, key)
		}
	}
	return keys
}

// Sweep ends the sessions that have expired.
func Sweep(ctx context.Context, r *storage.Repo) error {
	span := limitsOf(r).Time
	var old []string
	err := r.View(ctx, r.System(), func(tx *storage.Tx) error {
		old = nil
		for key, raw := range tx.Secret(sessions).Scan("", "", false, 0) {
			var s Session
			if json.Unmarshal(raw, &s) == nil && (!tx.Now().Before(s.Expires) || s.Expires.Sub(tx.Now()) > span) {
				old = append(old, key)
			}
		}
		return tx.Err()
	})
	for _, key := range old {
		if err != nil {
			return err
		}
		err = r.Update(ctx, r.System(), func(tx *storage.Tx) error {
			var s Session
			found, err := tx.Secret(sessions).Get(key, &s)
			if err != nil || !found {
				return err
			}
			if !tx.Now().Before(s.Expires) {
				return drop(tx, key)
			}
			if latest := tx.Now().Add(span); s.Expires.After(latest) { // the clock was set back
				s.Expires = latest
				return tx.Secret(sessions).Put(key, s)
			}
			return nil
		})
	}
	return err
}
