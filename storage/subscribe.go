package storage

import (
	"cmp"
	"slices"
	"strings"

	"catena/storage/fault"
)

const (
	subscriptionTable = "subscriptions"
	anySubscription   = "any" // a row that is there once anybody has subscribed
	maxSubscriptions  = 10_000
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

func subscriptionKey(doc, notification, user string) string {
	return "doc/" + doc + "/" + notification + "/" + user
}

// Subscribe has the principal told of what happens to a document and below it: all, or what is named.
func (t *Tx) Subscribe(d *Doc, names ...string) error {
	names, err := t.subscribable(d, names)
	if err != nil {
		return err
	}
	table := t.Table(subscriptionTable)
	n := 0
	for range table.Scan("doc/"+d.ID()+"/", "doc/"+d.ID()+"0", false, maxSubscriptions+1) {
		n++
	}
	if n+len(names) > maxSubscriptions {
		return fault.Limit.Errorf("document %s: more than %d subscriptions", d.ID(), maxSubscriptions)
	}
	for _, name := range names {
		if err := table.Put(subscriptionKey(d.ID(), name, t.as.Name), true); err != nil {
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

// Unsubscribe ends subscriptions of the principal to a document: all, or what is named.
func (t *Tx) Unsubscribe(d *Doc, names ...string) error {
	names, err := t.subscribable(d, names)
	for i := 0; err == nil && i < len(names); i++ {
		err = t.Table(subscriptionTable).Delete(subscriptionKey(d.ID(), names[i], t.as.Name))
	}
	return err
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
		var on bool
		ok, err := t.Table(subscriptionTable).Get(subscriptionKey(d.ID(), name, t.as.Name), &on)
		if err != nil {
			return nil, err
		}
		if ok {
			names = append(names, name)
		}
	}
	return names, nil
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
		for key := range t.Table(subscriptionTable).Scan(at, at[:len(at)-1]+"0", false, maxSubscriptions) {
			if user := strings.TrimPrefix(key, at); !slices.Contains(users, user) {
				users = append(users, user)
			}
		}
	}
	return users, nil
}
