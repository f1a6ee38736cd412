package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// schemaParams adds what is to be fetched of a schema.
func schemaParams(x *rest.Request) (rest.Values, error) {
	out, err := rest.Placed(x)
	if err != nil {
		return nil, err
	}
	if fetch := x.Options().Fetch["schema"]; len(fetch) > 0 {
		out["fetch"] = fetch
	}
	return out, nil
}

// capabilities says what the server can do.
func capabilities(x *rest.Request) error {
	repositories := rest.Values{}
	for _, name := range x.Engine.Repo().Names() {
		repositories[name] = rest.Values{"queryBlobKeys": true}
	}
	return x.JSON(http.StatusOK, map[string]any{
		"entity-type": "capabilities",
		"server": rest.Values{
			"distributionName": "catena", "distributionVersion": x.Server.Version, "distributionServer": "catena-" + x.Server.Version,
			"programVersion": cmp.Or(x.Server.Program, "dev"),
		},
		"cluster":    rest.Values{"enabled": false, "nodeId": "1"},
		"repository": repositories,
	})
}

// repositoryInfo describes the repositories to clients that ask for the version there.
func repositoryInfo(x *rest.Request) error {
	all := rest.Values{}
	for _, name := range x.Engine.Repo().Names() {
		root, err := rootID(x, name)
		if err != nil {
			return err
		}
		address := x.Base() + "/api/v1/repo/" + url.PathEscape(name)
		all[name] = rest.Values{
			"repositoryId": name, "repositoryName": name, "repositoryDescription": "Repository " + name,
			"vendorName": "catena", "productName": "catena", "productVersion": x.Server.Version,
			"rootFolderId": root, "rootFolderUrl": address + "/id/" + root,
			"repositoryUrl": address + "/path/", "cmisVersionSupported": "1.1",
		}
	}
	return x.JSON(http.StatusOK, all)
}

// rootID finds the id of a repository's root document, also for callers who may not read it: clients ask for the version
// first, whatever they may read.
func rootID(x *rest.Request, repository string) (string, error) {
	e := x.Engine.Named(repository)
	res, err := e.Run(x.HTTP.Context(), engine.Call{
		Op: "Repository.GetDocument", Params: rest.Values{"value": "/"}, As: e.System(), EntryPoint: engine.Server, RequestID: x.ID,
	})
	if err != nil {
		return "", err
	}
	d, ok := res.Value.(interface{ ID() string })
	if !ok {
		return "", fault.Internal.Errorf("document /: is not a document")
	}
	return d.ID(), nil
}

// probeTime bounds one probe.
const probeTime = 3 * time.Second

// probe returns why something the server needs does not work.
func probe(x *rest.Request, c rest.Check) error {
	ctx, cancel := context.WithTimeout(x.HTTP.Context(), probeTime)
	defer cancel()
	err := c.Test(ctx)
	if err != nil {
		x.Report(http.StatusServiceUnavailable, "probe "+c.Name, err)
	}
	return err
}

// checks are what must hold: the store opens a transaction, and what the configuration adds.
func checks(s *rest.Handler) []rest.Check {
	return append([]rest.Check{{Name: "repositoryStatus", Test: s.Engine.Ping}}, s.Ready...)
}

// securityTxt says to whom a weakness is reported (RFC 9116).
func securityTxt(x *rest.Request) error {
	if x.Server.Contact == "" {
		return fault.NotFound.Errorf("address %s", x.HTTP.URL.Path)
	}
	expires := time.Now().UTC().AddDate(0, 6, 0).Truncate(24 * time.Hour)
	return x.Text(http.StatusOK, "Contact: "+x.Server.Contact+"\nExpires: "+expires.Format(time.RFC3339)+"\n")
}

// runningStatus is the health page of the platform.
func runningStatus(x *rest.Request) error {
	q := x.Query()
	switch q.Get("info") {
	case "started":
		return x.JSON(http.StatusOK, true)
	case "probe":
		for _, c := range checks(x.Server) {
			if c.Name == q.Get("key") {
				return health(x, []rest.Check{c}, http.StatusInternalServerError)
			}
		}
		return fault.NotFound.Errorf("probe %s", q.Get("key"))
	}
	alive := rest.Check{Name: "runtimeStatus", Test: func(context.Context) error { return nil }}
	return health(x, append([]rest.Check{alive}, checks(x.Server)...), http.StatusInternalServerError)
}

// health answers with the state of every check, and with status bad if one fails.
func health(x *rest.Request, checks []rest.Check, bad int) error {
	status, states := http.StatusOK, map[string]string{}
	for _, c := range checks {
		states[c.Name] = "ok"
		err := probe(x, c)
		switch {
		case err == nil:
			continue
		case c.Part:
			states[c.Name] = "degraded"
		default:
			status, states[c.Name] = bad, "failed"
		}
		if c.Says {
			states[c.Name] += ": " + err.Error()
		}
	}
	return x.JSON(status, states)
}

// alive answers as long as the process does.
func alive(x *rest.Request) error { return x.Text(http.StatusOK, "ok\n") }

// ready answers whether the server should get traffic.
func ready(x *rest.Request) error { return health(x, checks(x.Server), http.StatusServiceUnavailable) }

// metrics returns the server's metrics to administrators. One that cannot be determined hides no other.
func metrics(x *rest.Request) error {
	switch {
	case x.Server.NoMetrics:
		return fault.NotFound.Errorf("address %s", x.HTTP.URL.Path)
	case !x.As.Admin:
		return fault.Denied.Errorf("metrics: only administrators may read them")
	}
	w := &rest.StatusWriter{ResponseWriter: x.Writer}
	promhttp.HandlerFor(x.Server.Metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, x.HTTP)
	x.Status = w.Status
	return nil
}
