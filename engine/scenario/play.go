package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var errTrailing = errors.New("more after the JSON")

// World is a fresh server for one scenario.
type World struct {
	EntryPoint EntryPoint                                // what the scenario is played through
	Spare      EntryPoint                                // for what EntryPoint cannot carry, and for all after it
	User       func(name string, groups ...string) error // makes a user
	Tick       func()                                    // lets time go on, before each command
	Rerun      bool                                      // transactions may run more than once, and then take further numbers for ids
}

// player plays one script.
type player struct {
	w      World
	s      *Script
	update bool
	user   string
	kept   map[string]any
	last   Outcome
	errs   []error
	ids    *ids
}

// Play plays a script and returns everything that was not as expected. With update nothing
// is expected: what happens is written into the script instead.
func Play(ctx context.Context, s *Script, w World, update bool) error {
	p := &player{w: w, s: s, update: update, user: "Administrator", kept: map[string]any{}}
	if w.Rerun {
		p.ids = &ids{map[string]string{}, map[string]string{}}
	}
	for _, st := range s.steps {
		if st.verb == "" {
			continue
		}
		p.w.Tick()
		if err := p.play(ctx, st); err != nil {
			p.errs = append(p.errs, fmt.Errorf("%s:%d: %w", s.Path, st.line, err))
		}
	}
	return errors.Join(p.errs...)
}

func (p *player) play(ctx context.Context, st *step) error {
	switch st.verb {
	case "as":
		p.user = st.args
		return nil
	case "user":
		fields := strings.Fields(st.args)
		return p.w.User(fields[0], fields[1:]...)
	case "let":
		return p.let(st.args)
	}
	out, err := p.carryOut(ctx, st)
	if err != nil {
		return err
	}
	p.last = out
	if p.update {
		st.record(&out)
		return nil
	}
	return st.check(&out, p.ids)
}

func (p *player) let(args string) error {
	name, way, ok := strings.Cut(args, "=")
	if !ok {
		return errors.New("let NAME = MEMBER.PATH")
	}
	v, ok := at(p.last.Wire, strings.TrimSpace(way))
	if !ok {
		return fmt.Errorf("let: the last answer has no %s", strings.TrimSpace(way))
	}
	p.kept[strings.TrimSpace(name)] = v
	return nil
}

// carryOut runs the commands of a step.
func (p *player) carryOut(ctx context.Context, st *step) (Outcome, error) {
	args, err := words(p.fill(st.args))
	if err != nil {
		return Outcome{}, err
	}
	c, err := p.command(args)
	if err != nil {
		return Outcome{}, err
	}
	c.DryRun = st.dry
	if st.verb == "run" {
		return p.run(ctx, c), nil
	}
	text, ok := p.s.files[c.Op]
	if !ok {
		return Outcome{}, fmt.Errorf("there is no file %q", c.Op)
	}
	save := Command{Op: "Chain.Save", Params: encode(map[string]any{"source": string(text), "name": c.Op})}
	if st.verb == "script" {
		save.Op = "Script.Save"
	}
	save.DryRun = st.dry && len(args) == 1
	out := p.run(ctx, save)
	if out.Failure != nil || len(args) == 1 {
		return out, nil
	}
	name, _ := at(out.Wire, "name")
	if c.Op, ok = name.(string); !ok {
		return Outcome{}, fmt.Errorf("%s returned no name: %s", save.Op, encode(out.Wire))
	}
	p.w.Tick()
	return p.run(ctx, c), nil
}

func (p *player) run(ctx context.Context, c Command) Outcome {
	out := p.w.EntryPoint.Run(ctx, p.user, c)
	if out.Unsupported {
		p.w.EntryPoint = p.w.Spare
		out = p.w.EntryPoint.Run(ctx, p.user, c)
	}
	return out
}

