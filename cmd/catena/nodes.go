package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"catena/rest"
	"catena/storage"
	"catena/storage/cluster"
)

// followEvery is how often a node looks for what others have deployed.
const followEvery = 500 * time.Millisecond

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
	return err
}

// nodeChecks are what must hold of a node before it gets requests.
func (a *app) nodeChecks() []rest.Check {
	if a.member == nil {
		return nil
	}
	return []rest.Check{{Name: "nodeStatus", Test: a.member.Status}}
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

// nodeTasks are what a node does as one of several.
func (a *app) nodeTasks() []task {
	if a.member == nil {
		return nil
	}
	return []task{{"node", a.member.Run}, {"following other nodes", a.follow}}
}

// follow deploys what other nodes deploy, and withdraws what they withdraw.
func (a *app) follow(ctx context.Context) error {
	t := time.NewTicker(followEvery)
	defer t.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			err := errors.Join(a.scripts.Refresh(ctx, a.engine), a.chains.Refresh(ctx, a.engine), a.listeners.Refresh(ctx, a.engine), a.schedules.Refresh(ctx, a.engine), a.hooks.Refresh(ctx, a.engine), a.waiting.Refresh(ctx, a.engine))
			if err != nil && ctx.Err() == nil && !failed { // an outage is one message
				a.log.Error("what other nodes have deployed", "error", err)
			}
			failed = err != nil
		}
	}
}

func nodesCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "nodes", Short: "List the servers that share a database", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" || !g.shared() {
				return usage{errors.New("nodes: name the database with --store")}
			}
			a, err := g.open(cmd.Context())
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
