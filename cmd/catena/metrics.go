package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"catena/cmd/catena/figures"
	"catena/cmd/catena/telemetry"
	"catena/ops/service"
	"catena/storage/credential"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/outbox"
	"catena/storage/search"
)

// meters are what /metrics shows of the store: counted as it happens.
type meters struct {
	transactions *prometheus.CounterVec
	seconds      *prometheus.HistogramVec
	repeated     prometheus.Counter

	reads, writes meter
}

// meter holds the series of one kind of transactions, found once: most end well.
type meter struct {
	kind    string
	ok      prometheus.Counter
	seconds prometheus.Observer
}

func (f *meters) of(kind string) meter {
	return meter{kind, f.transactions.WithLabelValues(kind, "ok"), f.seconds.WithLabelValues(kind)}
}

func newMeters() *meters {
	f := &meters{
		transactions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catena_transactions_total", Help: "Transactions by kind (read, write) and result: ok, the kind of error.",
		}, []string{"kind", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "catena_transaction_seconds", Help: "Time of a transaction with all its attempts.",
			Buckets: []float64{.00005, .0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 60},
		}, []string{"kind"}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "catena_transaction_repeats_total", Help: "Attempts of transactions beyond the first, made because others were faster.",
		}),
	}
	f.reads, f.writes = f.of("read"), f.of("write")
	return f
}

func (f *meters) observe(s kv.Stats) {
	m := &f.reads
	if s.Write {
		m = &f.writes
	}
	if s.Err == nil {
		m.ok.Inc()
	} else {
		f.transactions.WithLabelValues(m.kind, fault.Of(s.Err).String()).Inc()
	}
	m.seconds.Observe(s.Duration.Seconds())
	if s.Attempts > 1 {
		f.repeated.Add(float64(s.Attempts - 1))
	}
}

// registry holds everything that /metrics shows besides requests and the process.
func (a *app) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(a.meters.transactions, a.meters.seconds, a.meters.repeated, &sampler{a}, nodeFigures{a})
	return r
}

// sampler finds figures out when they are asked for.
type sampler struct{ *app }

var (
	descWritable = prometheus.NewDesc("catena_writable", "1 while writes are accepted, 0 while the disk is full or the store has failed.", nil, nil)
	descDiskFree = prometheus.NewDesc("catena_disk_free_bytes", "Room left on the disk of the data directory.", nil, nil)
	descDisk     = prometheus.NewDesc("catena_disk_bytes", "Size of the disk of the data directory.", nil, nil)
	descReclaim  = prometheus.NewDesc("catena_reclaimable_bytes", "Bytes of the store's files that are known to be unused; catena compact frees them.", nil, nil)
	descJobs     = prometheus.NewDesc("catena_jobs", "Jobs of the outbox by repository and state: waiting, running, dead. Counting stops at limit-rows.", []string{"repository", "state"}, nil)
	descLate     = prometheus.NewDesc("catena_jobs_late_seconds", "How long the job of the outbox that waits longest is due.", []string{"repository"}, nil)
	descWrong    = prometheus.NewDesc("catena_sign_in_failures_total", "Wrong passwords, of users, of clients of OAuth 2 and of links.", nil, nil)
	descRefused  = prometheus.NewDesc("catena_sign_in_refused_total", "Passwords that were not checked, because too many before were wrong.", nil, nil)
	descWorkers  = prometheus.NewDesc("catena_script_workers", "Processes of scripts by state: busy, idle, spare.", []string{"state"}, nil)
	descRuns     = prometheus.NewDesc("catena_runs_recorded_total", "Successful runs by what became of their records: written, dropped because too many waited, limited because their user made too many within a minute.", []string{"result"}, nil)
	descIndexes  = prometheus.NewDesc("catena_automatic_indexes", "Indexes that the server has declared by itself, by repository and state: building, complete, dropped.", []string{"repository", "state"}, nil)
	descCallers  = prometheus.NewDesc("catena_script_callers_waiting", "Callers that wait for a process of scripts.", nil, nil)
)

// Describe lists the figures.
func (s *sampler) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descWritable, descDiskFree, descDisk, descReclaim, descJobs, descLate, descWrong, descRefused, descWorkers, descCallers, descRuns, descIndexes} {
		to <- d
	}
}

