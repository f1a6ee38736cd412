// Package figures remembers how busy a server was during the last day, for the charts that administrators see: a sample of
// its metrics every five minutes, in memory. Who wants more has the metrics themselves read by Prometheus.
package figures

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"catena/ops/service"
)

const (
	every = 5 * time.Minute
	kept  = int(24 * time.Hour / every)
)

// Day are the figures of the last day.
type Day struct {
	metrics prometheus.Gatherer

	mu     sync.Mutex
	all    []service.Figure // oldest first, kept at most
	before totals           // when the newest was taken
}

// totals are sums since the start of the process, and levels, at an instant.
type totals struct {
	at                                time.Time
	requests, failed, seconds, writes float64
	jobs, memory, disk                float64
}

// New returns the figures of a server that has these metrics, none yet.
func New(metrics prometheus.Gatherer) *Day { return &Day{metrics: metrics} }

// Run takes samples until ctx ends.
func (d *Day) Run(ctx context.Context) error {
	d.sample(time.Now())
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-t.C:
			d.sample(now)
		}
	}
}

// sample adds the figures since the last sample. The first one only says where sums begin.
func (d *Day) sample(now time.Time) {
	read := d.read(now)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.before.at.IsZero() {
		d.all = append(d.all, since(d.before, read))
		d.all = d.all[max(0, len(d.all)-kept):]
	}
	d.before = read
}

// Figures returns the samples, oldest first, and what there is since the last one.
func (d *Day) Figures() []service.Figure {
	read := d.read(time.Now())
	d.mu.Lock()
	defer d.mu.Unlock()
	out := append([]service.Figure{}, d.all...)
	if !d.before.at.IsZero() && read.at.After(d.before.at) {
		out = append(out, since(d.before, read))
	}
	return out
}

// since are the figures between two instants.
func since(before, now totals) service.Figure {
	took := now.at.Sub(before.at).Seconds()
	f := service.Figure{Time: now.at.UTC(), Jobs: now.jobs, Memory: now.memory, Disk: now.disk}
	if took > 0 {
		f.Requests, f.Failed, f.Writes = (now.requests-before.requests)/took, (now.failed-before.failed)/took, (now.writes-before.writes)/took
	}
	if n := now.requests - before.requests; n > 0 {
		f.Response = (now.seconds - before.seconds) / n * 1000
	}
	return f
}

// read adds the metrics up. One that cannot be determined counts as 0 and hides no other.
func (d *Day) read(now time.Time) totals {
	out := totals{at: now}
	families, _ := d.metrics.Gather() // what could be read is there besides an error
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "catena_http_request_seconds":
				out.requests += float64(m.GetHistogram().GetSampleCount())
				out.seconds += m.GetHistogram().GetSampleSum()
			case "catena_http_requests_total":
				if strings.HasPrefix(label(m, "status"), "5") {
					out.failed += m.GetCounter().GetValue()
				}
			case "catena_transactions_total":
				if label(m, "kind") == "write" {
					out.writes += m.GetCounter().GetValue()
				}
			case "catena_jobs":
				if label(m, "state") == "waiting" {
					out.jobs += m.GetGauge().GetValue()
				}
			case "process_resident_memory_bytes":
				out.memory = m.GetGauge().GetValue()
			case "catena_disk_free_bytes":
				out.disk = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
