package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/fsnotify/fsnotify"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"catena/cmd/catena/figures"
	"catena/cmd/catena/host"
	"catena/cmd/catena/telemetry"
	"catena/engine/egress"
	"catena/engine/mail"
	"catena/rest"
	"catena/rest/frontend"
	"catena/storage/badger"
	"catena/storage/fault"
	"catena/storage/limit"
	"catena/storage/maintenance"
	"catena/storage/outbox"
)

// serve is the serve verb's settings.
type serve struct {
	addr, metricsAddr       string
	contextPath, baseURL    string
	adminPassword           string
	jwtSecret, portalSecret string
	relaxed, driveTests     bool
	drain, scrubEvery       time.Duration
	limits                  limits
	backups                 backups
	certificate             certificate
	hosts, origins          []string
	rateExempt, proxies     []string
	contact                 string
	deckSources             []string
	repositories, films     []string
	smtp                    smtp
	egressAllow             []string
	egressHTTP              bool
	exportFolder, chromium  string
	accessLog               string
	ui, replica             string
	telemetry               telemetry.Settings

	requests *accessLog // that of accessLog, once it is open
	settings func() []setting
	day      *figures.Day
	scrubber *maintenance.Scrubber
	sender   *telemetry.Telemetry // nil: nothing is sent
}

// flags defines a flag for every setting. Those that topics does not list are hidden.
func (s *serve) flags(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on")
	f.StringVar(&s.accessLog, "access-log", "", "file for one line per request, in the format of log-format, reopened on SIGHUP; \"-\" is standard output")
	f.StringVar(&s.ui, "ui", "", "folder or zip archive with a build of the platform's own browser front end, served at /ui below the context path")
	f.StringVar(&s.replica, "replica", "", "standby of the database of store, postgres://USER@HOST/DATABASE, that answers reads of clients that accept its age")
	f.StringVar(&s.metricsAddr, "metrics-addr", "", "address that serves /metrics without sign-in; by default, administrators read /metrics at addr")
	f.StringVar(&s.contextPath, "context-path", "/nuxeo", "second prefix under which everything is served")
	f.StringVar(&s.baseURL, "base-url", "", "public address of the server, such as the address of a proxy")
	f.StringVar(&s.adminPassword, "admin-password", "", "first password of Administrator (default: random, shown once); prefer CATENA_ADMIN_PASSWORD")
	f.StringVar(&s.jwtSecret, "jwt-secret", "", "secret shared with issuers of JSON web tokens (HS512); without it, no tokens are accepted; prefer CATENA_JWT_SECRET")
	f.StringVar(&s.portalSecret, "portal-secret", "", "secret shared with a portal that signs users in; prefer CATENA_PORTAL_SECRET")
	f.StringSliceVar(&s.repositories, "repository", nil, "name of an additional repository, created if it does not exist and permanent from then on")
	f.BoolVar(&s.relaxed, "relaxed", false, "acknowledge writes before the disk has synced: a power failure may lose up to one second")
	f.DurationVar(&s.drain, "drain", 30*time.Second, "time that running requests have to finish at shutdown")
	// A month is well within the time that backups are usually kept, so damage is found while a good copy
	// still exists.
	s.scrubEvery = 30 * 24 * time.Hour
	f.Var(limit.Positive(&s.scrubEvery), "scrub-every", "interval in which the content of all files is read and verified")
	for _, l := range s.limits.all() {
		f.Var(l, l.Name, l.Doc)
	}
	s.backups.flags(f)
	s.certificate.flags(f)
	s.smtp.flags(f)
	s.telemetry.Flags(f)
	f.StringVar(&s.contact, "security-contact", "", "contact for vulnerability reports, such as mailto:security@example.org, published at /.well-known/security.txt")
	f.StringSliceVar(&s.rateExempt, "rate-exempt", nil, "addresses or networks, such as 10.1.0.0/16, that the rate does not apply to; an untrusted proxy stands for everybody behind it")
	f.StringSliceVar(&s.proxies, "trusted-proxies", nil, "addresses or networks, such as 10.1.0.0/16, of proxies that set X-Forwarded-For or Forwarded")
	f.StringSliceVar(&s.hosts, "allow-host", nil, "additional host name that requests may carry, besides the address of the server and loopback")
	f.StringSliceVar(&s.origins, "allow-origin", nil, "other web origin whose pages may call, such as https://app.example.org")
	f.StringSliceVar(&s.deckSources, "deck-source", nil, "web origin that slides may load pictures, videos and frames from, such as https://media.example.org")
	f.StringSliceVar(&s.egressAllow, "egress-allow", nil, "addresses or networks, such as 10.1.0.0/16, that operations may reach although they are not public")
	f.BoolVar(&s.egressHTTP, "egress-http", false, "permit operations to reach public addresses by http, not only by https")
	f.BoolVar(&s.driveTests, "drive-tests", false, "permit administrators to run the operations for tests of the desktop synchronizer, which create and remove users and documents")
	s.fileFlags(f)
	show(f)
}

