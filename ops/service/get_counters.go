package service

import (
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var getCounters = engine.Op{
	Name:     "Counters.GET",
	Label:    "Retrieve counters values",
	Category: "Services",
	Doc: "Returns, as JSON, the values of the server's counters since its start, sampled at each call: calls, failures and retries. " +
		"Each has its values, the differences between them, and the rate in events per second.",
	Effect:  engine.Pure,
	Callers: engine.Admins,
	Run:     engine.On(countersParams.run),
}

type countersParams struct {
	Names []string `json:"counterNames" doc:"Names of counters; an unknown counter has no values."`
}

// maxCounters bounds the names in a call.
const maxCounters = 1000

func (p countersParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	if len(p.Names) > maxCounters {
		return nil, fault.Limit.Errorf("counterNames: %d names, at most %d", len(p.Names), maxCounters).In("counterNames")
	}
	// Each call adds a sample, so a client that polls gets a series; the engine bounds how many are
	// kept.
	samples := c.Engine().Counters(c.Now)
	out := map[string]any{}
	for _, name := range p.Names {
		values, deltas, speed := []any{}, []any{}, []any{}
		for i, s := range samples {
			v, ok := s.Values[name]
			if !ok {
				continue
			}
			at := s.Time.UnixMilli()
			values = append(values, []any{at, v})
			if i == 0 {
				continue
			}
			delta := v - samples[i-1].Values[name]
			deltas = append(deltas, []any{at, delta})
			if took := s.Time.Sub(samples[i-1].Time); took > 0 {
				speed = append(speed, []any{at, float64(delta) / (float64(took) / float64(time.Second))})
			}
		}
		out[name] = map[string]any{"values": values, "deltas": deltas, "speed": speed}
	}
	return jsonFile("counters.json", out)
}
