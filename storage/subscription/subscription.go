// Package subscription keeps which users and groups want to be notified of which events of which documents. A
// subscription applies to a document and to everything below it. Messages about it are written and sent by package
// mail, which leaves out subscribers who may not read the document.
//
// A subscription has two rows: one under the document, by which an event finds its subscribers, and one under
// the user, by which a user's subscriptions are listed and ended. An event looks at the document and at all
// folders above it, so a subscription to a folder costs nothing for the documents in it. A marker row says
// whether anybody has ever subscribed: without it, events skip all of this.
package subscription

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/limit"
)

// Limits bound subscriptions; zero values take the defaults.
type Limits struct {
	User     int `setting:"limit-subscriptions" default:"10000" doc:"subscriptions of one user"`
	Document int `setting:"limit-subscriptions-document" default:"10000" doc:"subscriptions of all users to one document"`
}

func limitsOf(t *storage.Tx) Limits { return limit.Of[Limits](t.Repo().Bounds()) }

const (
	table  = "subscriptions"
	anyRow = "any" // a row that is there once anybody has subscribed
)

// notifications are what events are called to those who may subscribe to them.
var notifications = map[string]string{
	"commentAdded":               "Comment",
	"documentCheckedIn":          "Modification",
	"documentCreated":            "Creation",
	"documentCreatedByCopy":      "Creation",
	"documentModified":           "Modification",
	"documentMoved":              "Move",
	"documentPublished":          "Publication",
	"documentRemoved":            "Removal",
	"documentTrashed":            "Removal",
	"lifecycle_transition_event": "Workflow Change",
	"workflowTaskAssigned":       "Approval",
}

// NotificationOf returns what an event is called to subscribers; "" if they are not told.
func NotificationOf(event string) string { return notifications[event] }

// Notifications returns the names one may subscribe to.
func Notifications() []string {
	var names []string
	for _, n := range notifications {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// A subscription has a row of its document, by which subscribers are found, and one of its user, by which they
// are counted and ended. Those of the time before there were rows of users have none. The row of the document
// holds the user's number, so that one that stays is not that of another user of the name; those of the time when
// only names were kept hold true.
func docKey(doc, notification, user string) string {
	return docPrefix(doc) + notification + "/" + user
}

func userKey(user, doc, notification string) string {
	return userPrefix(user) + doc + "/" + notification
}

func docPrefix(doc string) string { return "doc/" + doc + "/" }

func userPrefix(user string) string { return "user/" + user + "\x00" }

// Owner keeps the subscriptions of users to documents.
var Owner = storage.Owner{Name: "subscription", Erase: erase, Leave: leave}

// list are the rows whose names begin with a text, one more than a limit at most; 0 is none.
func list(t *storage.Tx, prefix string, limit int) (rest []string) {
	last := len(prefix) - 1
	if limit > 0 {
		limit++
	}
	for key := range t.Table(table).Scan(prefix, prefix[:last]+string(rune(prefix[last]+1)), false, limit) {
		rest = append(rest, key[last+1:])
	}
	return rest
}

// Add has the principal told of what happens to a document and below it: all, or what is named.
func Add(t *storage.Tx, d *storage.Doc, names ...string) error {
	names, err := check(t, d, names)
	if err != nil {
		return err
	}
	have, err := Find(t, d)
	if err != nil {
		return err
	}
	var more []string
	for _, name := range names {
		if !slices.Contains(have, name) && !slices.Contains(more, name) {
			more = append(more, name)
		}
	}
	if len(more) == 0 {
		return nil
	}
	if err := room(t, d.ID(), len(more)); err != nil {
		return err
	}
	table := t.Table(table)
	for _, name := range more {
		if err := cmp.Or(
			table.Put(docKey(d.ID(), name, t.Principal().Name), t.Principal().ID),
			table.Put(userKey(t.Principal().Name, d.ID(), name), true),
		); err != nil {
			return err
		}
	}
	var any bool
	ok, err := table.Get(anyRow, &any)
	if err != nil {
		return err
	}
	t.AfterCommit(func() { stateOf(t).Store(somebody) })
	if ok {
		return nil
	}
	return table.Put(anyRow, true)
}

// room refuses so many subscriptions of the principal more, to a document.
func room(t *storage.Tx, doc string, more int) error {
	most := limitsOf(t).User
	if n := len(list(t, userPrefix(t.Principal().Name), most)); n+more > most {
		return fault.Limit.Errorf("subscriptions: user %s has %d, at most %d are allowed", t.Principal().Name, n, most)
	}
	most = limitsOf(t).Document
	if n := len(list(t, docPrefix(doc), most)); n+more > most {
		return fault.Limit.Errorf("document %s: more than %d subscriptions", doc, most)
	}
	return nil
}

// Remove ends subscriptions of the principal to a document: all, or what is named.
func Remove(t *storage.Tx, d *storage.Doc, names ...string) error {
	names, err := check(t, d, names)
	for i := 0; err == nil && i < len(names); i++ {
		err = remove(t, d.ID(), names[i], t.Principal().Name)
	}
	return err
}

func remove(t *storage.Tx, doc, notification, user string) error {
	table := t.Table(table)
	return cmp.Or(table.Delete(docKey(doc, notification, user)), table.Delete(userKey(user, doc, notification)))
}

// leave ends all of a user who goes.
func leave(t *storage.Tx, user string) error {
	for _, own := range list(t, userPrefix(user), 0) {
		doc, notification, _ := strings.Cut(own, "/")
		if err := remove(t, doc, notification, user); err != nil {
			return err
		}
	}
	return nil
}

// erase no longer counts those to a document that is erased, whose subscribers are yet to be told.
func erase(t *storage.Tx, d *storage.Doc) error {
	doc := d.ID()
	if on, err := Any(t); err != nil || !on {
		return err
	}
	for _, to := range list(t, docPrefix(doc), 0) {
		notification, user, _ := strings.Cut(to, "/")
		if err := t.Table(table).Delete(userKey(user, doc, notification)); err != nil {
			return err
		}
	}
	return nil
}

// check checks who subscribes to what.
func check(t *storage.Tx, d *storage.Doc, names []string) ([]string, error) {
	if err := cmp.Or(t.MayWrite(), t.Internal(row.Ordered{}).Need(d, "Read")); err != nil {
		return nil, err
	}
	if t.Principal().Name == "" || t.Principal().System {
		return nil, storage.ErrNobody
	}
	all := Notifications()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fault.Invalid.Errorf("notification %q: must be one of %s", name, strings.Join(all, ", ")).In("notifications")
		}
	}
	return names, nil
}

