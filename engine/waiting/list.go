package waiting

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// runsParams choose runs in any state.
type runsParams struct {
	State     string    `json:"state,omitzero" doc:"Only runs in this state." enum:"running,waiting,done,failed,stopped"`
	Operation string    `json:"operation,omitzero" doc:"Only runs of this operation or chain."`
	User      string    `json:"user,omitzero" doc:"Only runs of this user."`
	Since     time.Time `json:"since,omitzero" doc:"Only runs that began then or later."`
	Until     time.Time `json:"until,omitzero" doc:"Only runs that began before."`
	Before    string    `json:"before,omitzero" doc:"Only runs older than the one of this id, as the page before ended with."`
	Limit     int       `json:"limit" default:"50" min:"1" max:"1000" doc:"How many runs that have ended are returned."`
}

// runList is a page of runs.
type runList struct {
	Entries []engine.ShownRun `json:"entries"`
	Before  string            `json:"before,omitempty"` // what the next page is before; "": there is none
}

// active is how many of the runs that have not ended a page shows.
// They are shown on the first page only, in front of the runs that have ended, and do not count to its limit.
const active = 200

func (p runsParams) run(c *engine.Ctx, _ engine.Void) (runList, error) {
	out := runList{Entries: []engine.ShownRun{}}
	if p.Limit < 1 || p.Limit > 1000 {
		return out, fault.Invalid.Errorf("limit: %d is not between 1 and 1000", p.Limit).In("limit")
	}
	if p.Before == "" {
		if err := p.unended(c, &out); err != nil {
			return out, err
		}
	}
	if p.State == engine.RunRuns || p.State == engine.RunWaits {
		return out, nil
	}
	ended, more, err := c.EndedRuns(engine.EndedFilter{
		State: p.State, Op: p.Operation, User: p.User, Since: p.Since, Until: p.Until, Before: p.Before, Limit: p.Limit,
	})
	if err != nil {
		return out, err
	}
	for i := range ended {
		// Its call has ended, but the chain that it began waits: it is on the first page, as a chain that waits.
		if waits, err := waitsStill(c, &ended[i]); err != nil || waits {
			if err != nil {
				return out, err
			}
			continue
		}
		out.Entries = append(out.Entries, engine.ShowRun(&ended[i]))
	}
	if more {
		out.Before = ended[len(ended)-1].ID
	}
	return out, nil
}

// unended adds the runs that have not ended.
func (p *runsParams) unended(c *engine.Ctx, out *runList) error {
	if p.State == "" || p.State == engine.RunRuns {
		elsewhere, err := c.Elsewhere()
		if err != nil {
			return err
		}
		for _, l := range slices.Backward(engine.InOrder(c.Engine().Running(c.As), elsewhere)) {
			if l.ID != c.RunID() {
				out.add(l.Shown(), p)
			}
		}
	}
	if p.State == "" || p.State == engine.RunWaits {
		return p.waiting(c, out)
	}
	return nil
}

// add adds a run that has not ended if it is one of those asked for.
func (l *runList) add(r engine.ShownRun, p *runsParams) {
	if len(l.Entries) < active && (p.Operation == "" || p.Operation == r.Op) && (p.User == "" || p.User == r.User) && !r.Start.Before(p.Since) && (p.Until.IsZero() || r.Start.Before(p.Until)) {
		l.Entries = append(l.Entries, r)
	}
}

func (p *runsParams) waiting(c *engine.Ctx, out *runList) error {
	var all []engine.ShownRun
	err := eachWaiting(c, func(w *row) bool {
		all = append(all, w.shown(c))
		return true
	})
	slices.SortFunc(all, func(a, b engine.ShownRun) int { return b.Start.Compare(a.Start) })
	for _, r := range all {
		out.add(r, p)
	}
	return err
}

// waitsStill reports whether the chain of a run that has ended waits under its id.
func waitsStill(c *engine.Ctx, r *engine.EndedRun) (bool, error) {
	if r.Version == 0 || r.State() != engine.RunDone {
		return false, nil
	}
	w := row{Run: r.ID, Owned: r.Owned}
	return c.Tx.As(c.Tx.Repo().System()).Table(table).Get(w.key(), &row{})
}

// shown is a chain that waits as lists of runs show it.
func (w *row) shown(c *engine.Ctx) engine.ShownRun {
	s := w.status()
	return engine.ShownRun{
		ID: s.ID, State: engine.RunWaits, Op: s.Chain, Version: w.Version, User: s.User, Repository: c.Tx.Repo().Name(), Start: s.Began, Duration: c.Now.Sub(s.Began),
		For: s.For, Event: s.Event, Until: s.Until, Line: s.Line, Error: s.Failure,
	}
}

// ended is a chain that does not go on as lists of runs are to keep it.
func (w *row) ended(c *engine.Ctx) *engine.EndedRun {
	return &engine.EndedRun{
		ID: w.Run, Owned: w.Owned, Repository: c.Tx.Repo().Name(), Op: w.Chain, Version: w.Version, EntryPoint: engine.Listener.String(),
		Start: w.Began, Duration: c.Now.Sub(w.Began),
	}
}

// eachWaiting calls f with the chains that wait and that are for the caller to see, until it returns false.
func eachWaiting(c *engine.Ctx, f func(w *row) bool) error {
	from, to := "", ""
	if !c.As.Admin {
		// The rows of a user lie between the name with a slash and the name with the character after the slash.
		from = url.PathEscape(c.As.Name)
		from, to = from+"/", from+"0"
	}
	for w, err := range storage.Records[row](c.Tx.As(c.Tx.Repo().System()).Table(table), from, to, 0) {
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			return err
		}
		if (c.As.Admin || w.Is(c.As)) && !f(&w) {
			return nil
		}
	}
	return nil
}

// withParts is a run that has ended, with the runs with which its chain went on; a chain that waits is shown as one.
func (w *row) withParts(c *engine.Ctx, run *engine.EndedRun, d *engine.EndedDetails) (out engine.ShownRun, err error) {
	out = engine.ShowDetails(run, d)
	if w != nil {
		details := out.ShownDetails
		out = w.shown(c)
		out.ShownDetails = details
	}
	out.Parts, err = c.RunParts(run.ID)
	return out, err
}

// get returns a run in any state.
func (p runParams) get(c *engine.Ctx) (engine.ShownRun, error) {
	if l, err := c.Engine().RunningCall(c.As, p.ID); err == nil {
		return l.Shown(), nil
	}
	var w *row
	if found, _, err := p.find(c); err == nil && !strings.Contains(p.ID, "/") {
		w = found
	}
	began := p.ID
	run, d, err := c.EndedRun(began)
	if part, _, found := strings.Cut(p.ID, "."); found && fault.Is(err, fault.NotFound) {
		began = part
		run, d, err = c.EndedRun(began)
	}
	if err == nil && (w == nil || w.Run == began) {
		return w.withParts(c, &run, &d)
	}
	if w != nil {
		return w.shown(c), nil
	}
	elsewhere, failed := c.Elsewhere()
	if l := engine.FindLive(elsewhere, p.ID); l != nil {
		return l.Shown(), nil
	}
	return engine.ShownRun{}, cmp.Or(failed, err)
}
