package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// group is a group as the operations show it.
type group struct {
	Name        string   `json:"groupname"`
	Label       string   `json:"grouplabel"`
	Description string   `json:"description"`
	Users       []string `json:"memberUsers"`
	Groups      []string `json:"memberGroups"`
}

func groupCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "group", Short: "Manage groups and their members"}
	cmd.AddCommand(
		groupList(g), groupShow(g), groupCreate(g), groupDelete(g),
		groupMember(g, "add GROUP USER…", "Add users to a group", "User.AddToGroup"),
		groupMember(g, "remove GROUP USER…", "Remove users from a group", "User.RemoveFromGroup"),
	)
	return cmd
}

func groupList(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "list [TEXT]", Short: "List groups, or those whose name or label contains a text", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := []group{}
			if err := g.object(cmd, call{op: "Group.List", params: map[string]any{"q": strings.Join(args, "")}}, &all); err != nil {
				return err
			}
			return list(g, cmd, all, "GROUP\tLABEL\tUSERS\tGROUPS", func(x group) string {
				return columns(x.Name, x.Label, strconv.Itoa(len(x.Users)), strings.Join(x.Groups, ","))
			})
		},
	}
}

func groupShow(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "show GROUP", Short: "Show the members of a group", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var x group
			if err := g.object(cmd, call{op: "Group.Read", params: map[string]any{"groupname": args[0]}}, &x); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), x)
			}
			type member struct{ kind, name string }
			var members []member
			for _, name := range x.Users {
				members = append(members, member{"user", name})
			}
			for _, name := range x.Groups {
				members = append(members, member{"group", name})
			}
			return list(g, cmd, members, "KIND\tMEMBER", func(m member) string { return columns(m.kind, m.name) })
		},
	}
}

func groupCreate(g *global) *cobra.Command {
	var label, description string
	var users, groups []string
	cmd := &cobra.Command{
		Use: "create GROUP", Short: "Create a group", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := filled(map[string]any{"groupname": args[0], "mode": "create", "grouplabel": label, "description": description})
			if len(users) > 0 {
				params["members"] = users
			}
			if len(groups) > 0 {
				params["subGroups"] = groups
			}
			return g.object(cmd, call{op: "Group.CreateOrUpdate", params: params}, nil)
		},
	}
	f := cmd.Flags()
	f.StringVar(&label, "label", "", "label")
	f.StringVar(&description, "description", "", "what the group is for")
	f.StringSliceVar(&users, "users", nil, "users in the group")
	f.StringSliceVar(&groups, "groups", nil, "groups in the group")
	return cmd
}

func groupDelete(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "delete GROUP", Short: "Delete a group; its members remain", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: "Group.Delete", params: map[string]any{"groupname": args[0]}}, nil)
		},
	}
}

// groupMember is a command that runs an operation for each of some users.
func groupMember(g *global, use, short, op string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			for _, name := range args[1:] {
				if err := c.object(cmd.Context(), call{op: op, params: map[string]any{"group": args[0], "name": name}}, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