func serveCmd(g *global) *cobra.Command {
	s := &serve{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the data directory over HTTP", Args: cobra.NoArgs,
		Long: "Serve the data directory over HTTP.\n\n" +
			"The flags below are the most common settings. All settings, including limits, can be set in the YAML file named by\n" +
			"--config (limit-json: 20 MiB) or in the environment (CATENA_LIMIT_JSON='20 MiB'); \"catena config print\" lists them.",
		Example: "  catena serve --data /var/lib/catena --addr 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem\n" +
			"  catena serve --config /etc/catena.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), g, cmd.ErrOrStderr()) },
	}
	s.flags(cmd.Flags())
	s.settings = func() []setting { return settingsOf(cmd.Flags(), true) }
	cmd.SetUsageFunc(topicUsage)
	return cmd
}

// check tells what is wrong with the settings beyond their form. It runs before the data directory is opened.
func (s *serve) check() error {
	var all []error
	if _, err := openDepot(s.backups.folder); err != nil {
		all = append(all, fault.Wrap(err, "backup-folder"))
	}
	if _, err := egress.Networks(s.rateExempt); err != nil {
		all = append(all, fault.Wrap(err, "rate-exempt"))
	}
	if _, err := egress.Networks(s.proxies); err != nil {
		all = append(all, fault.Wrap(err, "trusted-proxies"))
	}
	if u, err := url.Parse(s.contact); s.contact != "" && (err != nil || u.Scheme != "mailto" && u.Scheme != "https" && u.Scheme != "tel" || strings.ContainsFunc(s.contact, unicode.IsSpace)) {
		all = append(all, fmt.Errorf(`security-contact: %q: must begin with "mailto:", "https:" or "tel:"`, s.contact))
	}
	// Everything is checked, so that an administrator sees all mistakes at once.
	_, unsent := mail.New(s.smtp.config())
	_, err := egress.New(s.options().egress)
	_, lost := browserProgram(s.chromium)
	return errors.Join(append(all, unsent, err, lost, checkFilms(s.films), s.certificate.check(), s.checkUI(), s.telemetry.Check())...)
}

func (s *serve) options() openOptions {
	o := openOptions{adminPassword: s.adminPassword, limits: s.limits, smtp: s.smtp, exports: s.exportFolder, driveTests: s.driveTests, chromium: s.chromium, base: s.public(), repositories: s.repositories, films: s.films}
	o.egress = egress.Config{Allow: s.egressAllow, Plain: s.egressHTTP}
	if s.relaxed {
		o.durability = badger.Relaxed
	}
	return o
}

func (s *serve) run(ctx context.Context, g *global, out io.Writer) (err error) {
	// The garbage collector learns the memory limit of the container before anything allocates.
	started := sync.OnceFunc(host.Tune(g.shared()))
	defer started()
	a, err := s.open(ctx, g, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	// The address is opened after the store: a server that cannot use its data should not take the port, and
	// two servers on one directory are told apart by the store, not by the port.
	l, err := s.listen(ctx)
	if err != nil {
		return err
	}
	if err := a.join(ctx, l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	s.certificate.log = a.log
	// Passwords over plain HTTP are fine on loopback and behind a proxy, and only there.
	if s.certificate.exposed(l.Addr(), s.baseURL) {
		a.log.Warn("passwords and keys are sent unencrypted: set tls-cert, or set base-url to the https address of a proxy", "addr", l.Addr())
	}
	exempt, proxies, err := s.networks()
	if err != nil {
		return usage{err}
	}
	registry := s.metrics(a)
	s.describe(a, registry)
	var access *slog.Logger
	if s.accessLog != "" {
		if s.requests, err = g.accessLog(s.accessLog, os.Stdout); err != nil {
			return errors.Join(err, l.Close())
		}
		access = s.requests.Logger
		defer func() { err = errors.Join(err, s.requests.close()) }()
	}
	mounts, closeUI, err := s.frontEnd(own(a.repo.Name(), a.repo.Names()))
	if err != nil {
		return errors.Join(usage{err}, l.Close())
	}
	defer closeUI()
	h := a.handler(rest.Config{
		Mounts: mounts, FrontEnd: s.uiAddress(),
		Access: access, Metrics: registry, NoMetrics: s.metricsAddr != "",
		ContextPath: s.contextPath, Base: s.baseURL, Hosts: s.hosts, Origins: s.origins, JWTSecret: s.jwtSecret, Portal: s.portalSecret, DeckSources: s.deckSources,
		Limits: s.limits.rest, RateExempt: exempt, Proxies: proxies, Contact: s.contact, Ready: append(s.probes(), a.nodeChecks()...),
	})
	announce(out, g.where(), cmp.Or(s.baseURL, s.certificate.address(l.Addr().String())))
	if s.metricsAddr != "" {
		at, end, err := a.serveMetrics(ctx, s.metricsAddr, registry)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer end()
		fmt.Fprintf(out, "  metrics     http://%s/metrics\n", at)
	}
	return s.answer(ctx, a, h, l, started)
}

// listen opens the address of the server.
func (s *serve) listen(ctx context.Context) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: stop the program that uses it, or choose another address with --addr, for example --addr 127.0.0.1:8081 (make run ADDR=127.0.0.1:8081)", err)
	}
	if err != nil {
		return nil, usage{err}
	}
	return l, nil
}

