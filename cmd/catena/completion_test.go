package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletion completes operations and their parameters: of a data directory, and without one those of the program.
func TestCompletion(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	if code, _, errs := line(t, "init", "--demo", "--data", data); code != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		data string
		args []string
		want string // a line
	}{
		{data, []string{"run", ""}, "Document.Create\tCreate"},
		{data, []string{"run", "Document.Cr"}, "Document.Create\tCreate"},
		{"none", []string{"run", ""}, "Document.Create\tCreate"},
		{data, []string{"ops", ""}, "Document.Create\tCreate"},
		{data, []string{"chain", "run", ""}, "Document.Create\tCreate"},
		{data, []string{"run", "Document.Create", "--param", ""}, "type=\t"},
		{"none", []string{"run", "Document.Create", "--param", ""}, "type=\t"},
		{data, []string{"run", "User.CreateOrUpdate", "-p", "mode="}, "mode=create\n"},
		{"none", []string{"run", "User.CreateOrUpdate", "-p", "mode="}, "mode=create\n"},
	} {
		args := append([]string{"__complete"}, c.args...)
		args = append(args[:len(args)-1], "--data", c.data, args[len(args)-1])
		if c.args[len(c.args)-2] == "--param" || c.args[len(c.args)-2] == "-p" { // the value must follow its flag
			args = append([]string{"__complete", c.args[0], "--data", c.data}, c.args[1:]...)
		}
		code, out, errs := line(t, args...)
		if code != 0 || !strings.Contains("\n"+out, "\n"+c.want) {
			t.Errorf("%q: %d %s, want %q in %.600s", args, code, errs, c.want, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, out, _ := line(t, "completion", shell); code != 0 || !strings.Contains(out, "__complete") {
			t.Errorf("completion %s: %d", shell, code)
		}
	}
}
