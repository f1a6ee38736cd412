package service

import (
	"context"
	"time"

	"catena/engine"
	"catena/storage/cluster"
)

// Server is what operations tell administrators of the process that serves. It is filled in before the first call; what is
// nil is not known, as where a program works on the data directory and none serves it.
type Server struct {
	Version  string
	Started  time.Time
	Settings func() []Setting
	Figures  func() []Figure
	Content  func() *Content
	Backups  func(ctx context.Context) *Backups
}

// Setting is a setting that is in effect.
type Setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`
	Unit    string `json:"unit"` // bytes, duration, number, text, list, switch
	Default any    `json:"default"`
	From    string `json:"from"` // default, flag, a variable, or a file and its line
	Doc     string `json:"doc"`
}

// Figure is how busy the server was in an interval that ends at Time.
type Figure struct {
	Time     time.Time `json:"time"`
	Requests float64   `json:"requests"` // a second
	Failed   float64   `json:"failed"`   // of them, a second: the server's fault, status 5xx
	Response float64   `json:"response"` // mean time of a response in milliseconds
	Writes   float64   `json:"writes"`   // transactions that write, a second
	Jobs     float64   `json:"jobs"`     // that waited at Time
	Memory   float64   `json:"memory"`   // bytes of the process at Time
	Disk     float64   `json:"disk"`     // bytes that were free at Time
}

// Content is what the verification of stored files has found.
type Content struct {
	Verified int64     `json:"verified"` // contents since the start of the server
	Bytes    int64     `json:"bytes"`
	Damaged  int       `json:"damaged"`       // contents that are known to be damaged or missing
	Last     time.Time `json:"last,omitzero"` // when all content had last been read
	Every    string    `json:"every"`         // interval in which all is read once
}

// Backups are the copies that the server makes of itself.
type Backups struct {
	Folder  string      `json:"folder"`
	Every   string      `json:"every"`
	Keep    int         `json:"keep"`
	Made    []time.Time `json:"made"` // of those that are kept, newest first
	Failure string      `json:"failure,omitempty"`
}

// Status is the state of a server.
type Status struct {
	Version string         `json:"version,omitempty"`
	Started time.Time      `json:"started,omitzero"`
	Nodes   []cluster.Node `json:"nodes"`
	Content *Content       `json:"content,omitempty"`
	Backups *Backups       `json:"backups,omitempty"` // none: no backups are made
}

// serverOps are the operations on the process, for administrators.
func serverOps(s *Server) []engine.Op {
	op := func(verb, label, doc string, run engine.Func) engine.Op {
		return engine.Op{Name: "Server." + verb, Label: label, Category: "Services", Doc: doc, Effect: engine.Reads, Callers: engine.Admins.From(engine.Direct), Run: run}
	}
	return []engine.Op{
		op("Figures", "Figures of the last day",
			"Returns how busy the server was during the last day: requests, errors, response times, writes, waiting jobs, memory and disk, by intervals of five minutes, oldest first. They begin with the process.",
			engine.On(func(_ noParams, _ *engine.Ctx, _ engine.Void) ([]Figure, error) {
				if s.Figures == nil {
					return []Figure{}, nil
				}
				return s.Figures(), nil
			})),
		op("Settings", "Settings in effect", "Returns the settings of the server with their values, defaults and where each value comes from. Secrets are replaced with ***.",
			engine.On(func(_ noParams, _ *engine.Ctx, _ engine.Void) ([]Setting, error) {
				if s.Settings == nil {
					return []Setting{}, nil
				}
				return s.Settings(), nil
			})),
		op("Status", "State of the server", "Returns the version of the server, the nodes that serve the store, what the verification of stored files has found, and the backups that exist.",
			engine.On(func(_ noParams, c *engine.Ctx, _ engine.Void) (Status, error) { return s.status(c) })),
	}
}

type noParams struct{}

func (s *Server) status(c *engine.Ctx) (Status, error) {
	out := Status{Version: s.Version, Started: s.Started}
	var err error
	if out.Nodes, err = cluster.List(c.Tx); err != nil {
		return Status{}, err
	}
	if out.Nodes == nil {
		out.Nodes = []cluster.Node{}
	}
	if s.Content != nil {
		out.Content = s.Content()
	}
	if s.Backups != nil {
		out.Backups = s.Backups(c.Context)
	}
	return out, nil
}
