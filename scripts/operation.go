package scripts

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// Problem is something wrong in a script's text, with its position, counted from 1.
type Problem = library.Problem

// Script is a scripted operation as its header declares it.
type Script struct {
	Name, Label, Category    string
	Description, Since       string
	Aliases                  []string
	Input, Output            string // type words
	Effect                   engine.Effect
	Params                   []engine.Param
	File, Source             string
	opLine, opColumn, header int

	declaresOutput bool
}

// Parse reads the header of a scripted operation. Every mistake of the header is reported
// with its line; the code below it is for Check.
func Parse(file string, src []byte) (*Script, error) {
	s, problems := parseHeader(file, string(src))
	if len(problems) > 0 {
		return nil, library.Refused(problems, fault.CodeScriptSyntax)
	}
	return s, nil
}

// header reads the tags of the comment.
type header struct {
	s        *Script
	problems []Problem
	seen     map[string]bool
	secrets  []string // names of parameters
	tag      string
	text     []string
	line     int
	column   int
}

func parseHeader(file, source string) (*Script, []Problem) {
	s := &Script{File: file, Source: source, Category: "Scripting", Input: "void", Output: "void", header: 1}
	h := &header{s: s, seen: map[string]bool{}}
	start := strings.Index(source, "/**")
	if start < 0 || strings.TrimSpace(stripLineComments(source[:start])) != "" {
		h.add(1, 1, "a scripted operation must begin with a comment /** … @operation Name … */")
		return s, h.problems
	}
	comment, _, closed := strings.Cut(source[start+3:], "*/")
	line := 1 + strings.Count(source[:start], "\n")
	if !closed {
		h.add(line, 1, "the comment is not closed")
		return s, h.problems
	}
	for i, text := range strings.Split(comment, "\n") {
		h.read(line+i, text)
	}
	h.flush()
	s.header = line + strings.Count(comment, "\n")
	h.whole(line)
	return s, h.problems
}

// stripLineComments removes // comments, which may stand above the header.
func stripLineComments(s string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "//") && !strings.HasPrefix(t, "#!") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func (h *header) add(line, column int, message string) {
	h.problems = append(h.problems, Problem{File: h.s.File, Line: line, Column: column, Message: message})
}

func (h *header) read(line int, text string) {
	body := strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(text, " \t\r"), "*"))
	if !strings.HasPrefix(body, "@") {
		if body != "" {
			h.text = append(h.text, body)
		}
		return
	}
	h.flush()
	tag, rest, _ := strings.Cut(body[1:], " ")
	h.tag, h.line, h.column = tag, line, strings.Index(text, "@")+1
	if rest = strings.TrimSpace(rest); rest != "" {
		h.text = append(h.text, rest)
	}
}

// ignored are tags of documentation that say nothing to us.
var ignored = []string{"author", "deprecated", "example", "file", "return", "returns", "see", "todo", "version"}

// flush takes in the tag that has been read, with all its lines.
func (h *header) flush() {
	tag, text := h.tag, strings.Join(h.text, " ")
	h.tag, h.text = "", nil
	s := h.s
	single := map[string]*string{
		"category": &s.Category, "description": &s.Description, "input": &s.Input, "label": &s.Label,
		"operation": &s.Name, "output": &s.Output, "since": &s.Since,
	}
	if tag == "" {
		if s.Description == "" {
			s.Description = text
		}
		return
	}
	switch into := single[tag]; {
	case into != nil && text == "":
		h.add(h.line, h.column, "@"+tag+" is empty")
	case into != nil && h.seen[tag]:
		h.add(h.line, h.column, "@"+tag+" is a duplicate")
	case into != nil:
		*into = text
		h.seen[tag] = true
		s.declaresOutput = s.declaresOutput || tag == "output"
		h.single(tag, text)
	case tag == "alias":
		s.Aliases = append(s.Aliases, namesIn(text)...)
	case tag == "effect":
		h.effect(text)
	case tag == "param":
		h.param(text)
	case tag == "secret":
		h.secrets = append(h.secrets, namesIn(text)...)
	case slices.Contains(ignored, tag):
	default:
		h.problems = append(h.problems, Problem{
			File: s.File, Line: h.line, Column: h.column, Message: "unknown tag @" + tag,
			Nearest: fault.Nearest("@"+tag, slices.Values(tags)),
		})
	}
}

