package mail

import (
	"context"
	"encoding/json"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/subscription"
)

// NotifyJob is the kind of the jobs that tell subscribers what happened.
const NotifyJob = "notify"

// notice is what they are told.
type notice struct {
	Notification string   `json:"notification"`
	Event        string   `json:"event"`
	User         string   `json:"user"`
	Comment      string   `json:"comment,omitempty"`
	Doc          string   `json:"doc"`
	Places       []string `json:"places"` // the document and the folders above it
	Path         string   `json:"path"`
	Title        string   `json:"title"`
	Gone         bool     `json:"gone,omitempty"`
}

// Watch has subscribers told of events. It is called before the repository is used.
func Watch(repo *storage.Repo) { repo.OnEvent(happened) }

// happened leaves finding the subscribers to a job, so that nobody waits for it.
func happened(tx *storage.Tx, e storage.Event) error {
	name := subscription.NotificationOf(e.Name)
	if name == "" || e.Doc == nil {
		return nil
	}
	if any, err := subscription.Any(tx); err != nil || !any {
		return err
	}
	as := tx.Principal()
	n := notice{
		Notification: name, Event: e.Name, User: as.Name, Comment: e.Comment, Doc: e.Doc.ID(), Places: []string{e.Doc.ID()},
		Path: e.Doc.Path(), Title: e.Doc.Title(), Gone: e.Name == "documentRemoved",
	}
	if as.Actor != "" {
		n.User = as.Actor
	}
	above, err := tx.As(tx.Repo().System()).Ancestors(e.Doc)
	if err != nil && !n.Gone {
		return err
	}
	for _, d := range above {
		n.Places = append(n.Places, d.ID())
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: NotifyJob, Data: data, As: n.User})
}

// Notify returns what finds the subscribers of a job's event and has a message sent to each, except to who caused it.
func Notify(repo *storage.Repo) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error {
		var n notice
		if err := json.Unmarshal(j.Data, &n); err != nil {
			return &outbox.GaveUp{Err: fault.Invalid.Errorf("notify: %w", err)}
		}
		return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
			users, err := subscription.Subscribers(tx, n.Notification, n.Places)
			if err != nil {
				return err
			}
			about := n.Doc
			if n.Gone {
				if len(n.Places) < 2 {
					return nil
				}
				about = n.Places[len(n.Places)-1]
			}
			for _, user := range users {
				if user == n.User {
					continue
				}
				_, err := Send(tx, Mail{
					To: []string{"user:" + user}, Template: "document", Doc: about, Data: map[string]any{
						"event": n.Event, "notification": n.Notification, "user": n.User, "comment": n.Comment, "id": n.Doc, "path": n.Path, "title": n.Title,
					},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
