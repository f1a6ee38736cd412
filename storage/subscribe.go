package storage

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"catena/storage/fault"
)

const (
	subscriptionTable = "subscriptions"
	anySubscription   = "any" // a row that is there once anybody has subscribed
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
func subscriptionKey(doc, notification, user string) string {
	return subscriptionsTo(doc) + notification + "/" + user
}

func ownSubscriptionKey(user, doc, notification string) string {
	return subscriptionsOf(user) + doc + "/" + notification
}

func subscriptionsTo(doc string) string { return "doc/" + doc + "/" }

func subscriptionsOf(user string) string { return "user/" + user + "\x00" }

// subscriptions are the rows whose names begin with a text, one more than a limit at most; 0 is none.
func (t *Tx) subscriptions(prefix string, limit int) (rest []string) {
	last := len(prefix) - 1
	if limit > 0 {
		limit++
	}
	for key := range t.Table(subscriptionTable).Scan(prefix, prefix[:last]+string(rune(prefix[last]+1)), false, limit) {
		rest = append(rest, key[last+1:])
	}
	return rest
}

// Subscribe has the principal told of what happens to a document and below it: all, or what is named.
func (t *Tx) Subscribe(d *Doc, names ...string) error {
	names, err := t.subscribable(d, names)
	if err != nil {
		return err
	}
	have, err := t.Subscriptions(d)
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
	if err := t.roomForSubscriptions(d.ID(), len(more)); err != nil {
		return err
	}
	table := t.Table(subscriptionTable)
	for _, name := range more {
		if err := cmp.Or(
			table.Put(subscriptionKey(d.ID(), name, t.as.Name), t.as.ID),
			table.Put(ownSubscriptionKey(t.as.Name, d.ID(), name), true),
		); err != nil {
			return err
		}
	}
	var any bool
	ok, err := table.Get(anySubscription, &any)
	if err != nil {
		return err
	}
	t.AfterCommit(func() { t.repo.subscribed.Store(somebody) })
	if ok {
		return nil
	}
	return table.Put(anySubscription, true)
}

// roomForSubscriptions refuses so many subscriptions of the principal more, to a document.
func (t *Tx) roomForSubscriptions(doc string, more int) error {
	limit := t.repo.limits.Subscriptions
	if n := len(t.subscriptions(subscriptionsOf(t.as.Name), limit)); n+more > limit {
		return fault.Limit.Errorf("subscriptions: user %s has %d, at most %d", t.as.Name, n, limit)
	}
	limit = t.repo.limits.DocSubscriptions
	if n := len(t.subscriptions(subscriptionsTo(doc), limit)); n+more > limit {
		return fault.Limit.Errorf("document %s: more than %d subscriptions", doc, limit)
	}
	return nil
}

// Unsubscribe ends subscriptions of the principal to a document: all, or what is named.
func (t *Tx) Unsubscribe(d *Doc, names ...string) error {
	names, err := t.subscribable(d, names)
	for i := 0; err == nil && i < len(names); i++ {
		err = t.endSubscription(d.ID(), names[i], t.as.Name)
	}
	return err
}

func (t *Tx) endSubscription(doc, notification, user string) error {
	table := t.Table(subscriptionTable)
	return cmp.Or(table.Delete(subscriptionKey(doc, notification, user)), table.Delete(ownSubscriptionKey(user, doc, notification)))
}

// endSubscriptions ends all of a user who goes.
func (t *Tx) endSubscriptions(user string) error {
	for _, own := range t.subscriptions(subscriptionsOf(user), 0) {
		doc, notification, _ := strings.Cut(own, "/")
		if err := t.endSubscription(doc, notification, user); err != nil {
			return err
		}
	}
	return nil
}

// eraseSubscriptions no longer counts those to a document that is erased, whose subscribers are yet to be told.
func (t *Tx) eraseSubscriptions(doc string) error {
	if on, err := t.AnySubscription(); err != nil || !on {
		return err
	}
	for _, to := range t.subscriptions(subscriptionsTo(doc), 0) {
		notification, user, _ := strings.Cut(to, "/")
		if err := t.Table(subscriptionTable).Delete(ownSubscriptionKey(user, doc, notification)); err != nil {
			return err
		}
	}
	return nil
}

// subscribable checks who subscribes to what.
func (t *Tx) subscribable(d *Doc, names []string) ([]string, error) {
	if err := cmp.Or(t.MayWrite(), t.need(d, permRead)); err != nil {
		return nil, err
	}
	if t.as.Name == "" || t.as.System {
		return nil, ErrNobody
	}
	all := Notifications()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fault.Invalid.Errorf("notification %q: one of %s expected", name, strings.Join(all, ", ")).In("notifications")
		}
	}
	return names, nil
}

// Subscriptions returns what the principal is told of a document, subscribed to here.
func (t *Tx) Subscriptions(d *Doc) (names []string, err error) {
	for _, name := range Notifications() {
		var row json.RawMessage
		ok, err := t.Table(subscriptionTable).Get(subscriptionKey(d.ID(), name, t.as.Name), &row)
		if err != nil {
			return nil, err
		}
		if ok && subscriber(t.as.Name, row).Is(t.as) {
			names = append(names, name)
		}
	}
	return names, nil
}

// subscriber is whose the row of a document is.
func subscriber(user string, row json.RawMessage) Owned {
	number, err := strconv.ParseInt(string(row), 10, 64)
	if err != nil {
		number = 0
	}
	return Owned{user, number}
}

// AnySubscription reports whether anybody has ever subscribed to anything. The store is asked once.
func (t *Tx) AnySubscription() (bool, error) {
	switch t.repo.subscribed.Load() {
	case nobody:
		return false, nil
	case somebody:
		return true, nil
	}
	var on bool
	ok, err := t.Table(subscriptionTable).Get(anySubscription, &on)
	if err == nil && ok {
		t.repo.subscribed.Store(somebody)
	} else if err == nil {
		t.repo.subscribed.CompareAndSwap(unknown, nobody) // unless somebody has subscribed since
	}
	return ok, err
}

// What is known of subscriptions without asking the store.
const (
	unknown = iota
	nobody
	somebody
)

// Subscribers returns who is to be told of something about any of some documents, for what tells them.
func (t *Tx) Subscribers(notification string, docs []string) (users []string, err error) {
	if !t.as.System {
		return nil, fault.Denied.Errorf("subscribers: not for '%s'", t.as.Name)
	}
	for _, doc := range docs {
		at := subscriptionKey(doc, notification, "")
		for key, row := range t.Table(subscriptionTable).Scan(at, at[:len(at)-1]+"0", false, t.repo.limits.DocSubscriptions) {
			user := strings.TrimPrefix(key, at)
			if slices.Contains(users, user) {
				continue
			}
			number, err := t.NumberOf(user)
			if err != nil {
				return nil, err
			}
			if subscriber(user, row).Is(&Principal{Name: user, ID: number}) {
				users = append(users, user)
			}
		}
	}
	return users, nil
}
