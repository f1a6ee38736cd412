package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"catena/decks/asset"
	"catena/decks/export"
	"catena/decks/render"
	"catena/engine/delivery"
	"catena/engine/egress"
	"catena/engine/listener"
	"catena/engine/mail"
	opsblob "catena/ops/blob"
	"catena/ops/bulk"
	"catena/ops/conversion"
	opsoutside "catena/ops/outside"
	opsworkflow "catena/ops/workflow"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/grant"
	"catena/storage/history"
	"catena/storage/outbox"
	"catena/storage/retention"
	"catena/storage/search"
	"catena/storage/uisession"
	"catena/storage/upload"
	hooks "catena/storage/webhook"
)

// jobHandlers is the table of what a repository's outbox is carried out by: one line for each kind of job.
func (a *app) jobHandlers(b branch) outbox.Handlers {
	all := outbox.Handlers{
		listener.JobKind: {Do: a.listeners.Job(b.repo)},
		bulk.JobKind:     {Do: bulk.Job(a.engine.On(b.repo)), Buried: bulk.Buried(a.engine.On(b.repo))},
		bulk.CSVJobKind:  {Do: bulk.CSVJob(a.engine.On(b.repo)), Buried: bulk.CSVBuried(a.engine.On(b.repo))},
		mail.NotifyJob:   {Do: mail.Notify(b.repo)},
		mail.JobKind:     {Do: a.mail.Job},
		hooks.JobKind:    {Do: b.webhooks.Job},
		grant.JobKind:    grant.Jobs(b.repo),
	}
	if b.repo == a.repo {
		maps.Copy(all, a.schedules.Jobs())
		maps.Copy(all, a.hooks.Jobs())
	}
	maps.Copy(all, a.waiting.Jobs(b.repo))
	maps.Copy(all, opsworkflow.Escalations(a.engine.On(b.repo)))
	maps.Copy(all, opsoutside.Jobs(b.repo, opsoutside.Config{Client: a.outside.Client, Blobs: func(f storage.Blob) *storage.Blob { return a.blobs.Load(f) }}))
	maps.Copy(all, conversion.Jobs(b.repo, a.converting()))
	maps.Copy(all, opsblob.Jobs(a.blobs, a.outside))
	maps.Copy(all, (&asset.Copier{Repo: b.repo, Client: a.outside.Client, Log: a.log}).Jobs())
	maps.Copy(all, (&export.Worker{Repo: b.repo, PDF: a.renderer, Log: a.log}).Jobs())
	return all
}

// postWith sends the deliveries of webhooks by the client for all that leaves the server.
func postWith(client *egress.Client) delivery.Post {
	return func(ctx context.Context, address string, h http.Header, body []byte) (int, error) {
		a, err := client.Post(ctx, address, h, bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return 0, err
		}
		return a.Status, a.Body.Close()
	}
}

// smtp is the mail server that messages are handed to.
type smtp struct {
	host, user, password, security, from string
	port                                 int
}

func (m *smtp) flags(f *pflag.FlagSet) {
	f.StringVar(&m.host, "smtp-host", "", "mail server; without one, no mail is sent")
	f.IntVar(&m.port, "smtp-port", 0, "port of the mail server; 0 means the usual port")
	f.StringVar(&m.user, "smtp-user", "", "user at the mail server (default: no sign-in)")
	f.StringVar(&m.password, "smtp-password", "", "password at the mail server; prefer CATENA_SMTP_PASSWORD")
	f.StringVar(&m.security, "smtp-security", "starttls", "encryption: starttls, ssl or none")
	f.StringVar(&m.from, "smtp-from", "", "sender address of messages")
}

// config is what a sender of mail needs to know of it.
func (m *smtp) config() mail.Config {
	return mail.Config{Host: m.host, Port: m.port, User: m.user, Password: m.password, Security: m.security, From: m.from}
}

// sender makes the sender of mail.
func (a *app) sender(m smtp, base string) error {
	c := m.config()
	c.Base, c.Templates, c.Log = base, a.declared.texts.Mail.Value, a.log
	c.Blobs = func(b *storage.Blob) *storage.Blob { return a.repo.Blobs().Load(*b) }
	var err error
	if a.mail, err = mail.New(c); err != nil {
		return usage{err}
	}
	return nil
}

// noBrowser has decks printed without one although there is one.
const noBrowser = "off"

// browserProgram finds the program of the browser; "" if there is none, or is to be none.
func browserProgram(given string) (string, error) {
	switch given {
	case noBrowser:
		return "", nil
	case "":
		return render.FindChromium(), nil
	}
	found, err := exec.LookPath(given)
	if err != nil {
		return "", fmt.Errorf("chromium: %w", err)
	}
	return found, nil
}

