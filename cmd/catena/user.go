package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func userCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "List and create users, set their passwords and accounts"}
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
		Use: "list [TEXT]", Short: "List users, or those whose name or address holds a text", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			users := []person{}
			if err := g.object(cmd, call{op: "User.List", params: map[string]any{"q": strings.Join(args, "")}}, &users); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), users)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, u := range users {
				p := u.Properties
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Username, strings.TrimSpace(p.FirstName+" "+p.LastName), p.Email, strings.Join(p.Groups, ","))
			}
			return w.Flush()
		},
	}
}

func userCreate(g *global) *cobra.Command {
	var first, last, email string
	var groups []string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a user; the password is read from standard input, empty for none", Args: cobra.ExactArgs(1),
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
	f.StringVar(&email, "email", "", "address")
	f.StringSliceVar(&groups, "groups", nil, "groups the user is in")
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
		Use: "password NAME", Short: "Set a user's password, read from standard input", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := firstLine(cmd.InOrStdin())
			if err != nil {
				return err
			}
			if password == "" {
				return usage{fmt.Errorf("password: is empty")}
			}
			params := map[string]any{"username": args[0], "mode": "update", "password": password}
			return g.object(cmd, call{op: "User.CreateOrUpdate", params: params}, nil)
		},
	}
}

func userAccount(g *global) *cobra.Command {
	var period string
	cmd := &cobra.Command{
		Use: "account NAME free|lite|pro", Short: "Set what a user's account for decks includes", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := filled(map[string]any{"username": args[0], "type": args[1], "billingPeriod": period})
			return g.object(cmd, call{op: "User.SetAccount", params: params}, nil)
		},
	}
	cmd.Flags().StringVar(&period, "billing", "", "none, monthly or yearly; empty: as before")
	return cmd
}

func userDelete(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a user; the user's keys end with that", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: "User.Delete", params: map[string]any{"username": args[0]}}, nil)
		},
	}
}
