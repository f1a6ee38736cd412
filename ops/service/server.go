package service

import (
	"context"
	"slices"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
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
	// BackUp begins a backup, or with a name the verification of one that exists, for somebody. It returns at once.
	BackUp func(by, name string) error
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
	Folder  string     `json:"folder"`
	Every   string     `json:"every"`
	Keep    int        `json:"keep"`
	Made    []Backup   `json:"made"`              // those that are kept, newest first
	Now     *BackupRun `json:"now,omitempty"`     // being made or verified at this moment
	Ended   *BackupRun `json:"ended,omitempty"`   // the last one that ended since the start of the server
	Failure string     `json:"failure,omitempty"` // why there is no backup as young as there should be
}

// Backup is a copy that is kept.
type Backup struct {
	Name     string    `json:"name"`
	Time     time.Time `json:"time"`
	Size     int64     `json:"size"`
	Verified time.Time `json:"verified,omitzero"` // when it was last read to its end and found whole, since the start of the server
	Problem  string    `json:"problem,omitempty"` // what the last verification found
}

// BackupRun is a copy that is being made, or verified.
type BackupRun struct {
	Name      string    `json:"name"`
	By        string    `json:"by,omitempty"` // who asked for it; "": the server by itself
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
	Bytes     int64     `json:"bytes"`     // written, or read by the verification
	Expected  int64     `json:"expected"`  // about how many there will be; 0: that is not known
	Verifying bool      `json:"verifying"` // it is written, and being read again
	Only      bool      `json:"only"`      // it was there: it is only being verified
	Failure   string    `json:"failure,omitempty"`
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
		{
			Name: "Server.BackUp", Label: "Back up now", Category: "Services",
			Doc: "Begins a backup into the folder or bucket of the setting backup-folder, or with a name the verification of a backup that is there. It goes on in the background; " +
				"Server.Status shows how far it is and how it ended, and the audit log has both.",
			Callers: engine.Admins.From(engine.Direct),
			Run: engine.On(func(p backUpParams, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
				return engine.Void{}, p.run(s, c)
			}),
		},
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

type backUpParams struct {
	Name string `json:"name,omitzero" doc:"Name of the backup to verify; without it, a backup is made."`
}

func (p backUpParams) run(s *Server, c *engine.Ctx) error {
	if s.BackUp == nil {
		return fault.Invalid.Errorf("backup-folder: is not set, so that there is no place for backups; set it and start the server again")
	}
	there := s.Backups(c.Context)
	if now := there.Now; now != nil {
		return fault.Conflict.Errorf("backup %s: is being made or verified since %s", now.Name, now.Began.Format(time.RFC3339))
	}
	if p.Name != "" && !slices.ContainsFunc(there.Made, func(b Backup) bool { return b.Name == p.Name }) {
		return fault.NotFound.Errorf("name: no backup %q in %s", p.Name, there.Folder).In("name")
	}
	event, extra := "backupRequested", map[string]any(nil)
	if p.Name != "" {
		event, extra = "backupVerificationRequested", map[string]any{"backup": p.Name}
	}
	if err := c.Tx.Fire(storage.Event{Name: event, Extra: extra}); err != nil {
		return err
	}
	by := c.As.Name
	c.After(func(context.Context) error { return s.BackUp(by, p.Name) })
	return nil
}

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