// namesIn are names with commas or spaces in between.
func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (h *header) single(tag, text string) {
	switch tag {
	case "operation":
		h.s.opLine, h.s.opColumn = h.line, h.column
		if strings.ContainsAny(text, " /\\\t@?#%{}") || len(text) > 100 {
			h.add(h.line, h.column, "name "+strconv.Quote(text)+": must contain only letters, digits and . _ - ( ), at most 100 bytes")
		}
	case "input", "output":
		if !slices.Contains(typeWords, text) {
			h.problems = append(h.problems, Problem{
				File: h.s.File, Line: h.line, Column: h.column,
				Message: "@" + tag + ": unknown type " + strconv.Quote(text), Nearest: fault.Nearest(text, slices.Values(typeWords)),
			})
		}
	}
}

func (h *header) effect(text string) {
	for _, e := range []engine.Effect{engine.Writes, engine.Reads, engine.Pure} {
		if e.String() == text {
			h.s.Effect = e
			return
		}
	}
	h.add(h.line, h.column, "@effect must be writes, reads or pure")
}

// param reads {type} name, [name] or [name=default], and what it is.
func (h *header) param(text string) {
	// What is not said: a text that has to be given. Brackets around the name make it optional.
	p := engine.Param{Type: "string", Required: true, Order: len(h.s.Params) + 1}
	if strings.HasPrefix(text, "{") {
		word, rest, closed := strings.Cut(text[1:], "}")
		if !closed {
			h.add(h.line, h.column, "@param: } is missing after the type")
			return
		}
		p.Type, text = typeWord(strings.TrimSpace(word)), strings.TrimSpace(rest)
		if !slices.Contains(typeWords, p.Type) {
			h.problems = append(h.problems, Problem{
				File: h.s.File, Line: h.line, Column: h.column,
				Message: "@param: unknown type " + strconv.Quote(word), Nearest: fault.Nearest(p.Type, slices.Values(typeWords)),
			})
		}
	}
	name, rest, _ := strings.Cut(text, " ")
	if strings.HasPrefix(text, "[") {
		var closed bool
		if name, rest, closed = strings.Cut(text[1:], "]"); !closed {
			h.add(h.line, h.column, "@param: ] is missing after the name")
			return
		}
		p.Required = false
		var value string
		var given bool
		if name, value, given = strings.Cut(name, "="); given {
			p.Default = defaultValue(p.Type, strings.TrimSpace(value))
		}
	}
	p.Name, p.Doc = strings.TrimSpace(name), strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "- "))
	switch {
	case p.Name == "":
		h.add(h.line, h.column, "@param: the name is missing")
		return
	case slices.ContainsFunc(h.s.Params, func(o engine.Param) bool { return o.Name == p.Name }):
		h.add(h.line, h.column, "@param "+p.Name+" is a duplicate")
	case p.Doc == "":
		p.Doc = p.Name + "."
	}
	h.s.Params = append(h.s.Params, p)
}

// whole checks what the header as a whole must say.
func (h *header) whole(line int) {
	switch {
	case h.s.Name == "" && !h.seen["operation"]:
		h.add(line, 1, "@operation is missing: the name of the operation")
	case h.s.Description == "":
		h.add(h.s.opLine, h.s.opColumn, "@description is missing: one sentence that says what the operation does")
	}
	if h.s.Label == "" {
		h.s.Label = h.s.Name
	}
	for i := range h.s.Params {
		p := &h.s.Params[i]
		p.Secret = slices.Contains(h.secrets, p.Name) || engine.SecretName(p.Name)
	}
	for _, name := range h.secrets {
		if !slices.ContainsFunc(h.s.Params, func(p engine.Param) bool { return p.Name == name }) {
			h.add(line, 1, "@secret "+name+": unknown @param")
		}
	}
}

// typeWords are the words a header may use for types.
var typeWords = []string{
	"blob", "bloblist", "boolean", "date", "document", "documents", "float", "integer", "list", "long", "map", "object",
	"properties", "serializable", "string", "stringlist", "void",
}

