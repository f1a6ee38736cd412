package rest

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"catena/engine"
	"catena/storage/fault"
)

// perform serves a row by its operation alone.
func (x *exchange) perform() error {
	r := x.route
	status := cmp.Or(r.status, http.StatusOK)
	switch {
	case r.entity == "*":
		return x.sent(r.op, status)
	case r.entity != "":
		return x.runBody(r.op, r.entity, r.given, status)
	}
	return x.call(r.op, r.given, status)
}

// call runs one operation without input, its parameters read from the request by params.
func (x *exchange) call(op string, params func(x *exchange) (values, error), status int) error {
	c := engine.Call{Op: op}
	var err error
	if c.Params, err = params(x); err != nil {
		return err
	}
	re := reply{status: status, bare: true}
	if x.route.gives == "none" {
		re.empty = x.route.status
	}
	return x.run(c, re)
}

// given reads the parameters of a row's operation.
func (r *route) given(x *exchange) (values, error) {
	if r.params != nil {
		return r.params(x)
	}
	return placed(x)
}

// placed are the parameters that parts of the address and of the query give by their names.
func placed(x *exchange) (values, error) {
	out := values{}
	for i := range x.ps.n {
		p := &x.ps.list[i]
		v, err := decode(p.value)
		if err != nil {
			return nil, err
		}
		out[p.name] = v
	}
	for name := range strings.FieldsSeq(x.route.query) {
		pick(out, x.query(), name)
	}
	return out, nil
}

// schemaParams adds what is to be fetched of a schema.
func schemaParams(x *exchange) (values, error) {
	out, err := placed(x)
	if err != nil {
		return nil, err
	}
	if fetch := x.options().Fetch["schema"]; len(fetch) > 0 {
		out["fetch"] = fetch
	}
	return out, nil
}

func fromQuery(x *exchange) (values, error) { return queryParams(x), nil }

// inLanguage refuses query languages other than the one there is.
func inLanguage(x *exchange) (values, error) {
	lang, err := x.param("lang")
	if err == nil && lang != "NXQL" {
		err = fault.Invalid.Errorf("query language %q: only NXQL is known", lang)
	}
	return queryParams(x), err
}

func fromProvider(x *exchange) (values, error) {
	name, err := x.param("provider")
	return providerParams(x, name), err
}

// capabilities says what the server can do.
func capabilities(x *exchange) error {
	repositories := values{}
	for _, name := range x.engine.Repo().Names() {
		repositories[name] = values{"queryBlobKeys": true}
	}
	return x.json(http.StatusOK, map[string]any{
		"entity-type": "capabilities",
		"server": values{
			"distributionName": "catena", "distributionVersion": x.s.Version, "distributionServer": "catena-" + x.s.Version,
		},
		"cluster":    values{"enabled": false, "nodeId": "1"},
		"repository": repositories,
	})
}

// repositoryInfo describes the repositories to clients that ask for the version there.
func repositoryInfo(x *exchange) error {
	all := values{}
	for _, name := range x.engine.Repo().Names() {
		root, err := x.rootID(name)
		if err != nil {
			return err
		}
		address := x.base() + "/api/v1/repo/" + url.PathEscape(name)
		all[name] = values{
			"repositoryId": name, "repositoryName": name, "repositoryDescription": "Repository " + name,
			"vendorName": "catena", "productName": "catena", "productVersion": x.s.Version,
			"rootFolderId": root, "rootFolderUrl": address + "/id/" + root,
			"repositoryUrl": address, "cmisVersionSupported": "1.1",
		}
	}
	return x.json(http.StatusOK, all)
}

// rootID finds the id of a repository's root document.
func (x *exchange) rootID(repository string) (string, error) {
	res, err := x.engine.Named(repository).Run(x.r.Context(), engine.Call{
		Op: "Repository.GetDocument", Params: values{"value": "/"}, As: x.as, Door: x.door(), RequestID: x.id,
	})
	if err != nil {
		return "", err
	}
	d, ok := res.Value.(interface{ ID() string })
	if !ok {
		return "", fault.Internal.Errorf("document /: is no document")
	}
	return d.ID(), nil
}

// probeTime bounds one probe.
const probeTime = 3 * time.Second

// probe returns why something the server needs does not work.
func (x *exchange) probe(c Check) error {
	ctx, cancel := context.WithTimeout(x.r.Context(), probeTime)
	defer cancel()
	err := c.Test(ctx)
	if err != nil {
		x.report(http.StatusServiceUnavailable, "probe "+c.Name, err)
	}
	return err
}

// checks are what must hold: the store opens a transaction, and what the configuration adds.
func (s *Handler) checks() []Check {
	return append([]Check{{Name: "repositoryStatus", Test: s.Engine.Ping}}, s.Ready...)
}

// securityTxt says who to tell of a weakness (RFC 9116).
func securityTxt(x *exchange) error {
	if x.s.Contact == "" {
		return fault.NotFound.Errorf("address %s", x.r.URL.Path)
	}
	expires := time.Now().UTC().AddDate(0, 6, 0).Truncate(24 * time.Hour)
	return x.text(http.StatusOK, "Contact: "+x.s.Contact+"\nExpires: "+expires.Format(time.RFC3339)+"\n")
}

// runningStatus is the health page of the platform.
func runningStatus(x *exchange) error {
	q := x.query()
	switch q.Get("info") {
	case "started":
		return x.json(http.StatusOK, true)
	case "probe":
		for _, c := range x.s.checks() {
			if c.Name == q.Get("key") {
				return x.health([]Check{c}, http.StatusInternalServerError)
			}
		}
		return fault.NotFound.Errorf("probe %s", q.Get("key"))
	}
	alive := Check{Name: "runtimeStatus", Test: func(context.Context) error { return nil }}
	return x.health(append([]Check{alive}, x.s.checks()...), http.StatusInternalServerError)
}

// health answers with the state of every check, and with status bad if one fails.
func (x *exchange) health(checks []Check, bad int) error {
	status, states := http.StatusOK, map[string]string{}
	for _, c := range checks {
		states[c.Name] = "ok"
		err := x.probe(c)
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
	return x.json(status, states)
}

// alive answers as long as the process does.
func alive(x *exchange) error { return x.text(http.StatusOK, "ok\n") }

// ready answers whether the server should get traffic.
func ready(x *exchange) error { return x.health(x.s.checks(), http.StatusServiceUnavailable) }

// metrics returns the server's metrics to administrators. One that cannot be determined hides no other.
func metrics(x *exchange) error {
	switch {
	case x.s.NoMetrics:
		return fault.NotFound.Errorf("address %s", x.r.URL.Path)
	case !x.as.Admin:
		return fault.Denied.Errorf("metrics: only administrators may read them")
	}
	w := &statusWriter{ResponseWriter: x.w}
	promhttp.HandlerFor(x.s.Metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, x.r)
	x.status = w.status
	return nil
}
