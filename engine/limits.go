package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"catena/engine/template"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Limits bound one call; zero values take the defaults.
type Limits struct {
	Ops         int           `setting:"limit-call-operations" default:"10000" doc:"operations of one call"`
	Depth       int           `setting:"limit-call-depth" default:"32" doc:"levels of calls within calls"`
	Time        time.Duration `setting:"limit-call-time" default:"60s" doc:"time of one call; a request can set a shorter time"`
	Staleness   time.Duration `setting:"limit-staleness" default:"10s" doc:"age of what a replica shows to clients that accept it"`
	Steps       int           `setting:"limit-chain-steps" default:"1000" doc:"steps of one chain"`
	Replies     int           `setting:"limit-reply" unit:"bytes" default:"5 MiB" doc:"size of a response that is kept for an idempotency key"`
	TraceRuns   int           `setting:"limit-traces" default:"1000" doc:"traces kept"`
	TraceSteps  int           `setting:"limit-trace-steps" default:"2000" doc:"steps of one trace"`
	TraceMinute time.Duration `setting:"limit-trace-time" default:"10m" doc:"time that a trace is kept"`
	Failed      int           `setting:"limit-failed-runs" default:"1000" doc:"failed runs kept"`
	UserFailed  int           `setting:"limit-failed-runs-user" default:"200" doc:"failed runs of one user"`
	FailedRate  int           `setting:"limit-failed-runs-minute" default:"60" doc:"failed runs of one user that are kept per minute"`
	FailedSize  int           `setting:"limit-failed-runs-size" unit:"bytes" default:"16 KiB" doc:"size of the parameters, of the input, of the variables and of the trace that are kept of a failed run"`
	KeepFailed  time.Duration `setting:"limit-failed-runs-time" default:"168h" doc:"time that a failed run is kept"`
	Runs        int           `setting:"limit-runs" default:"10000" doc:"runs kept that succeeded"`
	UserRuns    int           `setting:"limit-runs-user" default:"5000" doc:"runs of one user kept that succeeded"`
	RunRate     int           `setting:"limit-runs-minute" default:"600" doc:"runs of one user that are recorded per minute"`
	RunSize     int           `setting:"limit-runs-size" unit:"bytes" default:"16 KiB" doc:"size of the parameters, of the input, of the variables and of the steps that are kept of a run"`
	KeepRuns    time.Duration `setting:"limit-runs-time" default:"168h" doc:"time that a run is kept"`
	UserWaiting int           `setting:"limit-runs-waiting-user" default:"1000" doc:"chains of one user that wait or work in batches at the same time"`
	RunQueue    int           `setting:"limit-runs-queue" default:"1000" doc:"runs that wait to be recorded; more are not recorded"`
	RunSample   int           `setting:"limit-runs-sample" default:"1" unlimited:"true" doc:"one of so many successful runs of chains, scripts, schedules and listeners, and of runs in the background, is recorded; negative means none"`
	CallSample  int           `setting:"limit-runs-sample-calls" default:"-1" unlimited:"true" doc:"one of so many other successful calls of operations is recorded; negative means none"`
	Template    template.Limits

	Computations ComputationLimits
}

// ComputationLimits bound the long computations of templates and expressions.
type ComputationLimits struct {
	Total   int           `setting:"limit-computations" default:"2 per processor" doc:"long evaluations of templates and expressions at the same time"`
	PerUser int           `setting:"limit-computations-user" default:"2" doc:"long evaluations of one user at the same time"`
	Queue   int           `setting:"limit-computations-queue" default:"64" doc:"callers that wait for a long evaluation to start"`
	Wait    time.Duration `setting:"limit-computations-queue-time" default:"2s" doc:"time that a caller waits for a long evaluation to start"`
}

// DefaultLimits are the bounds that hold where none is given.
var DefaultLimits = limit.Defaults[Limits]()

// deadline is a context that ends at an instant. A context of the standard library starts a timer when it is
// made; most calls end within a millisecond and never wait for anything. So a timer is started only when
// somebody asks for Done, and Err compares the clock until then.
type deadline struct {
	context.Context
	at  time.Time
	run *running
	mu  sync.Mutex
	// mu guards the fields below: a call is ended by the goroutine of another request.
	timed  context.Context //nolint:containedctx // made on first use
	cancel context.CancelFunc
	by     string // who ended it before its time; "": nobody
}

func (d *deadline) real() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
		// The call was ended before anybody waited: anyone who starts waiting now must not wait for the time
		// limit.
		if d.by != "" {
			d.cancel()
		}
	}
	return d.timed
}

// Deadline returns the earlier of the call's and the caller's end.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done returns a channel that is closed when the context ends.
func (d *deadline) Done() <-chan struct{} { return d.real().Done() }

// Err returns why the context ended, nil while it has not.
func (d *deadline) Err() error {
	d.mu.Lock()
	timed, by := d.timed, d.by
	d.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case by != "":
		return context.Canceled
	}
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.at) {
		return context.DeadlineExceeded
	}
	return nil
}

// breakOff ends it now.
func (d *deadline) breakOff(by string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == "" {
		d.by = by
	}
	if d.cancel != nil {
		d.cancel()
	}
}

// brokenOff returns who ended it before its time, "" if nobody did.
func (d *deadline) brokenOff() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by
}

// stop releases the timer, if one was needed.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel()
	}
}

// overdue names the limit if a call ended because its time was over.
// Only the call's own limit is reported as one. If the client's context has ended, or the limit of something
// inside the call, the error stays what it is.
func (d *deadline) overdue(err error, limit time.Duration) error {
	if err == nil || !errors.Is(err, context.DeadlineExceeded) || d.Context.Err() != nil || time.Now().Before(d.at) {
		return err
	}
	return fault.Limit.Errorf("time: the call took longer than %s", limit).WithCode(fault.CodeTransactionTimeout)
}