// Find returns what the principal is informed of a document, subscribed to here.
func Find(t *storage.Tx, d *storage.Doc) (names []string, err error) {
	for _, name := range Notifications() {
		var raw json.RawMessage
		ok, err := t.Table(table).Get(docKey(d.ID(), name, t.Principal().Name), &raw)
		if err != nil {
			return nil, err
		}
		if ok && subscriber(t.Principal().Name, raw).Is(t.Principal()) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Ahead gathers what Find reads.
func Ahead(a *storage.Reads, d *storage.Doc) {
	t := a.Tx()
	for _, name := range Notifications() {
		a.Row(t.Table(table), docKey(d.ID(), name, t.Principal().Name))
	}
}

// subscriber is whose the row of a document is.
func subscriber(user string, raw json.RawMessage) storage.Owned {
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		number = 0
	}
	return storage.Owned{Owner: user, OwnerID: number}
}

// Any reports whether anybody has ever subscribed to anything. The store is asked once.
func Any(t *storage.Tx) (bool, error) {
	switch stateOf(t).Load() {
	case nobody:
		return false, nil
	case somebody:
		return true, nil
	}
	var on bool
	ok, err := t.Table(table).Get(anyRow, &on)
	if err == nil && ok {
		stateOf(t).Store(somebody)
	} else if err == nil {
		stateOf(t).CompareAndSwap(unknown, nobody) // unless somebody has subscribed since
	}
	return ok, err
}

// state is what is known of subscriptions to a store without asking it.
type state struct{ atomic.Int32 }

func stateOf(t *storage.Tx) *state { return row.Of[state](t.Repo().Memory()) }

// What is known of subscriptions without asking the store.
const (
	unknown = iota
	nobody
	somebody
)

// Subscribers returns who is to be told of something about any of some documents, for what tells them.
func Subscribers(t *storage.Tx, notification string, docs []string) (users []string, err error) {
	if !t.Principal().System {
		return nil, fault.Denied.Errorf("subscribers: not visible to '%s'", t.Principal().Name)
	}
	for _, doc := range docs {
		at := docKey(doc, notification, "")
		for key, raw := range t.Table(table).Scan(at, at[:len(at)-1]+"0", false, limitsOf(t).Document) {
			user := strings.TrimPrefix(key, at)
			if slices.Contains(users, user) {
				continue
			}
			number, err := storage.NumberOf(t, user)
			if err != nil {
				return nil, err
			}
			if subscriber(user, raw).Is(&storage.Principal{Name: user, ID: number}) {
				users = append(users, user)
			}
		}
	}
	return users, nil
}