// printer finds the browser that decks are printed with; the path of its program may be
// given, and without any the server does what it can itself.
func (a *app) printer(given string) error {
	a.renderer.Log = a.log
	path, err := browserProgram(given)
	if err != nil {
		return usage{err}
	}
	if path == "" {
		a.log.Debug("no browser: decks are printed by the embedded renderer")
		return nil
	}
	if made, old := outdated(path, time.Now()); old {
		a.log.Warn("the browser that prints decks is outdated; it is not updated with this program", "path", path, "made", made.Format(time.DateOnly))
	}
	a.renderer.Browser = &render.Chromium{Path: path, Log: a.log}
	return nil
}

// browserAge is how old a browser may be before that is told: they are fixed every few weeks.
const browserAge = 30 * 24 * time.Hour

// outdated says when a browser's program was made, as far as its file tells, and whether that is too long ago.
// Nobody else is asked.
func outdated(path string, now time.Time) (made time.Time, old bool) {
	info, err := os.Stat(path)
	if err != nil {
		return made, false
	}
	made = info.ModTime()
	const first = 2008 // files of builds that are the same everywhere are older than any browser
	return made, made.Year() >= first && now.Sub(made) > browserAge
}

// sweepBranch removes what nobody needs any longer of one repository.
func (a *app) sweepBranch(ctx context.Context, b branch) error {
	l := a.engine.Limits()
	declare := func() error { return search.SweepIndexes(ctx, b.repo) }
	if !a.oneVersion(ctx) { // servers of before would not keep such an index
		declare = func() error { return nil }
	}
	return errors.Join(upload.Sweep(ctx, b.repo), credential.Sweep(ctx, b.repo), history.Sweep(ctx, b.repo, history.Limits{All: l.Runs, User: l.UserRuns}),
		uisession.Sweep(ctx, b.repo), declare(), b.repo.Sweep(ctx))
}

// When sweep works: soon after the start, because it writes new indexes too, and then every few minutes.
const (
	firstSweep = time.Second
	sweepEvery = 5 * time.Minute
	urgentEach = 5 * time.Second // or sooner, if queries are refused for want of an index, or one was deployed
)

// expireEvery is how much later than its time the end of a retention may be told. That a document may go again is not late.
const expireEvery = 2 * time.Second

// expire fires the events of retentions that have ended, also of those that ended while no server ran.
func (a *app) expire(ctx context.Context) error {
	t := time.NewTicker(expireEvery)
	defer t.Stop()
	for {
		for _, b := range a.branches {
			if n, err := retention.Expire(ctx, b.repo); err != nil && ctx.Err() == nil {
				a.log.Error("retention", "repository", b.repo.Name(), "error", err)
			} else if n > 0 {
				a.log.Info("retention has ended", "repository", b.repo.Name(), "documents", n)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// sweep removes what nobody needs any longer.
func (a *app) sweep(ctx context.Context) error {
	t, urgent := time.NewTimer(firstSweep), time.NewTicker(urgentEach)
	defer t.Stop()
	defer urgent.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-urgent.C:
			if slices.ContainsFunc(a.branches, func(b branch) bool { return search.IndexUrgent(b.repo) || b.repo.IndexesDue(ctx) }) {
				t.Reset(0)
			}
		case <-t.C:
			t.Reset(sweepEvery)
			if err := a.hooks.Sweep(ctx); err != nil && ctx.Err() == nil {
				a.log.Error("sweep", "messages of", "hooks", "error", err)
			}
			for _, b := range a.branches {
				if err := a.sweepBranch(ctx, b); err != nil && ctx.Err() == nil {
					a.log.Error("sweep", "repository", b.repo.Name(), "error", err)
				}
			}
		}
	}
}

// tasks are the work that only the settings of serve ask for.
func (s *serve) tasks(a *app) (out []task) {
	out = append(out, a.alone(task{"scrubbing content", s.scrubber.Run}), task{"figures", s.day.Run})
	if a.member != nil {
		out = append(out, task{"telling of damaged content", s.scrubber.Tell})
	}
	if s.backups.folder != "" {
		out = append(out, a.alone(task{"backups", func(ctx context.Context) error { return s.backups.run(ctx, a.backup, a.log) }}),
			task{"backups on request", func(ctx context.Context) error { return s.backups.serve(ctx, a.backup, a.backedUp) }})
	}
	if s.replica != "" {
		out = append(out, task{"replica", a.followReplica(s.replica, s.options())})
	}
	if s.requests != nil {
		out = append(out, task{"log of requests", func(ctx context.Context) error { return s.requests.reopening(ctx, a.log) }})
	}
	return out
}
