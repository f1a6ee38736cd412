package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"

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
	cmd := &cobra.Command{Use: "team", Short: "Create teams and say who is in them"}
	cmd.AddCommand(
		teamCreate(g), teamList(g), teamMember(g),
		teamVerb(g, "show ID", "Show a team with its members", "Team.Get"),
		teamVerb(g, "delete ID", "End a team; its members' decks become private", "Team.Delete"),
		teamRemove(g),
	)
	return cmd
}

func teamCreate(g *global) *cobra.Command {
	var owner, slug, billing string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a team and print its number", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := filled(map[string]any{"name": args[0], "owner": owner, "slug": slug, "billing_period": billing})
			return g.team(cmd, call{op: "Team.Create", params: params})
		},
	}
	f := cmd.Flags()
	f.StringVar(&owner, "owner", "", "user who looks after the team")
	f.StringVar(&slug, "slug", "", "the team's part of addresses; empty: made of the name")
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
			if g.json {
				return printJSON(cmd.OutOrStdout(), all.Data)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, t := range all.Data {
				fmt.Fprintf(w, "%d\t%s\t%s\n", t.ID, t.Slug, t.Name)
			}
			return w.Flush()
		},
	}
}

func teamMember(g *global) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "add ID USER", Short: "Put a user in a team, or change the user's role", Args: cobra.ExactArgs(2),
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
		Use: "remove ID USER", Short: "Take a user out of a team", Args: cobra.ExactArgs(2),
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
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	if t.Name != "" {
		fmt.Fprintf(w, "%d\t%s\t%s\n", t.ID, t.Slug, t.Name)
	}
	for _, m := range t.Members {
		fmt.Fprintf(w, "\t%s\t%s\n", m.Username, m.Role)
	}
	return w.Flush()
}
