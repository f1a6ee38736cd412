package rest

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// meters count and time requests by route.
type meters struct {
	requests    *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	connections prometheus.Gauge
	other       *meter // requests that reach no route
}

// meter holds the series of one route, made for its first request so that the others look nothing up.
type meter struct {
	method, path string

	made     sync.Once
	classes  [6]prometheus.Counter // by first digit of the status
	duration prometheus.Observer
}

func newMeters(reg *prometheus.Registry) *meters {
	m := &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catena_http_requests_total", Help: "Requests by method, route and status class.",
		}, []string{"method", "route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "catena_http_request_seconds", Help: "Time to respond to a request.",
			Buckets: []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"method", "route"}),
	}
	m.connections = prometheus.NewGauge(prometheus.GaugeOpts{Name: "catena_http_connections", Help: "Open connections."})
	reg.MustRegister(m.requests, m.duration, m.connections)
	// A registry that somebody else made may have these already.
	_ = reg.Register(collectors.NewGoCollector())
	_ = reg.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.other = &meter{path: "other"}
	return m
}

// make makes the series of a route, once.
func (m *meters) make(of *meter) {
	of.made.Do(func() {
		of.duration = m.duration.WithLabelValues(of.method, of.path)
		for i := range of.classes {
			of.classes[i] = m.requests.WithLabelValues(of.method, of.path, strconv.Itoa(i)+"xx")
		}
	})
}

// attach gives every row of a table its series.
func (m *meters) attach(prefix string, table []Route) []Route {
	for i := range table {
		table[i].meter = &meter{method: table[i].Method, path: prefix + table[i].Path}
	}
	return table
}

func (rt *Route) observe(m *meters, status int, d time.Duration) {
	series := m.other
	if rt != nil {
		series = rt.meter
	}
	m.make(series)
	if class := status / 100; class < len(series.classes) {
		series.classes[class].Inc()
	}
	series.duration.Observe(d.Seconds())
}
