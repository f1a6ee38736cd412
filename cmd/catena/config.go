package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
)

// global are the flags every command has.
type global struct {
	config, data, server string
	blobs, store         string
	logLevel, logFormat  string
	json                 bool

	level *slog.LevelVar // of the log, once there is one
}

func (g *global) flags(f *pflag.FlagSet) {
	f.StringVar(&g.config, "config", "", "YAML file with settings; \"catena config print\" prints one")
	f.StringVar(&g.data, "data", "data", "data directory")
	f.StringVar(&g.store, "store", "", "database that has the documents, postgres://USER@HOST/DATABASE, shared by any number of servers (default: the data directory)")
	f.StringVar(&g.blobs, "blobs", "", "bucket for the content of files, s3://BUCKET/PREFIX?endpoint=URL&region=REGION, or with --store an absolute folder that all servers share (default: the bucket recorded in the store, or the data directory)")
	f.StringVar(&g.server, "server", "", "address of a running server; sign in with CATENA_USER and CATENA_PASSWORD, or CATENA_KEY (default: work on the data directory)")
	f.StringVar(&g.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&g.logFormat, "log-format", "text", "log format: text or json")
	f.BoolVar(&g.json, "json", false, "print results and errors as JSON")
}

// logger writes to standard error, which leaves standard output to results.
func (g *global) logger() (*slog.Logger, error) {
	g.level = &slog.LevelVar{}
	if err := g.level.UnmarshalText([]byte(g.logLevel)); err != nil {
		return nil, usage{fmt.Errorf("log-level: %q is not debug, info, warn or error", g.logLevel)}
	}
	return g.logTo(os.Stderr, &slog.HandlerOptions{Level: g.level})
}

// logTo writes lines in the format asked for.
func (g *global) logTo(w io.Writer, o *slog.HandlerOptions) (*slog.Logger, error) {
	switch g.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, usage{fmt.Errorf("log-format: %q is not text or json", g.logFormat)}
}

// configure fills flags the command line left out: from the environment (CATENA_ADDR for --addr, CATENA_KEY_FILE
// for a file holding --key's value), then from the file. It tells everything that is wrong with them.
func configure(f *pflag.FlagSet, file string) error {
	if file == "" {
		file = os.Getenv("CATENA_CONFIG")
	}
	values, err := readConfig(file)
	all := []error{err}
	f.VisitAll(func(flag *pflag.Flag) {
		defer trim(flag)
		switch {
		case flag.Changed:
			all = append(all, f.SetAnnotation(flag.Name, origin, []string{"flag"}))
		case settings().has(flag.Name):
			all = append(all, supply(f, flag, values))
		}
	})
	if err := errors.Join(all...); err != nil {
		return usage{err}
	}
	return nil
}

// trim removes what is written between the items of a list to be read more easily.
func trim(flag *pflag.Flag) {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		items := list.GetSlice()
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		_ = list.Replace(items) // texts are what they are
	}
}

// origin is the annotation of a flag that says where its value comes from.
const origin = "origin"

func originOf(flag *pflag.Flag) string {
	if from := flag.Annotations[origin]; len(from) > 0 {
		return from[0]
	}
	return "default"
}

// supply gives a flag the value of the environment or the file, if there is one.
func supply(f *pflag.FlagSet, flag *pflag.Flag, values map[string]fileValue) error {
	text, ok, err := fromEnv(flag.Name)
	from := variable(flag.Name)
	if !ok && err == nil {
		var v fileValue
		if v, ok = values[flag.Name]; ok {
			from = v.at
			if list, many := flag.Value.(pflag.SliceValue); many && v.list != nil {
				err, ok = list.Replace(v.list), false
				flag.Changed = true
			} else if v.list != nil {
				err = errors.New("must be a single value, not a list")
			}
			text = v.text
		}
	}
	if ok && err == nil {
		err = f.Set(flag.Name, text)
		if bad := new(pflag.InvalidValueError); errors.As(err, &bad) {
			err = fmt.Errorf("%q: %w", text, bad.Unwrap())
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: %w", from, flag.Name, err)
	case flag.Changed:
		return f.SetAnnotation(flag.Name, origin, []string{from})
	}
	return nil
}

// variable is the name of a setting in the environment. Those of OpenTelemetry have the name that every program uses.
func variable(flag string) string {
	name := strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if standardized(flag) {
		return name
	}
	return "CATENA_" + name
}

func standardized(flag string) bool { return strings.HasPrefix(flag, "otel-") }

// fromEnv reads the variable of a setting, such as CATENA_NAME, or the file that the variable with _FILE after its name
// names.
func fromEnv(flag string) (string, bool, error) {
	name := variable(flag)
	// The specification of OpenTelemetry has an empty variable mean none.
	if v, ok := os.LookupEnv(name); ok && (v != "" || !standardized(flag)) {
		return v, true, nil
	}
	path, ok := os.LookupEnv(name + "_FILE")
	if !ok {
		return "", false, nil
	}
	b, err := os.ReadFile(path)
	return strings.TrimRight(string(b), "\r\n"), err == nil, err
}

// fileValue is what the file says of a setting: a text or a list of them.
type fileValue struct {
	at   string // file and line
	text string
	list []string
}

// readConfig reads the file; what is no setting is an error with its line, and keeps no other from being read.
func readConfig(file string) (map[string]fileValue, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: not a map of settings", file, m.Line)
	}
	var all []error
	out := map[string]fileValue{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		at := fmt.Sprintf("%s:%d", file, k.Line)
		value, ok := valueOf(at, v)
		switch _, twice := out[k.Value]; {
		case !settings().has(k.Value):
			all = append(all, fmt.Errorf("%s: %q is not a setting%s", at, k.Value, fault.Perhaps(k.Value, settings().names())))
		case twice:
			all = append(all, fmt.Errorf("%s: %s: set twice", at, k.Value))
		case !ok:
			all = append(all, fmt.Errorf("%s: %s: must be a single value or a list", at, k.Value))
		default:
			out[k.Value] = value
		}
	}
	return out, errors.Join(all...)
}

func valueOf(at string, v *yaml.Node) (out fileValue, ok bool) {
	out = fileValue{at: at, text: v.Value}
	if v.Kind == yaml.SequenceNode {
		out.list = []string{}
		for _, item := range v.Content {
			if item.Kind != yaml.ScalarNode {
				return out, false
			}
			out.list = append(out.list, item.Value)
		}
		return out, true
	}
	return out, v.Kind == yaml.ScalarNode
}

// settings are the flags that the environment and the file may set: those that say how
// catena works, not what one command is asked to do.
var settings = sync.OnceValue(newSettings)

type settingSet struct{ *pflag.FlagSet }

func newSettings() settingSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	(&global{}).flags(f)
	(&serve{}).flags(f)
	return settingSet{f}
}

func (s settingSet) has(name string) bool { return s.Lookup(name) != nil }

// names yields the names of all settings.
func (s settingSet) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		s.VisitAll(func(f *pflag.Flag) { more = more && yield(f.Name) })
	}
}
