package rest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
)

// TestReadiness: without a part the server is degraded and gets traffic, without what all
// work needs it gets none.
func TestReadiness(t *testing.T) {
	var disk, workers error
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) {
		c.Ready = []rest.Check{
			{Name: "storageStatus", Test: func(context.Context) error { return disk }},
			{Name: "scriptStatus", Test: func(context.Context) error { return workers }, Part: true},
		}
	}})
	for _, c := range []struct {
		disk, workers   error
		ready, running  int
		storage, script string
	}{
		{nil, nil, 200, 200, "ok", "ok"},
		{nil, errors.New("no process"), 200, 200, "ok", "degraded"},
		{errors.New("disk full"), nil, 503, 500, "failed", "ok"},
	} {
		disk, workers = c.disk, c.workers
		for path, status := range map[string]int{"/readyz": c.ready, "/nuxeo/runningstatus": c.running, "/healthz": 200} {
			got := s.Do("GET", path, "")
			if got.StatusCode != status {
				t.Errorf("%s with %v, %v: status %d, want %d", path, c.disk, c.workers, got.StatusCode, status)
			}
			for name, state := range map[string]string{"storageStatus": c.storage, "scriptStatus": c.script} {
				if path != "/healthz" && !strings.Contains(got.Text, `"`+name+`":"`+state+`"`) {
					t.Errorf("%s with %v, %v: %s is not %s in %s", path, c.disk, c.workers, name, state, got.Text)
				}
			}
		}
	}
}