// metrics are the metrics of the server, with those of its scrubber and of its scheduled backups.
func (s *serve) metrics(a *app) *prometheus.Registry {
	s.scrubber = maintenance.NewScrubber(a.repo, s.scrubEvery)
	registry := a.registry()
	registry.MustRegister(scrubFigures{s.scrubber}, replicaFigures{a, s.replica != ""})
	if s.backups.folder != "" {
		registry.MustRegister(s.backups.figure())
	}
	if s.sender = telemetry.New(&s.telemetry, a.log, registry); s.sender != nil {
		registry.MustRegister(s.sender)
	}
	return registry
}

// announce says what is served, and at which addresses.
func announce(out io.Writer, what, base string) {
	fmt.Fprintf(out, "catena %s serves %s on %s\n", version, what, base)
	fmt.Fprintf(out, "  console     %s/ui/\n  operations  %s/api/v1/automation\n  documents   %s/api/v1/path/\n  decks       %s/v1/decks\n  MCP         %s/mcp\n", base, base, base, base, base)
}

// networks parses the networks that no rate limit holds for, and those of proxies that are trusted.
func (s *serve) networks() (exempt, proxies []netip.Prefix, err error) {
	if exempt, err = egress.Networks(s.rateExempt); err == nil {
		proxies, err = egress.Networks(s.proxies)
	}
	return exempt, proxies, err
}

