package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestUserList(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range []string{"init", "user create bob --first-name Bob --last-name B --email b@example.org --groups members", "user create carol"} {
		if code, _, errs := line(t, append(strings.Fields(args), "--data", data)...); code != 0 {
			t.Fatalf("%s: %d %s", args, code, errs)
		}
	}
	for args, want := range map[string]string{
		"user list":           "USER           NAME   EMAIL          GROUPS\nAdministrator                        administrators\nbob            Bob B  b@example.org  members\ncarol                                \n",
		"user list EXAMPLE":   "USER  NAME   EMAIL          GROUPS\nbob   Bob B  b@example.org  members\n",
		"user list no --json": "[]\n",
	} {
		if code, out, errs := line(t, append(strings.Fields(args), "--data", data)...); code != 0 || out != want {
			t.Errorf("%s: %d %s%q, want %q", args, code, errs, out, want)
		}
	}
}
