package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// team is a team as the operations show it.
type team struct {
	ID      int64    `json:"id"`
	Name    string   `json:"name"`
	Slug    string   `json:"slug"`
	Billing string   `json:"billing_period,omitempty"`
	Members []member `json:"members,omitempty"`
}

type member struct {
	Username string `json:"username"`
	Name     string `json:"name"`
	Role     string `json:"role"`
}

func teamCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Manage teams and their members"}
	cmd.AddCommand(
		teamCreate(g), teamList(g), teamMember(g),
		teamVerb(g, "show ID", "Show a team with its members", "Team.Get"),
		teamVerb(g, "delete ID", "Delete a team; the decks of its members become private", "Team.Delete"),
		teamRemove(g),
	)
	return cmd
}

func teamCreate(g *global) *cobra.Command {
	var owner, slug, billing string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a team and print its ID", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := filled(map[string]any{"name": args[0], "owner": owner, "slug": slug, "billing_period": billing})
			return g.team(cmd, call{op: "Team.Create", params: params})
		},
	}
	f := cmd.Flags()
	f.StringVar(&owner, "owner", "", "owner of the team")
	f.StringVar(&slug, "slug", "", "part of addresses that names the team (default: derived from the name)")
	f.StringVar(&billing, "billing", "none", "none, monthly or yearly")
	return cmd
}

func teamList(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List teams", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all struct{ Data []team }
			if err := g.object(cmd, call{op: "Team.List"}, &all); err != nil {
				return err
			}
			return list(g, cmd, all.Data, teamHeader, teamLine)
		},
	}
}

const teamHeader = "ID\tSLUG\tNAME"

func teamLine(t team) string { return columns(strconv.FormatInt(t.ID, 10), t.Slug, t.Name) }

func teamMember(g *global) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "add ID USER", Short: "Add a user to a team, or change the role of a member", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := teamID(args[0])
			if err != nil {
				return err
			}
			return g.team(cmd, call{op: "Team.SetMember", params: map[string]any{"id": id, "username": args[1], "role": role}})
		},
	}
	cmd.Flags().StringVar(&role, "role", "member", "owner, admin or member")
	return cmd
}

func teamRemove(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID USER", Short: "Remove a user from a team", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := teamID(args[0])
			if err != nil {
				return err
			}
			return g.team(cmd, call{op: "Team.RemoveMember", params: map[string]any{"id": id, "username": args[1]}})
		},
	}
}

// teamVerb is a command about one team and nothing else.
func teamVerb(g *global, use, short, op string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := teamID(args[0])
			if err != nil {
				return err
			}
			return g.team(cmd, call{op: op, params: map[string]any{"id": id}})
		},
	}
}

func teamID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, usage{fmt.Errorf("id: %q is not a number", text)}
	}
	return id, nil
}

// team carries out an operation that returns a team, and prints it.
func (g *global) team(cmd *cobra.Command, op call) error {
	var answer struct{ Data team }
	if err := g.object(cmd, op, &answer); err != nil {
		return err
	}
	t := answer.Data
	if g.json {
		return printJSON(cmd.OutOrStdout(), t)
	}
	if t.Name == "" {
		return nil
	}
	if err := printTable(cmd.OutOrStdout(), []team{t}, teamHeader, teamLine); err != nil || len(t.Members) == 0 {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout())
	return printTable(cmd.OutOrStdout(), t.Members, "USER\tROLE", func(m member) string { return columns(m.Username, m.Role) })
}