// Collect finds them out. One that cannot be is an error of its own and hides no other.
func (s *sampler) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	writable := 0.0
	if s.repo.Writable(ctx) == nil {
		writable = 1
	}
	gauge(descWritable, writable)
	gauge(descReclaim, float64(s.db.Reclaimable()))
	switch space, err := disk.Of(s.dir); {
	case err == nil:
		gauge(descDiskFree, float64(space.Free))
		gauge(descDisk, float64(space.Whole))
	case !errors.Is(err, errors.ErrUnsupported):
		to <- prometheus.NewInvalidMetric(descDiskFree, err)
	}
	counts := s.engine.RunCounts()
	for result, n := range map[string]int64{"written": counts.Written, "dropped": counts.Dropped, "limited": counts.Beyond} {
		to <- prometheus.MustNewConstMetric(descRuns, prometheus.CounterValue, float64(n), result)
	}
	for _, b := range s.branches {
		for state, n := range search.AutomaticIndexes(b.repo) {
			gauge(descIndexes, float64(n), b.repo.Name(), state)
		}
		backlog, err := outbox.Count(ctx, b.repo)
		if err != nil {
			to <- prometheus.NewInvalidMetric(descJobs, err)
			continue
		}
		for _, state := range []string{outbox.Waits, outbox.Runs, outbox.GivenUp} {
			gauge(descJobs, float64(backlog.Jobs[state]), b.repo.Name(), state)
		}
		gauge(descLate, backlog.Late.Seconds(), b.repo.Name())
	}
	wrong, refused := credential.Attempts(s.repo)
	to <- prometheus.MustNewConstMetric(descWrong, prometheus.CounterValue, float64(wrong))
	to <- prometheus.MustNewConstMetric(descRefused, prometheus.CounterValue, float64(refused))
	w := s.scripts.Workers()
	gauge(descWorkers, float64(w.Busy), "busy")
	gauge(descWorkers, float64(w.Idle), "idle")
	gauge(descWorkers, float64(w.Spare), "spare")
	gauge(descCallers, float64(w.Waiting))
}

// scrubFigures are those of the content of files.
type scrubFigures struct{ *maintenance.Scrubber }

var (
	descDamaged   = prometheus.NewDesc("catena_content_damaged", "Contents of files that are known to be damaged or missing.", nil, nil)
	descScrubbed  = prometheus.NewDesc("catena_scrubbed_contents_total", "Contents of files that the scrubber has verified.", nil, nil)
	descScrubRead = prometheus.NewDesc("catena_scrubbed_bytes_total", "Bytes of content that the scrubber has read.", nil, nil)
	descScrubLast = prometheus.NewDesc("catena_scrub_timestamp_seconds", "When the scrubber had last read all content, in Unix time; 0: never.", nil, nil)
)

// Describe lists the figures.
func (s scrubFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descDamaged, descScrubbed, descScrubRead, descScrubLast} {
		to <- d
	}
}

// Collect reads them.
func (s scrubFigures) Collect(to chan<- prometheus.Metric) {
	f, last := s.Stats(), 0.0
	if !f.Last.IsZero() {
		last = float64(f.Last.Unix())
	}
	to <- prometheus.MustNewConstMetric(descDamaged, prometheus.GaugeValue, float64(f.Damaged))
	to <- prometheus.MustNewConstMetric(descScrubbed, prometheus.CounterValue, float64(f.Contents))
	to <- prometheus.MustNewConstMetric(descScrubRead, prometheus.CounterValue, float64(f.Bytes))
	to <- prometheus.MustNewConstMetric(descScrubLast, prometheus.GaugeValue, last)
}

// serveMetrics serves the figures at an address of their own until stop is called, which waits for their end.
func (a *app) serveMetrics(ctx context.Context, addr string, from prometheus.Gatherer) (at net.Addr, stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, usage{err}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("serving metrics", "error", err)
		}
	}()
	return l.Addr(), func() { _ = server.Close(); <-done }, nil
}

// tell begins to send traces and metrics to the collector of the operator, if there is one.
func (s *serve) tell(ctx context.Context, a *app, at net.Addr) error {
	if s.sender == nil {
		return nil
	}
	node, err := a.node(at)
	if err == nil {
		err = s.sender.Start(ctx, telemetry.Server{Version: version, Node: node})
	}
	if spans := s.sender.Spans(); spans != nil && err == nil {
		a.engine.SetSpans(spans)
	}
	return err
}

// untell sends what is left. The metrics are read once more, so what they describe must still be open.
func (s *serve) untell(ctx context.Context) {
	if s.sender != nil {
		s.sender.Close(ctx)
	}
}

// describe has operations tell administrators of this process.
func (s *serve) describe(a *app, registry *prometheus.Registry) {
	s.day = figures.New(registry)
	a.server = service.Server{Version: version, Started: time.Now().UTC(), Figures: s.day.Figures, Content: func() *service.Content {
		st := s.scrubber.Stats()
		return &service.Content{Verified: st.Contents, Bytes: st.Bytes, Damaged: st.Damaged, Last: st.Last, Every: s.scrubEvery.String()}
	}}
	if s.settings != nil {
		a.server.Settings = func() (out []service.Setting) {
			for _, one := range s.settings() {
				out = append(out, service.Setting(one))
			}
			return out
		}
	}
	if s.backups.folder != "" {
		s.backups.asked = make(chan wish, 1)
		s.backups.check = func(ctx context.Context, r io.Reader) error { return maintenance.CheckBackup(ctx, a.repo, r) }
		a.server.Backups, a.server.BackUp = s.backups.shown, s.backups.ask
	}
}
