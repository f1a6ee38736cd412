package listener

import (
	"errors"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// mayCare reports whether everything holds that can be told without evaluating the condition.
func (l *Listener) mayCare(tx *storage.Tx, e *storage.Event) bool {
	if l.wantsDoc() && (e.Doc == nil || !l.fits(e.Doc)) {
		return false
	}
	return l.fitsUser(tx.Principal())
}

// wantsDoc reports whether the listener is for events with a document only.
func (l *Listener) wantsDoc() bool {
	return len(l.Types) > 0 || len(l.States) > 0 || l.Facet != "" || l.Path != "" || l.Class != ""
}

func (l *Listener) fits(d *storage.Doc) bool {
	switch {
	case len(l.Types) > 0 && !slices.Contains(l.Types, d.Type().Name),
		l.Facet != "" && !d.HasFacet(l.Facet),
		len(l.States) > 0 && !slices.Contains(l.States, d.State()):
		return false
	case l.Path != "" && d.Path() != l.Path && !strings.HasPrefix(d.Path(), l.Path+"/"):
		return false
	}
	return d.InClass(l.Class)
}

func (l *Listener) fitsUser(p *storage.Principal) bool {
	if l.Admin && !p.Admin && !p.System {
		return false
	}
	return len(l.Groups) == 0 || slices.ContainsFunc(l.Groups, func(g string) bool { return slices.Contains(p.Groups, g) })
}

// run runs the listener in a transaction if its condition holds, which is asked for who acted: for the user
// it names, or for who acted.
func (ls *Listeners) run(tx *storage.Tx, l *Listener, d *storage.Doc, acted *storage.Principal, event map[string]any) error {
	as, err := l.principal(tx, acted)
	if err != nil {
		return l.failed(err)
	}
	return ls.engine.On(tx.Repo()).Within(tx, as, engine.Listener, "listener "+l.Name, func(c *engine.Ctx) error {
		var in any
		if d != nil {
			c.Input, in = d, d
		}
		c.SetVar(eventVariable, event)
		if l.Condition != "" {
			c.As = acted
			v, err := c.Eval(l.Condition)
			c.As = as
			if err != nil || v != true {
				if err != nil {
					c.Log.Warn("condition of a listener", "listener", l.Name, "error", err)
				}
				return nil
			}
		}
		plan, err := l.plan(c.Set())
		if err == nil {
			_, err = plan.Run(c, in)
		}
		if err != nil {
			return l.failed(err)
		}
		return nil
	})
}

// failed names the listener in an error; of a loop, only the one that went too far.
func (l *Listener) failed(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.CodeEventLoop && strings.HasPrefix(f.Message, "listener ") {
		return err
	}
	e := fault.Wrap(err, "listener %s", l.Name)
	if e.Code == fault.CodeEventLoop {
		e.Message = "listener " + l.Name + ": " + f.Message
	}
	return e
}

// principal is who the listener runs as.
func (l *Listener) principal(tx *storage.Tx, acted *storage.Principal) (*storage.Principal, error) {
	actor := acted.Name
	if acted.Actor != "" {
		actor = acted.Actor
	}
	if l.As == "" {
		return acted, nil
	}
	p, err := engine.RunsAs(tx, l.As)
	if err != nil {
		return nil, err
	}
	as := *p
	as.Actor = actor
	return &as, nil
}

// eventVar is the event as chains see it.
func eventVar(tx *storage.Tx, e *storage.Event) map[string]any {
	p := tx.Principal()
	user := p.Name
	if p.Actor != "" {
		user = p.Actor
	}
	changed := make([]any, len(e.Changed))
	for i, xpath := range e.Changed {
		changed[i] = xpath
	}
	v := map[string]any{
		"name": e.Name, "time": tx.Now(), "principal": user, "category": e.Category, "comment": e.Comment,
		"source": e.Source, "changed": changed, "properties": e.Extra,
	}
	if d := e.Doc; d != nil {
		v["docId"], v["docPath"], v["docType"], v["docTitle"] = d.ID(), d.Path(), d.Type().Name, d.Title()
	}
	return v
}
