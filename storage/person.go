package storage

// userCategory is that of events about users and groups.
const userCategory = "userGroup"

// told fires what happened to a user or group: user_created, group_modified and so on. What
// the system does of itself, as in setting up a repository, is nobody's doing and not told.
func (t *Tx) told(event, name string) error {
	if t.as.System && t.as.Actor == "" {
		return nil
	}
	return t.fire(Event{Name: event, Category: userCategory, Extra: map[string]any{"id": name}})
}

// change is the end of an event's name: whether something was there before.
func change(there bool) string {
	if there {
		return "_modified"
	}
	return "_created"
}