// answer calls started, answers requests until ctx ends, and then those under way.
func (s *serve) answer(ctx context.Context, a *app, h *rest.Handler, l net.Listener, started func()) (err error) {
	if err := s.tell(ctx, a, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	defer s.untell(ctx)
	manager := host.NewNotifier(os.Getenv)
	tell := func(state string) {
		if err := manager.Tell(state); err != nil {
			a.log.Error("telling the service manager", "state", state, "error", err)
		}
	}
	watch := task{"watchdog", func(ctx context.Context) error { return manager.Watch(ctx, a.engine.Ping) }}
	working, stop := context.WithCancel(ctx)
	defer stop()
	wait := a.background(working, append(s.tasks(a), watch))
	server := h.Server()
	failed := make(chan error, 1)
	go func() { failed <- s.certificate.serve(server, h.Listener(l)) }()
	started()
	tell("READY=1")
	select {
	case err = <-failed:
	case <-ctx.Done():
		tell("STOPPING=1")
		// ctx has ended: that is why we are here. Requests in progress still have their time.
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
		if err = server.Shutdown(drain); err != nil {
			err = errors.Join(err, server.Close()) // anyone who is not done now is cut off, and holds no transaction
		}
		cancel()
	}
	// Background work ends after the last request: requests wait for its jobs.
	stop()
	wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// open opens the data directory, makes up a first password for an empty one, and
// deploys the chains and scripts that lie in it.
func (s *serve) open(ctx context.Context, g *global, out io.Writer) (*app, error) {
	if err := errors.Join(s.check(), g.checkPlaces(), s.checkReplica(g)); err != nil {
		return nil, usage{err}
	}
	o := s.options()
	o.makePassword = true
	a, err := g.openWith(ctx, o)
	if err != nil {
		return nil, err
	}
	if a.password != "" {
		fmt.Fprintf(out, "first start: user Administrator, password %s (shown this once)\n", a.password)
	}
	// A server with one broken chain is more useful than none. The error is in the log, and /readyz says so.
	for _, f := range a.deployFiles(ctx) { // chains and scripts come and go: no reason not to start
		a.log.Error(f.what, "error", f.err)
	}
	return a, nil
}

// defect is something of the data directory that will not work.
type defect struct {
	what string
	err  error
}

// deployFiles deploys the files of the data directory, and returns what will not work.
func (a *app) deployFiles(ctx context.Context) (all []defect) {
	for _, f := range []defect{
		{"deploying files of the data directory", a.sync(ctx)},
		{"actions are not offered", a.actionStatus()},
		{"workflows will not run", a.workflowStatus(ctx)},
	} {
		if f.err != nil {
			all = append(all, f)
		}
	}
	return all
}

// public is the address in links that leave the server.
func (s *serve) public() string {
	return cmp.Or(s.baseURL, s.certificate.address(s.addr))
}

// task is work beside requests that goes on until its context ends.
type task struct {
	name string
	run  func(context.Context) error
}

// probes are what must hold besides what always must.
func (s *serve) probes() (out []rest.Check) {
	out = append(out, rest.Check{Name: "integrityStatus", Part: true, Says: true, Test: s.scrubber.Status})
	if s.backups.folder != "" {
		out = append(out, rest.Check{Name: "backupStatus", Part: true, Test: func(context.Context) error { return s.backups.status(time.Now()) }})
	}
	return out
}

// background starts what works beside requests; the function returned waits for its end.
func (a *app) background(ctx context.Context, more []task) (wait func()) {
	tasks := append(slices.Clip(more), a.alone(task{"sweep", a.sweep}), a.alone(task{"retention", a.expire}), task{"recording runs", a.recordRuns}, task{"watching files", a.watch}, task{"slow queries", a.noteSlow})
	tasks = append(tasks, a.nodeTasks()...)
	if a.location.Address != "" {
		tasks = append(tasks, task{"content", func(ctx context.Context) error { return a.answering.run(ctx, a.blobs.Ping) }})
	}
	for _, b := range a.branches {
		tasks = append(tasks, a.alone(task{"full text of " + b.repo.Name(), b.repo.RunText}), a.alone(task{"trash of " + b.repo.Name(), b.repo.RunTrash}), task{"jobs", func(ctx context.Context) error {
			return outbox.Run(ctx, b.repo, a.jobHandlers(b))
		}})
	}
	var running sync.WaitGroup
	for _, t := range tasks {
		running.Go(func() { t.keepRunning(ctx, a.log) })
	}
	return running.Wait
}

// A task that fails begins again after a pause, which becomes longer each time, unless it has run for longer than that.
const (
	shortestPause = time.Second
	longestPause  = time.Minute
)

// keepRunning runs the task until ctx ends, or the task ends without an error.
func (t task) keepRunning(ctx context.Context, log *slog.Logger) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		err := t.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestPause {
			pause = shortestPause
		}
		log.Error("background task failed", "task", t.name, "error", err, "again", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// attempt runs the task once. A panic is an error.
func (t task) attempt(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return t.run(ctx)
}

// watch deploys the texts of the data directory again when their files change.
func (a *app) watch(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	for _, sub := range []string{"actions", "chains", "directories", "hooks", "listeners", "mail", "modules", "providers", "schedules", "scripts", "templates", "types", "workflows"} {
		if err := w.Add(filepath.Join(a.dir, sub)); err != nil {
			return err
		}
	}
	settle := time.NewTimer(time.Hour)
	defer settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Events:
			settle.Reset(200 * time.Millisecond) // editors write in several steps
		case err := <-w.Errors:
			return err
		case <-settle.C:
			if err := a.sync(ctx); err != nil {
				a.log.Error("deploying changed files", "error", err)
			}
		}
	}
}

// uiAddress is where the platform's own front end is served; "" if it is not.
func (s *serve) uiAddress() string {
	if s.ui == "" {
		return ""
	}
	return s.contextPath + "/ui"
}

// own puts the first repository before the others.
func own(first string, names []string) []string {
	return append([]string{first}, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == first })...)
}

// checkUI tells what is wrong with the build of the front end and its place.
func (s *serve) checkUI() error {
	_, end, err := s.frontEnd([]string{"default"})
	if err == nil {
		end()
	}
	return err
}

// frontEnd opens the build of the front end, if one is to be served. What it returns is called once it no longer is.
func (s *serve) frontEnd(repositories []string) (mounts []rest.Mount, end func(), err error) {
	if s.ui == "" {
		return nil, func() {}, nil
	}
	if s.contextPath == "" {
		return nil, nil, fault.Invalid.Errorf("ui: requires a context path, because the console is at /ui")
	}
	b, err := frontend.Open(s.ui)
	if err != nil {
		return nil, nil, fault.Wrap(err, "ui")
	}
	h := b.Handler(s.contextPath, repositories)
	return []rest.Mount{{Path: s.uiAddress(), Handler: h, Open: true}, {Path: s.contextPath + "/repo", Handler: h, Open: true}}, func() { _ = b.Close() }, nil
}
