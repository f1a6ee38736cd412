package schedule_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDaylightSaving runs schedules over the days on which clocks are put forward and back, in zones that do so by an hour and by
// half an hour: a time of day is run once on each day, also where it does not exist or exists twice, and what is run every hour or
// quarter goes on by time elapsed.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		name, cron, zone, from string
		want                   []string
	}{
		{"forward", "30 2 * * *", "Europe/Paris", "2026-03-28T00:00:00Z", []string{"03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"}},
		{"back", "30 2 * * *", "Europe/Paris", "2026-10-24T00:00:00Z", []string{"10-24T00:30Z", "10-25T00:30Z", "10-26T01:30Z"}},
		{"forward, behind the gap", "30 4 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"03-29T02:30Z", "03-30T02:30Z"}},
		{"back, behind the hour that is twice", "30 3 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", []string{"10-25T02:30Z", "10-26T02:30Z"}},
		{"both in the gap and behind it", "30 2,3 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"03-29T01:30Z", "03-30T00:30Z", "03-30T01:30Z"}},
		{"saved in the second hour", "30 2 * * *", "Europe/Paris", "2026-10-25T01:10:00Z", []string{"10-26T01:30Z"}},
		{"half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"10-03T15:45Z", "10-04T15:15Z"}},
		{"half an hour back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"04-04T14:45Z", "04-05T15:15Z"}},
		{"at midnight", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", []string{"09-06T04:00Z", "09-07T03:00Z"}},
		{"every hour forward", "0 * * * *", "Europe/Paris", "2026-03-29T00:00:00Z", []string{"03-29T01:00Z", "03-29T02:00Z"}},
		{"every hour back", "0 * * * *", "Europe/Paris", "2026-10-25T00:00:00Z", []string{"10-25T01:00Z", "10-25T02:00Z"}},
		{"every half hour back", "*/30 * * * *", "Europe/Paris", "2026-10-25T00:15:00Z", []string{"10-25T00:30Z", "10-25T01:00Z", "10-25T01:30Z"}},
		{"UTC", "30 2 * * *", "UTC", "2026-03-28T12:00:00Z", []string{"03-29T02:30Z", "03-30T02:30Z"}},
	} {
		w := newWorld(t)
		from, err := time.Parse(time.RFC3339, c.from)
		w.must(err)
		w.clock.Store(from.UnixMilli())
		w.save(create + "cron: '" + c.cron + "'\ntimezone: " + c.zone + "\n")
		var got []string
		for i := range c.want {
			got = append(got, w.status().Next.UTC().Format("01-02T15:04Z"))
			w.pass(w.status().Next.Sub(w.now()))
			if n := w.made(); n != i+1 {
				t.Errorf("%s: made %d at %s, want %d", c.name, n, got[i], i+1)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestClockChanged sets the clock of the server back and forward: no run is made twice, and one that was passed over is made up for
// once or left out, as the schedule says.
func TestClockChanged(t *testing.T) {
	for _, when := range []string{"cron: '0 13 * * *'", "every: 1h", "cron: '0 * * * *'"} {
		w := newWorld(t) // at noon
		w.save(create + when + "\n")
		w.pass(time.Hour)
		for range 3 { // the hour comes again
			w.clock.Add(-time.Hour.Milliseconds())
			w.pass(0)
			w.start()
			w.pass(time.Hour)
		}
		if n := w.made(); n != 1 {
			t.Errorf("%s, set back: made %d, want 1", when, n)
		}
		if next := w.status().Next; !next.After(w.now()) {
			t.Errorf("%s, set back: next %s, now %s", when, next, w.now())
		}
		for missed, want := range map[string]int{"once": 2, "skip": 1} {
			w := newWorld(t)
			w.save(create + when + "\nmissed: " + missed + "\n")
			w.pass(time.Hour)
			w.clock.Add((72*time.Hour + 30*time.Minute).Milliseconds())
			w.pass(0)
			if n := w.made(); n != want {
				t.Errorf("%s, set forward, %s: made %d, want %d", when, missed, n, want)
			}
			if jobs := w.jobs(); len(jobs) != 1 || !strings.Contains(string(jobs[0].Data), "T.Make") {
				t.Errorf("%s, set forward, %s: jobs %+v", when, missed, jobs)
			}
		}
	}
}

// TestClockBackWhileDue: the clock is set back between the look for what is due and the plan of the next run.
func TestClockBackWhileDue(t *testing.T) {
	w := newWorld(t)
	w.save(create + "cron: '0 13 * * *'\n")
	due := w.jobs()
	w.clock.Add(time.Hour.Milliseconds() - time.Minute.Milliseconds()) // a minute early, as a clock is that was set back since
	handlers := w.schedules.Jobs()
	for _, j := range due {
		w.must(handlers[j.Kind].Do(t.Context(), j.Job))
	}
	if got := w.status().Next.UTC().Format(time.RFC3339); got != "2026-03-29T13:00:00Z" {
		t.Errorf("next %s: the run that was asked for is planned again", got)
	}
}
