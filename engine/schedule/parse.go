package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v3"

	"catena/engine/library"
	"catena/storage/fault"
)

// shortest is the shortest interval of a schedule.
const shortest = 10 * time.Second

// late is how much later than planned a run may begin without counting as missed.
const late = time.Minute

// Schedule is a schedule as written.
type Schedule struct {
	library.Task
	Input string // path of the document that is the input; "": none
	Skip  bool   // a run missed while the server was down is left out, not made up for once

	cron  cron.Schedule
	zone  *time.Location
	every time.Duration
	at    time.Time
}

// next is when a schedule runs for the first time after an instant; zero: not any longer. An interval counts from the last
// planned run, the zero time if there is none.
func (s *Schedule) next(planned, now time.Time) time.Time {
	switch {
	case s.Disabled:
		return time.Time{}
	case s.cron != nil:
		if planned.After(now) { // the clock was set back: a time that has been is none to come
			now = planned
		}
		return s.nextCron(now)
	case s.every > 0:
		if planned.IsZero() {
			return now.Add(s.every)
		}
		late := max(0, now.Sub(planned))
		return planned.Add(late - late%s.every + s.every)
	case planned.IsZero():
		return s.at
	}
	return time.Time{}
}

// everyHour marks the hours of a cron expression as *, in the library.
const everyHour = 1 << 63

// nextCron is the next time of a cron expression. Where clocks are put forward, the library leaves out a time of day that does
// not exist, and where they are put back it runs twice what exists twice. So a time of day is found on a clock that is never changed,
// and runs once a day: later if it does not exist, and the first time if it exists twice. What runs every hour goes by time elapsed.
func (s *Schedule) nextCron(from time.Time) time.Time {
	spec, ok := s.cron.(*cron.SpecSchedule)
	if !ok || spec.Hour&everyHour != 0 {
		return s.cron.Next(from.In(s.zone)).UTC()
	}
	wall := clockOf(from.In(s.zone))
	for {
		if wall = spec.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if at := instantOf(wall, s.zone); at.After(from) {
			return at.UTC()
		}
	}
}

// clockOf is what clocks show at an instant, as an instant in UTC.
func clockOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instantOf is the first instant at which clocks of a zone show a time; one that they never show counts by the offset of the day
// before, so that it is later by as much as clocks are put forward.
func instantOf(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	_, offset := at.Add(-24 * time.Hour).Zone()
	before := wall.Add(-time.Duration(offset) * time.Second).In(zone)
	if !clockOf(at).Equal(wall) || clockOf(before).Equal(wall) && before.Before(at) {
		return before
	}
	return at
}

// Parse reads a schedule from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Schedule, []library.Problem) {
	p := &library.Parser{File: file}
	root := p.Root(src, "schedule")
	if root == nil {
		return nil, p.Problems
	}
	s := &Schedule{zone: time.UTC}
	s.read(p, root)
	if len(p.Problems) > 0 {
		return nil, p.Problems
	}
	return s, nil
}

func (s *Schedule) read(p *library.Parser, root *yaml.Node) {
	seen := s.Read(p, root, "schedule", map[string]func(*yaml.Node){
		"input":    p.Text(&s.Input),
		"missed":   func(v *yaml.Node) { s.missed(p, v) },
		"cron":     func(v *yaml.Node) { s.readCron(p, v) },
		"timezone": func(v *yaml.Node) { s.readZone(p, v) },
		"every":    func(v *yaml.Node) { s.readEvery(p, v) },
		"at":       func(v *yaml.Node) { s.readAt(p, v) },
	})
	times := 0
	for _, key := range []string{"cron", "every", "at"} {
		if seen[key] {
			times++
		}
	}
	if times != 1 {
		p.At(root, "a schedule must have exactly one of cron, every and at")
	}
	if seen["timezone"] && !seen["cron"] {
		p.At(root, "timezone: only a schedule with cron has one")
	}
}

func (s *Schedule) missed(p *library.Parser, v *yaml.Node) {
	switch v.Value {
	case "once":
	case "skip":
		s.Skip = true
	default:
		p.At(v, "missed must be once or skip")
	}
}

func (s *Schedule) readCron(p *library.Parser, v *yaml.Node) {
	if strings.Contains(v.Value, "TZ=") || strings.HasPrefix(v.Value, "@every") {
		p.At(v, "cron: use timezone and every instead")
		return
	}
	var err error
	if s.cron, err = cron.ParseStandard(v.Value); err != nil {
		p.At(v, "cron: %v", err)
		return
	}
	if s.cron.Next(time.Now()).IsZero() {
		p.At(v, "cron: no day matches")
	}
}

func (s *Schedule) readZone(p *library.Parser, v *yaml.Node) {
	zone, err := time.LoadLocation(v.Value)
	if err != nil || v.Value == "" || v.Value == "Local" {
		p.At(v, "timezone: unknown time zone %q", v.Value)
		return
	}
	s.zone = zone
}

func (s *Schedule) readEvery(p *library.Parser, v *yaml.Node) {
	d, err := time.ParseDuration(v.Value)
	if err != nil || d < shortest {
		p.At(v, "every: must be a duration of at least %s, such as 15m", shortest)
		return
	}
	s.every = d
}

func (s *Schedule) readAt(p *library.Parser, v *yaml.Node) {
	at, err := time.Parse(time.RFC3339, v.Value)
	if err != nil {
		p.At(v, "at: must be an instant such as 2026-12-01T08:00:00Z")
		return
	}
	s.at = at.UTC()
}

// in is the type of the input.
func (s *Schedule) in() string {
	if s.Input != "" {
		return "document"
	}
	return "void"
}

// scheduleVariable is the variable that tells which schedule runs, and when it was to.
const scheduleVariable = "Schedule"

// errUnknown is the error of a schedule that is not deployed.
func errUnknown(name string) error { return fault.NotFound.Errorf("schedule %s", name) }
