package listener

import (
	"fmt"
	"regexp"
	"strconv"

	"catena/engine"
	"catena/engine/event"
	"catena/engine/library"
)

// firing are the kinds of text that may fire events.
var firing = []string{"chain", "hook", "listener", "module", "schedule", "script"}

// checkEvents looks at names that neither the server nor a deployed text fires. It refuses those that are like the server's events, and
// warns of others: Event.Fire fires events of any name, also when somebody calls it from elsewhere, so they may be right.
func (l *Listener) checkEvents(c *engine.Ctx) (problems []library.Problem, err error) {
	for i, name := range l.Events {
		at, ok := l.positions["events/"+strconv.Itoa(i)]
		if !ok {
			at = l.positions["events"]
		}
		if event.Known(name) {
			continue
		}
		fires, err := named(c, name)
		if err != nil {
			return nil, err
		}
		if fires {
			continue
		}
		p := library.Problem{File: l.Step.File, Line: at.Line, Column: at.Column}
		if wrong := event.Check(name); wrong != nil {
			p.Message = "events: " + wrong.Error()
		} else {
			p.Message, p.Warning = "events: neither the server nor a deployed text fires the event "+strconv.Quote(name)+"; calls of Event.Fire may", true
		}
		problems = append(problems, p)
	}
	return problems, nil
}

// named reports whether a deployed text that may fire events has a name as a word of its own.
func named(c *engine.Ctx, name string) (bool, error) {
	word := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(name) + `($|[^\w.])`)
	for _, noun := range firing {
		all, err := library.Deployed(c, noun)
		if err != nil {
			return false, err
		}
		for _, v := range all {
			text := v.Source
			if other, _ := Parse(v.File, []byte(v.Source)); noun == "listener" && other != nil {
				text = fmt.Sprint(other.Step.Params) // not the events that it listens to
			}
			if word.MatchString(text) {
				return true, nil
			}
		}
	}
	return false, nil
}
