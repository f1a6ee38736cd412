package scenario

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// Script is a scenario file.
type Script struct {
	Path  string
	steps []*step
	files map[string][]byte
	tail  []txtar.File
}

// step is a command, or lines that only people read.
type step struct {
	line   int
	source string // its lines as they are, without what is expected
	verb   string // run, chain, script, as, user, let; "" for comments
	dry    bool
	args   string
	expect string // JSON, or the failure
	fails  bool
	given  bool // something is expected
}

// answers reports whether a command has an answer to compare.
func (s *step) answers() bool { return s.verb == "run" || s.verb == "chain" || s.verb == "script" }

// Read reads a scenario file.
func Read(file string) (*Script, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Parse reads the text of a scenario file.
func Parse(file string, data []byte) (*Script, error) {
	a := txtar.Parse(data)
	s := &Script{Path: file, tail: a.Files, files: map[string][]byte{}}
	for _, f := range a.Files {
		s.files[f.Name] = f.Data
	}
	lines := strings.SplitAfter(string(a.Comment), "\n")
	for i := 0; i < len(lines); {
		if lines[i] == "" {
			break
		}
		first := i
		text := lines[i]
		for i++; isCommand(text) && open(text) && i < len(lines); i++ {
			text += lines[i]
		}
		if err := s.add(first+1, text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, first+1, err)
		}
	}
	return s, nil
}

// isCommand reports whether a line is more than a comment or a blank one.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "!")
}

func (s *Script) add(line int, text string) error {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || trimmed[0] == '#':
		s.steps = append(s.steps, &step{line: line, source: text})
		return nil
	case trimmed[0] == '=' || trimmed[0] == '!':
		return s.expect(trimmed)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	st := &step{line: line, source: text}
	verb, args, _ := strings.Cut(trimmed, " ")
	if verb == "dry" {
		st.dry = true
		verb, args, _ = strings.Cut(strings.TrimSpace(args), " ")
	}
	st.verb, st.args = verb, strings.TrimSpace(args)
	switch {
	case st.answers():
	case st.dry:
		return fmt.Errorf("dry %s: only calls may be dry", verb)
	case verb != "as" && verb != "user" && verb != "let":
		return fmt.Errorf("there is no command %q", verb)
	}
	if st.args == "" {
		return fmt.Errorf("%s what?", verb)
	}
	s.steps = append(s.steps, st)
	return nil
}

// expect takes in what the command before is to return.
func (s *Script) expect(text string) error {
	if len(s.steps) == 0 {
		return fmt.Errorf("%q follows no command", text)
	}
	st := s.steps[len(s.steps)-1]
	if !st.answers() || st.given {
		return fmt.Errorf("%q follows no command", text)
	}
	st.given, st.fails, st.expect = true, text[0] == '!', strings.TrimSpace(text[1:])
	return nil
}

// Text returns the file as it is to be written.
func (s *Script) Text() []byte {
	var b bytes.Buffer
	for _, st := range s.steps {
		b.WriteString(st.source)
		switch {
		case !st.given:
		case st.fails:
			b.WriteString("! " + st.expect + "\n")
		default:
			b.WriteString("= " + st.expect + "\n")
		}
	}
	return txtar.Format(&txtar.Archive{Comment: b.Bytes(), Files: s.tail})
}

var stepOp = regexp.MustCompile(`(?m)^ *- (?:op:|\{op:) *([\w.]+)`)

// Ops returns the operations that the script runs by name, itself or in its chains.
func (s *Script) Ops() []string {
	var out []string
	for _, f := range s.tail {
		for _, m := range stepOp.FindAllSubmatch(f.Data, -1) {
			out = append(out, string(m[1]))
		}
	}
	for _, st := range s.steps {
		switch st.verb {
		case "run":
			name, _, _ := strings.Cut(strings.ReplaceAll(st.args, "\n", " "), " ")
			out = append(out, name)
		case "chain":
			out = append(out, "Chain.Save")
		case "script":
			out = append(out, "Script.Save")
		}
	}
	return out
}
