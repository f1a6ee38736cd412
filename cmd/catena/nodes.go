package main

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"catena/engine/library"
	"catena/rest"
	"catena/storage"
	"catena/storage/cluster"
)

// join makes the process one of the nodes of its database. A data directory has only one.
func (a *app) join(ctx context.Context, address string) (err error) {
	if a.database == nil {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	a.member, err = cluster.Join(ctx, a.repo, cluster.Node{Address: address, Host: host, Version: version})
	if err == nil {
		a.engine.Join(a.member)
		a.follower = library.NewFollower(a.deployments(), a.engine, a.log, a.member.Compare)
	}
	return err
}

// node is what tells this server from others: its id among the nodes, or the name of the machine and the port.
func (a *app) node(at net.Addr) (string, error) {
	if a.member != nil {
		return a.member.ID(), nil
	}
	host, err := os.Hostname()
	if _, port, bad := net.SplitHostPort(at.String()); bad == nil {
		host = net.JoinHostPort(host, port)
	}
	return host, err
}

// nodeChecks are what must hold of a node before it gets requests.
func (a *app) nodeChecks() []rest.Check {
	if a.member == nil {
		return nil
	}
	return []rest.Check{{Name: "nodeStatus", Test: a.member.Status}, {Name: "followStatus", Says: true, Test: a.follower.Status}}
}

// alone is a task that one node at a time carries out.
func (a *app) alone(t task) task {
	if a.member == nil {
		return t
	}
	run := t.run
	t.run = func(ctx context.Context) error { return a.member.OnDuty(ctx, t.name, run) }
	return t
}

// oneVersion reports whether all servers of the store are of this version.
func (a *app) oneVersion(ctx context.Context) bool {
	if a.member == nil {
		return true
	}
	same := false
	err := a.repo.View(ctx, a.repo.System(), func(t *storage.Tx) error {
		nodes, err := cluster.List(t)
		same = !slices.ContainsFunc(nodes, func(n cluster.Node) bool { return !n.Lost && n.Version != version })
		return err
	})
	return err == nil && same
}

// recordRuns writes the runs that ended.
func (a *app) recordRuns(ctx context.Context) error { return a.engine.RecordRuns(ctx, a.oneVersion) }

// nodeTasks are what a node does as one of several.
func (a *app) nodeTasks() []task {
	if a.member == nil {
		return nil
	}
	return []task{{"node", a.member.Run}, {"following other nodes", a.follower.Run}, {"sharing running calls", a.engine.ShareRuns}, {"answering other nodes", a.engine.AnswerOthers}}
}

// nodeFigures are those of a node of a database. A server with a data directory has none.
type nodeFigures struct{ *app }

var (
	descNodes       = prometheus.NewDesc("catena_nodes", "Servers that share the database, as this one saw at its last heartbeat.", nil, nil)
	descSkew        = prometheus.NewDesc("catena_clock_skew_seconds", "By how much the clock of the database is ahead of that of this machine.", nil, nil)
	descConnections = prometheus.NewDesc("catena_database_connections", "Connections for transactions by state: used, idle, and how many there may be: limit.", []string{"state"}, nil)
)

// Describe lists the figures.
func (f nodeFigures) Describe(to chan<- *prometheus.Desc) {
	to <- descNodes
	to <- descSkew
	to <- descConnections
}

// Collect reads them.
func (f nodeFigures) Collect(to chan<- prometheus.Metric) {
	if f.database == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if f.member != nil {
		gauge(descNodes, float64(f.member.Count()))
	}
	gauge(descSkew, f.database.Skew().Seconds())
	used, idle, limit := f.database.Connections()
	gauge(descConnections, float64(used), "used")
	gauge(descConnections, float64(idle), "idle")
	gauge(descConnections, float64(limit), "limit")
}

func nodesCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "nodes", Short: "List the servers that share a database", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" || !g.shared() {
				return usage{errors.New("nodes: name the database with --store")}
			}
			a, err := g.openWith(cmd.Context(), openOptions{withoutFiles: true})
			if err != nil {
				return err
			}
			all := []cluster.Node{}
			err = a.repo.View(cmd.Context(), a.repo.System(), func(t *storage.Tx) error {
				found, err := cluster.List(t)
				all = append(all[:0], found...)
				return err
			})
			if err = errors.Join(err, a.close()); err != nil {
				return err
			}
			return list(g, cmd, all, "ADDRESS\tHOST\tVERSION\tSTARTED\tSTATE", func(n cluster.Node) string {
				state := "up"
				if n.Lost {
					state = "lost"
				}
				return columns(n.Address, n.Host, n.Version, n.Started.Format(time.RFC3339), state)
			})
		},
	}
}