// fill puts what was kept in place of $NAME. Of two names of which one begins like the other, the longer one is meant; what is
// put in is not looked at again.
func (p *player) fill(text string) string {
	names := slices.SortedFunc(maps.Keys(p.kept), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, name := range names {
		s, ok := p.kept[name].(string)
		if !ok {
			s = string(encode(p.kept[name]))
		}
		pairs = append(pairs, "$"+name, s)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// command reads the arguments of run, chain and script.
func (p *player) command(args []string) (Command, error) {
	c := Command{Op: args[0]}
	if len(args) > 4 {
		return c, fmt.Errorf("too many arguments: %s", strings.Join(args[4:], " "))
	}
	var err error
	if len(args) > 1 {
		if err = p.input(&c, args[1]); err != nil {
			return c, err
		}
	}
	if len(args) > 2 {
		if c.Params, err = p.object(args[2]); err != nil {
			return c, fmt.Errorf("params: %w", err)
		}
	}
	if len(args) > 3 {
		if c.Vars, err = p.object(args[3]); err != nil {
			return c, fmt.Errorf("context: %w", err)
		}
	}
	return c, nil
}

func (p *player) input(c *Command, text string) error {
	if text == "void" || text == "-" {
		return nil
	}
	if names, ok := files(text); ok {
		c.List = text[0] == '['
		for _, name := range names {
			data, ok := p.s.files[name]
			if !ok {
				return fmt.Errorf("input: there is no file %q", name)
			}
			c.Files = append(c.Files, NewFile(name, data))
		}
		return nil
	}
	if v, err := decode([]byte(text)); err == nil {
		c.Input = encode(v)
		return nil
	}
	if strings.ContainsAny(text[:1], `{["`) {
		return fmt.Errorf("input: no JSON: %s", text)
	}
	c.Input = encode(text)
	return nil
}

// object reads a JSON object and puts files in place of their names.
func (p *player) object(text string) (json.RawMessage, error) {
	v, err := decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no object: %s", text)
	}
	return encode(p.files(m)), nil
}

func (p *player) files(v any) any {
	switch v := v.(type) {
	case string:
		name, ok := strings.CutPrefix(v, "@")
		if data, there := p.s.files[name]; ok && there {
			return map[string]any{"name": name, "mime-type": typeOf(name), "data": string(data)}
		}
	case []any:
		for i := range v {
			v[i] = p.files(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = p.files(v[name])
		}
	}
	return v
}

// record takes in what happened as what is expected.
func (s *step) record(o *Outcome) {
	s.given, s.fails = true, o.Failure != nil
	if s.fails {
		s.expect = strings.ReplaceAll(o.Failure.String(), "\n", `\n`)
		return
	}
	s.expect = runPattern.ReplaceAllString(format(encode(o.form(s.dry))), "a run")
}

// check compares what happened with what is expected; ids may be nil.
func (s *step) check(o *Outcome, ids *ids) error {
	actual := step{dry: s.dry}
	actual.record(o)
	got := actual.want()
	call := strings.TrimSpace(s.source)
	switch {
	case !s.given:
		return fmt.Errorf("%s\nnothing is expected; got\n%s", call, got)
	case s.fails != (o.Failure != nil):
		return fmt.Errorf("%s\ngot  %s\nwant %s", call, got, s.want())
	case s.fails:
		kind, message, _ := strings.Cut(s.expect, ": ")
		if !o.Failure.Is(kind) || o.Failure.Message != "" && message != "" && !ids.same(strings.ReplaceAll(o.Failure.Message, "\n", `\n`), message) {
			return fmt.Errorf("%s\ngot  %s\nwant %s", call, got, s.want())
		}
		return nil
	}
	want, err := decode([]byte(s.expect))
	if err != nil {
		return fmt.Errorf("%s\n= %s: %w", call, s.expect, err)
	}
	if list, ok := want.([]any); ok && o.Empty && len(list) == 0 {
		return nil
	}
	if !ids.same(runPattern.ReplaceAllString(canonical(o.form(s.dry)), "a run"), canonical(want)) {
		return fmt.Errorf("%s\ngot  %s\nwant %s", call, got, s.want())
	}
	return nil
}

func (s *step) want() string {
	if s.fails {
		return "! " + s.expect
	}
	return "= " + s.expect
}
