package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualDir holds the pages of the manual.
var manualDir = filepath.Join("..", "..", "rest", "web", "docs")

// TestGoldenManual holds the pages of the manual that are made from the commands and their flags.
func TestGoldenManual(t *testing.T) {
	for name, got := range map[string]string{"commands.md": commandsPage(), "settings.md": settingsPage()} {
		file := filepath.Join(manualDir, name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(want, []byte(got)) {
			t.Errorf("%s does not match the flags (%v): run make golden", file, err)
		}
	}
}

// commandsPage describes every command with its flags, except the settings of the server.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is generated from the program. `catena COMMAND --help` prints the same information. " +
		"All commands also have the [global settings](settings.md#global-settings).\n")
	for _, c := range newRoot().Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(&b, "\n## catena %s\n\n%s.\n", c.Name(), c.Short)
		if c.HasSubCommands() {
			b.WriteString("\n| Command | Purpose |\n|---|---|\n")
			for _, sub := range c.Commands() {
				fmt.Fprintf(&b, "| `catena %s %s` | %s |\n", c.Name(), cell(sub.Use), cell(sub.Short))
			}
		} else {
			fmt.Fprintf(&b, "\n`catena %s`\n", c.Use)
		}
		b.WriteString(commandFlags(c))
	}
	return b.String()
}

// commandFlags lists the flags of a command and of those below it.
func commandFlags(c *cobra.Command) string {
	if c.Flags().Lookup("addr") != nil {
		return "\nThe flags are the [settings of the server](settings.md#settings-of-the-server).\n"
	}
	var b strings.Builder
	rows := func(c *cobra.Command) {
		if c.Flags().Lookup("addr") != nil {
			return
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			fmt.Fprintf(&b, "| `%s --%s` | %s | %s |\n", c.Name(), f.Name, defaultOf(f), cell(f.Usage))
		})
	}
	rows(c)
	for _, sub := range c.Commands() {
		rows(sub)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n| Flag | Default | Meaning |\n|---|---|---|\n" + b.String()
}

// settingsPage lists the settings of the server.
func settingsPage() string {
	cmd := serveCmd(&global{})
	var server, limits, shared strings.Builder
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		to := &server
		if strings.HasPrefix(f.Name, "limit-") {
			to = &limits
		}
		settingRow(to, f)
	})
	newRoot().PersistentFlags().VisitAll(func(f *pflag.Flag) { settingRow(&shared, f) })
	const header = "\n| Setting | Default | Meaning |\n|---|---|---|\n"
	return "# Settings\n\nThis page is generated from the program. Every setting is a flag of `catena serve`, a key of the YAML file that `--config` names, " +
		"and an environment variable: `--backup-keep 3`, `backup-keep: 3` or `CATENA_BACKUP_KEEP=3`. " +
		"[Operating a server](operate.md#configure) explains how they combine.\n" +
		"\n## Settings of the server\n" + header + server.String() +
		"\n## Limits\n\nSizes may have units, such as `10 MiB`. Durations have units, such as `30s` or `2h`.\n" + header + limits.String() +
		"\n## Global settings\n\nThese apply to every command.\n" + header + shared.String()
}

func settingRow(b *strings.Builder, f *pflag.Flag) {
	if f.Name != "help" {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, defaultOf(f), cell(f.Usage))
	}
}

// processors are the limits whose default depends on the machine.
var processors = map[string]string{"limit-computations": "2 per processor", "limit-script-workers": "2 per processor"}

func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "[]":
		return ""
	}
	return cmp.Or(processors[f.Name], "`"+f.DefValue+"`")
}

// cell makes a text fit into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}
