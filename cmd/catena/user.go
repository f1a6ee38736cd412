package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func userCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Manage users, their passwords and accounts"}
	cmd.AddCommand(userList(g), userCreate(g), userPassword(g), userAccount(g), userDelete(g))
	return cmd
}

// person is a user as the operations show it.
type person struct {
	Properties struct {
		Username  string   `json:"username"`
		FirstName string   `json:"firstName"`
		LastName  string   `json:"lastName"`
		Email     string   `json:"email"`
		Groups    []string `json:"groups"`
	} `json:"properties"`
}

func userList(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "list [TEXT]", Short: "List users, or those whose name or address contains a text", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			users := []person{}
			if err := g.object(cmd, call{op: "User.List", params: map[string]any{"q": strings.Join(args, "")}}, &users); err != nil {
				return err
			}
			return list(g, cmd, users, "USER\tNAME\tEMAIL\tGROUPS", func(u person) string {
				p := u.Properties
				return columns(p.Username, strings.TrimSpace(p.FirstName+" "+p.LastName), p.Email, strings.Join(p.Groups, ","))
			})
		},
	}
}

func userCreate(g *global) *cobra.Command {
	var first, last, email string
	var groups []string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a user; reads the password from standard input, which may be empty for none", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := firstLine(cmd.InOrStdin())
			if err != nil {
				return err
			}
			params := map[string]any{
				"username": args[0], "mode": "create", "password": password, "firstName": first, "lastName": last, "email": email,
			}
			if len(groups) > 0 {
				params["groups"] = groups
			}
			return g.object(cmd, call{op: "User.CreateOrUpdate", params: filled(params)}, nil)
		},
	}
	f := cmd.Flags()
	f.StringVar(&first, "first-name", "", "first name")
	f.StringVar(&last, "last-name", "", "last name")
	f.StringVar(&email, "email", "", "email address")
	f.StringSliceVar(&groups, "groups", nil, "groups of the user")
	return cmd
}

// firstLine reads what stands before the end of the line.
func firstLine(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, 8<<10))
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), err
}

// filled leaves out what is empty.
func filled(params map[string]any) map[string]any {
	for name, v := range params {
		if v == "" {
			delete(params, name)
		}
	}
	return params
}

func userPassword(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "password NAME", Short: "Set the password of a user; reads it from standard input", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := firstLine(cmd.InOrStdin())
			if err != nil {
				return err
			}
			if password == "" {
				return usage{fmt.Errorf("password: must not be empty")}
			}
			params := map[string]any{"username": args[0], "mode": "update", "password": password}
			return g.object(cmd, call{op: "User.CreateOrUpdate", params: params}, nil)
		},
	}
}

func userAccount(g *global) *cobra.Command {
	var period string
	cmd := &cobra.Command{
		Use: "account NAME free|lite|pro", Short: "Set the account for decks of a user", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := filled(map[string]any{"username": args[0], "type": args[1], "billingPeriod": period})
			return g.object(cmd, call{op: "User.SetAccount", params: params}, nil)
		},
	}
	cmd.Flags().StringVar(&period, "billing", "", "none, monthly or yearly (default: unchanged)")
	return cmd
}

func userDelete(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a user, and revoke the keys of the user", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: "User.Delete", params: map[string]any{"username": args[0]}}, nil)
		},
	}
}
