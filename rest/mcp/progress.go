package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
	"catena/storage/fault"
)

const (
	waitParam = "wait_seconds"
	maxWait   = 50  // seconds; clients give up after a minute that nothing is heard in
	maxWaits  = 200 // calls that wait at once; more are answered without
	waitPause = 200 * time.Millisecond
	beat      = time.Second // between two notifications of a call that runs
)

// progress tells the caller of a tool how far it is: figures rise from call to call.
type progress func(done float64, message string)

type progressKey struct{}

// withProgress adds the caller's wish to hear about a call, if there is one, to its context.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	last := -1.0
	return context.WithValue(ctx, progressKey{}, progress(func(done float64, message string) {
		if done <= last {
			return
		}
		last = done
		// A caller who does not hear this one is told the result all the same.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Message: message})
	}))
}

// reporter returns how to tell the caller; it does nothing if the caller did not ask.
func reporter(ctx context.Context) progress {
	if f, ok := ctx.Value(progressKey{}).(progress); ok {
		return f
	}
	return func(float64, string) {}
}

// during runs f and tells the caller every now and then that it still runs.
func during(ctx context.Context, what string, f func() *result) *result {
	report, ok := ctx.Value(progressKey{}).(progress)
	if !ok {
		return f()
	}
	// The call returns only after the goroutine has ended (quiet): a notification after the result
	// would be written to a response that is complete.
	over, quiet := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quiet)
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for began := time.Now(); ; {
			select {
			case <-tick.C:
				report(time.Since(began).Seconds(), what)
			case <-over:
				return
			}
		}
	}()
	defer func() { close(over); <-quiet }()
	return f()
}

// waitSchema is the parameter of tools that can wait.
func waitSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "integer", Minimum: "0", Maximum: json.Number(fmt.Sprint(maxWait)), Default: 0,
		Description: fmt.Sprintf("Seconds to wait for the export to finish, 0 to %d. An export that has not finished by then is returned as pending.", maxWait),
	}
}

// waitOf takes the time to wait out of the arguments of a tool.
func waitOf(params map[string]any) (time.Duration, error) {
	v, ok := params[waitParam]
	delete(params, waitParam)
	if !ok {
		return 0, nil
	}
	n, ok := v.(int64)
	if !ok || n < 0 || n > maxWait {
		return 0, fault.Invalid.Errorf("%s: must be an integer between 0 and %d, not %v", waitParam, maxWait, v).WithCode(fault.CodeOutOfRange)
	}
	return time.Duration(n) * time.Second, nil
}

// await reads an export again until it has ended, and returns it as it is then.
func (c *Config) await(ctx context.Context, t *tool, res *engine.Result, base string, most time.Duration) (*engine.Result, error) {
	select {
	case c.waits <- struct{}{}:
		defer func() { <-c.waits }()
	default:
		return res, nil
	}
	report, began := reporter(ctx), time.Now()
	tick := time.NewTicker(waitPause)
	defer tick.Stop()
	for {
		data := exportOf(res)
		if data["status"] != "pending" || time.Since(began) >= most {
			return res, nil
		}
		stage := "waiting for its turn"
		if p, ok := data["progress"].(map[string]any); ok {
			stage = fmt.Sprint(p["stage"])
		}
		report(time.Since(began).Seconds(), fmt.Sprintf("export %v: %s", data["id"], stage))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fault.Unavailable.Errorf("the call was cancelled")
		case <-c.Done:
			return res, nil
		}
		var err error
		params := map[string]any{"deck_id": data["deck_id"], "id": data["id"], "base": base}
		if res, err = c.run(ctx, engine.Call{Op: "Deck.GetExport", Params: params, Encode: t.encode}); err != nil {
			return nil, err
		}
	}
}

// exportOf is the export that an operation returned.
func exportOf(res *engine.Result) map[string]any {
	m, _ := res.Value.(map[string]any)
	data, _ := m["data"].(map[string]any)
	return data
}
