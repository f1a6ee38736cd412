package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"catena/engine/hook"
	"catena/engine/schedule"
)

// declaredKinds are the kinds of text that are managed as chains are, and by nothing else.
var declaredKinds = []kind{
	{noun: "listener", family: "Listener", ext: ".yaml .yml .json"},
	{noun: "type", family: "Type", ext: ".yaml .yml"},
	{noun: "vocabulary", nouns: "vocabularies", family: "Vocabulary", ext: ".yaml .yml"},
	{noun: "provider", family: "PageProvider", ext: ".yaml .yml"},
	{noun: "action", family: "ActionDefinition", ext: ".yaml .yml"},
	{noun: "workflow", family: "WorkflowDefinition", ext: ".yaml .yml"},
	{noun: "template", family: "Template", ext: ".ftl .mvel"},
	{noun: "mail", nouns: "templates of mail", family: "MailTemplate", ext: ".ftl .ftlh"},
}

// programCmds are the commands for what a server is programmed with.
func programCmds(g *global) []*cobra.Command {
	all := []*cobra.Command{chainCmd(g), scriptCmd(g), scheduleCmd(g), hookCmd(g)}
	for _, k := range declaredKinds {
		all = append(all, k.command(g))
	}
	return all
}

// scheduleCmd manages schedules as chains are, and shows where they stand.
func scheduleCmd(g *global) *cobra.Command {
	cmd := kind{noun: "schedule", family: "Schedule", ext: ".yaml .yml .json"}.command(g)
	cmd.AddCommand(&cobra.Command{
		Use: "status", Short: "Show when schedules run next and ran last", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []schedule.Status{}
			if err := g.object(cmd, call{op: "Schedule.Status"}, &all); err != nil {
				return err
			}
			return list(g, cmd, all, "NAME\tSTATE\tNEXT\tLAST\tERROR", func(s schedule.Status) string {
				return columns(s.Name, s.State, instantText(s.Next), instantText(s.Last), s.Failure)
			})
		},
	})
	for verb, short := range map[string]string{"resume": "Resume a stopped schedule", "stop": "Stop a schedule until it is resumed"} {
		cmd.AddCommand(&cobra.Command{
			Use: verb + " NAME", Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				op := map[string]string{"resume": "Schedule.Resume", "stop": "Schedule.Stop"}[verb]
				return g.object(cmd, call{op: op, params: map[string]any{"name": args[0]}}, nil)
			},
		})
	}
	return cmd
}

// hookCmd manages hooks as chains are, shows where they stand, and makes their secrets.
func hookCmd(g *global) *cobra.Command {
	cmd := kind{noun: "hook", family: "Hook", ext: ".yaml .yml .json"}.command(g)
	cmd.AddCommand(&cobra.Command{
		Use: "status", Short: "Show the addresses of hooks and how they ran last", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []hook.Status{}
			if err := g.object(cmd, call{op: "Hook.Status"}, &all); err != nil {
				return err
			}
			return list(g, cmd, all, "NAME\tPATH\tSTATE\tLAST\tERROR", func(h hook.Status) string {
				return columns(h.Name, h.Path, h.State, instantText(h.Last), h.Failure)
			})
		},
	}, &cobra.Command{
		Use: "secret NAME", Short: "Make a new secret of a hook and print it this once; the one before stays valid for a day", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var made hook.Secret
			if err := g.object(cmd, call{op: "Hook.RenewSecret", params: map[string]any{"name": args[0]}}, &made); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), made)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), made.Secret)
			return err
		},
	})
	return cmd
}

// instantText writes an instant, "-" for none.
func instantText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}

// waitingJob is a job of the outbox as the operations show it.
type waitingJob struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	State   string    `json:"state"`
	User    string    `json:"user"`
	Due     time.Time `json:"due"`
	Created time.Time `json:"created"`
	Tries   int       `json:"tries"`
	Failure string    `json:"failure,omitempty"`
}

func jobCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "job", Aliases: []string{"jobs"}, Short: "List, retry and delete background jobs"}
	cmd.AddCommand(jobList(g), jobVerb(g, "retry", "Job.Retry", "Retry a job immediately"), jobVerb(g, "delete", "Job.Delete", "Delete a job that is waiting or dead"))
	return cmd
}

func jobList(g *global) *cobra.Command {
	var state, kind string
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs: dead, running and waiting ones", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			params := map[string]any{}
			if state != "" {
				params["state"] = state
			}
			if kind != "" {
				params["kind"] = kind
			}
			jobs := []waitingJob{}
			if err := g.object(cmd, call{op: "Job.List", params: params}, &jobs); err != nil {
				return err
			}
			return list(g, cmd, jobs, "ID\tKIND\tSTATE\tDUE\tTRIES\tERROR", func(j waitingJob) string {
				return columns(j.ID, j.Kind, j.State, j.Due.Format(time.RFC3339), strconv.Itoa(j.Tries), j.Failure)
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "only jobs in this state: dead, running or waiting")
	cmd.Flags().StringVar(&kind, "kind", "", "only jobs of this kind, such as mail")
	return cmd
}

func jobVerb(g *global, verb, op, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: op, params: map[string]any{"id": args[0]}}, nil)
		},
	}
}
