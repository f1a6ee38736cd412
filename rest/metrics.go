package rest

import (
	"strconv"
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

// meter holds the series of one route, found once so that a request looks nothing up.
type meter struct {
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
	m.other = m.series("", "other")
	return m
}

func (m *meters) series(method, path string) *meter {
	out := &meter{duration: m.duration.WithLabelValues(method, path)}
	for i := range out.classes {
		out.classes[i] = m.requests.WithLabelValues(method, path, strconv.Itoa(i)+"xx")
	}
	return out
}

// attach gives every row of a table its series.
func (m *meters) attach(prefix string, table []Route) []Route {
	for i := range table {
		table[i].meter = m.series(table[i].Method, prefix+table[i].Path)
	}
	return table
}

func (rt *Route) observe(m *meters, status int, d time.Duration) {
	series := m.other
	if rt != nil {
		series = rt.meter
	}
	if class := status / 100; class < len(series.classes) {
		series.classes[class].Inc()
	}
	series.duration.Observe(d.Seconds())
}
