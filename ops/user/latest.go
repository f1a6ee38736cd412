package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// latest reads the audit log, since users and groups are kept by name and nothing orders them by
// their creation.
var latest = engine.Op{
	Name:     "UserGroup.Latest",
	Label:    "Latest Users and Groups",
	Category: "Users & Groups",
	Doc: "Returns the users and groups created last that still exist, in the form of documents, newest first. " +
		"For administrators and power users.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Result:  openapi.Ref("UsersAndGroups"),
	Run:     engine.On(latestParams.run),
}

// mostLatest bounds how many records of creations are read: names that were created and deleted again take
// records without being shown, so fewer than a page may be found although there are more.
const mostLatest = 1_000

type latestParams struct {
	PageSize int `json:"pageSize" default:"10" doc:"Maximum number of entries."`
}

func (p latestParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if !manages(c.As) {
		return nil, fault.Denied.Errorf("users: the latest are shown only to administrators and power users")
	}
	o, err := options(c, p.PageSize, 0, "")
	if err != nil {
		return nil, err
	}
	// The audit log is readable by administrators only, while power users may see this list.
	// Only names are taken from the records; whether each still exists, and what it looks like now,
	// is read as the caller.
	entries, seen, read := []any{}, map[string]bool{}, 0
	f := storage.EntryFilter{Events: []string{"user_created", "group_created"}}
	walked := f.Walk(c.Tx.As(c.Tx.Repo().System()), func(e storage.Entry, _ func() string) bool {
		read++
		name, _ := e.Extended["id"].(string)
		if !seen[e.Event+name] {
			seen[e.Event+name] = true
			var d map[string]any
			if d, err = created(c, e.Event, name); d != nil {
				entries = append(entries, d)
			}
		}
		return err == nil && read < mostLatest && len(entries) < o.Limit
	})
	if err = cmp.Or(err, walked); err != nil {
		return nil, err
	}
	// There is one page only. It has all members of the platform's paged list, which its clients
	// read unconditionally.
	return map[string]any{
		"entity-type": "documents", "isPaginable": true, "resultsCount": len(entries), "totalSize": len(entries), "pageSize": o.Limit,
		"currentPageIndex": 0, "numberOfPages": 1, "isNextPageAvailable": false, "isPreviousPageAvailable": false,
		"currentPageSize": len(entries), "entries": entries,
	}, nil
}

// created returns the user or group that an event is about, nil if there is none any longer. One that was
// deleted and created again is shown once, at its latest creation.
func created(c *engine.Ctx, event, name string) (map[string]any, error) {
	if event == "user_created" {
		u, err := people.Lookup(c.Tx, name)
		if err != nil {
			return nil, unlessMissing(err)
		}
		return userDocument(c, u), nil
	}
	g, err := people.LookupGroup(c.Tx, name)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return groupDocument(c, g), nil
}

func unlessMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
