package listener

import (
	"strconv"

	"catena/engine"
	"catena/engine/library"
)

// checkEvents looks at the names of events that the listener listens to.
func (l *Listener) checkEvents(c *engine.Ctx, source string) (problems []library.Problem, err error) {
	wrong, err := library.CheckEvents(c, "listener", library.Version{Name: l.Name, Source: source}, l.Events)
	for i, name := range l.Events {
		p, ok := wrong[name]
		if !ok {
			continue
		}
		at, ok := l.positions["events/"+strconv.Itoa(i)]
		if !ok {
			at = l.positions["events"]
		}
		p.File, p.Line, p.Column, p.Message = l.Step.File, at.Line, at.Column, "events: "+p.Message
		problems = append(problems, p)
	}
	return problems, err
}