// typeWord turns JavaScript's words for types into ours.
func typeWord(word string) string {
	switch word {
	case "*", "any", "Object":
		return "object"
	case "Array":
		return "list"
	case "Date":
		return "date"
	case "blobs":
		return "bloblist"
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	case "number", "double":
		return "float"
	case "string[]":
		return "stringlist"
	}
	return word
}

func defaultValue(word, text string) any {
	switch word {
	case "string", "date", "document", "documents", "stringlist":
		return strings.Trim(text, `"'`)
	}
	if v, err := decodeJSON([]byte(text)); err == nil && json.Valid([]byte(text)) {
		return v
	}
	return text
}

// Op makes the operation of a script.
func (r *Runner) Op(s *Script) engine.Op { return r.opFor(s, deployed) }

// opFor makes the operation of a script that runs in the workers of an owner; "" those of the caller.
func (r *Runner) opFor(s *Script, owner string) engine.Op {
	j := newJob(s.File, s.Source, true)
	j.owner = owner
	run := func(c *engine.Ctx, in any, params map[string]any) (any, error) {
		out, err := r.run(c, &j, in, params)
		if err != nil {
			return nil, err
		}
		return s.returned(c, out)
	}
	return engine.Op{
		Name: s.Name, Aliases: s.Aliases, Label: s.Label, Category: s.Category, Doc: s.Description, Since: s.Since,
		Effect: s.Effect, SetsAny: s.setsVariables(), Run: engine.Dynamic(s.Params, []string{s.Input, s.Output}, run),
	}
}

// returned is a result as the type that the header declares. A script that declares none returns what it likes; one that
// declares void returns nothing.
func (s *Script) returned(c *engine.Ctx, out any) (any, error) {
	switch {
	case !s.declaresOutput || out == nil:
		return out, nil
	case s.Output == "void":
		return nil, nil
	}
	v, err := c.Convert(out, s.Output)
	if fault.Is(err, fault.Invalid) {
		return nil, fault.Wrap(err, "script %s: its result, by its @output,", s.Name).WithCode(fault.CodeScriptValue)
	}
	if n, ok := v.(int); ok { // what other scripts get is 64 bits wide
		v = int64(n)
	}
	return v, err
}

// setsVariables reports whether the script may set variables of the context, which it does by the name of one of two.
func (s *Script) setsVariables() bool {
	// A text search errs on the side of yes, which only weakens checks; a wrong no would report mistakes that are none.
	return strings.Contains(s.Source, "ctx") || strings.Contains(s.Source, "Context")
}

// run runs a script within a call.
func (r *Runner) run(c *engine.Ctx, given *job, in any, params map[string]any) (any, error) {
	j, err := r.link(*given)
	if err != nil {
		return nil, err
	}
	j.printVersions(c)
	h := &engineHost{c: c, r: r, file: j.file}
	input, err := h.out(in)
	if err != nil {
		return nil, err
	}
	var args map[string]any
	if params != nil {
		m, err := h.outMap(params)
		if err != nil {
			return nil, err
		}
		args = m.(map[string]any)
	}
	around := c.Context
	t, end, err := r.begin(around, c.As.Name)
	if err != nil {
		return nil, err
	}
	defer end()
	// A text that a caller sends runs in processes that have run only texts of the same caller.
	if j.owner == "" {
		j.owner = c.As.Name
	}
	c.Context = t.within(around)
	out, err := r.runInWorker(around, &supervisor{turn: t, host: h, names: r.namesOf(c.Set()), job: j}, input, args)
	c.Context = around
	c.Line(0)
	if err != nil {
		printStack(c, err)
		return nil, err
	}
	return h.back(out)
}

// printStack shows where a script has failed below what the script has printed: in its trace and run, and on the terminal. The
// error itself names the innermost line.
func printStack(c *engine.Ctx, err error) {
	var at *Error
	if errors.As(err, &at) && len(at.Stack) > 1 {
		for line := range strings.Lines(at.Trace()) {
			c.Printed(strings.TrimSpace(line))
		}
	}
}

// tags are what a header may hold.
var tags = []string{
	"@alias", "@category", "@description", "@effect", "@input", "@label", "@operation", "@output", "@param", "@secret", "@since",
}
