package figures

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/ops/service"
)

// server are metrics as a server has them.
type server struct {
	seconds  *prometheus.HistogramVec
	requests *prometheus.CounterVec
	writes   *prometheus.CounterVec
	jobs     *prometheus.GaugeVec
	reg      *prometheus.Registry
}

func newServer() *server {
	s := &server{
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "catena_http_request_seconds"}, []string{"method", "route"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "catena_http_requests_total"}, []string{"method", "route", "status"}),
		writes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "catena_transactions_total"}, []string{"kind", "result"}),
		jobs:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "catena_jobs"}, []string{"repository", "state"}),
		reg:      prometheus.NewRegistry(),
	}
	s.reg.MustRegister(s.seconds, s.requests, s.writes, s.jobs)
	return s
}

func (s *server) answer(n int, status string, took float64) {
	for range n {
		s.seconds.WithLabelValues("GET", "/x").Observe(took)
		s.requests.WithLabelValues("GET", "/x", status).Inc()
	}
}

// TestFigures: an interval shows what happened within it alone, and levels as they are at its end.
func TestFigures(t *testing.T) {
	s := newServer()
	d := New(s.reg)
	start := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	s.answer(1000, "5xx", 9) // before the first sample: not the first interval's
	d.sample(start)
	s.answer(30, "2xx", .1)
	s.answer(10, "5xx", .3)
	s.writes.WithLabelValues("write", "ok").Add(20)
	s.writes.WithLabelValues("write", "conflict").Add(4)
	s.writes.WithLabelValues("read", "ok").Add(500)
	s.jobs.WithLabelValues("default", "waiting").Set(3)
	s.jobs.WithLabelValues("other", "waiting").Set(4)
	s.jobs.WithLabelValues("default", "dead").Set(100)
	d.sample(start.Add(20 * time.Second))
	d.sample(start.Add(30 * time.Second)) // nothing happened
	want := []service.Figure{
		{Time: start.Add(20 * time.Second), Requests: 2, Failed: .5, Response: 150, Writes: 1.2, Jobs: 7},
		{Time: start.Add(30 * time.Second), Jobs: 7},
	}
	if len(d.all) != len(want) {
		t.Fatalf("%d samples", len(d.all))
	}
	for i, got := range d.all {
		if math.Abs(got.Response-want[i].Response) > 1e-6 {
			t.Errorf("response %v, want %v", got.Response, want[i].Response)
		}
		got.Response = want[i].Response
		if got != want[i] {
			t.Errorf("got  %+v\nwant %+v", got, want[i])
		}
	}
}

// TestDay: a day is kept, by five minutes, and what is older is forgotten; a call shows what there is since the last sample.
func TestDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		d := New(s.reg)
		if got := d.Figures(); len(got) != 0 {
			t.Errorf("before the first sample: %+v", got)
		}
		began := time.Now()
		go func() { _ = d.Run(t.Context()) }()
		synctest.Wait()
		time.Sleep(time.Minute)
		if got := d.Figures(); len(got) != 1 || got[0].Time.Sub(began) != time.Minute {
			t.Errorf("after a minute: %+v", got)
		}
		time.Sleep(30 * time.Hour)
		got := d.Figures()
		if len(got) != kept+1 {
			t.Fatalf("%d figures", len(got))
		}
		if first := got[0].Time.Sub(began); first != 6*time.Hour+5*time.Minute {
			t.Errorf("the first is of %s after the start", first)
		}
		for i := range kept - 1 {
			if d := got[i+1].Time.Sub(got[i].Time); d != every {
				t.Errorf("%d: %s", i, d)
			}
		}
	})
}
