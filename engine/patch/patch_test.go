package patch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const chain = `# what it is for
name: A.Chain   # its name

steps:
  # locks it
  - op: Document.Lock   # first
    as: locked

  # asks
  - if: "locked != null"
    # yes
    then:
      - op: Log
        params: {level: info, message: "yes, it is"} # said
    else: []
  - op: Document.SetProperty
    params:
      # which
      xpath: dc:title
      value: |
        # not a comment
        two lines
    # behind
# at the end
`

func TestApply(t *testing.T) {
	for _, c := range []struct {
		what     string
		e        Edit
		from, to string // what is replaced
	}{
		{"scalar", Edit{Action: Set, Path: "/steps/0/as", Value: "it"}, "as: locked", "as: it"},
		{"comment stays", Edit{Action: Set, Path: "/name", Value: "B"}, "name: A.Chain   #", "name: B   #"},
		{"text that needs no quotes", Edit{Action: Set, Path: "/steps/0/as", Value: "dc:title, [a]"}, "as: locked", "as: dc:title, [a]"},
		{"text that needs quotes", Edit{Action: Set, Path: "/steps/0/as", Value: "true"}, "as: locked", `as: "true"`},
		{"boolean", Edit{Action: Set, Path: "/steps/0/as", Value: true}, "as: locked", "as: true"},
		{"in brackets", Edit{Action: Set, Path: "/steps/1/then/0/params/message", Value: "no, never"}, `"yes, it is"`, `'no, never'`},
		{"new in brackets", Edit{Action: Set, Path: "/steps/1/then/0/params/more", Value: 3}, `is"}`, `is", more: 3}`},
		{"new parameter", Edit{Action: Set, Path: "/steps/0/params/comment", Value: "a: b"}, "as: locked\n", "as: locked\n    params:\n      comment: 'a: b'\n"},
		{"in order", Edit{Action: Set, Path: "/steps/0/params/comment", Value: "a", Order: []string{"op", "params", "as"}}, "# first\n", "# first\n    params:\n      comment: a\n"},
		{"lines", Edit{Action: Set, Path: "/steps/2/params/xpath", Value: "a\nb"}, "xpath: dc:title\n", "xpath: |-\n        a\n        b\n"},
		{"from lines", Edit{Action: Set, Path: "/steps/2/params/value", Value: "x"}, "value: |\n        # not a comment\n        two lines\n", "value: x\n"},
		{"out of brackets", Edit{Action: Remove, Path: "/steps/1/then/0/params/level"}, "level: info, ", ""},
		{"first of a step", Edit{Action: Remove, Path: "/steps/0/op"}, "op: Document.Lock   # first\n    as: locked", "as: locked"},
		{"step with comments", Edit{Action: Remove, Path: "/steps/0"}, "  # locks it\n  - op: Document.Lock   # first\n    as: locked\n", ""},
		{"only step", Edit{Action: Remove, Path: "/steps/1/then/0"}, "then:\n      - op: Log\n        params: {level: info, message: \"yes, it is\"} # said\n", "then: []\n"},
		{"last step", Edit{Action: Remove, Path: "/steps/2"}, chain[strings.Index(chain, "  - op: Document.SetP"):strings.Index(chain, "# at the end")], ""},
		{"into an empty branch", Edit{Action: Insert, Path: "/steps/1/else/0", Value: map[string]any{"op": "X"}}, "else: []", "else:\n      - op: X"},
		{"before", Edit{Action: Insert, Path: "/steps/0", Value: map[string]any{"params": map[string]any{"a": 1}, "op": "X"}, Order: []string{"op", "params"}}, "  # locks it\n", "  - op: X\n    params:\n      a: 1\n  # locks it\n"},
		{"at the end", Edit{Action: Insert, Path: "/steps/3", Value: map[string]any{"op": "X"}}, "    # behind\n", "    # behind\n  - op: X\n"},
		{"duplicate", Edit{Action: Duplicate, Path: "/steps/1/then/0"}, "# said\n", "# said\n      - op: Log\n        params: {level: info, message: \"yes, it is\"} # said\n"},
		{"rename", Edit{Action: Rename, Path: "/steps/1/then", To: "/steps/1/otherwise"}, "then:", "otherwise:"},
		{"into a branch", Edit{Action: Move, Path: "/steps/0", To: "/steps/1/else/0"}, "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := Apply(chain, c.e)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(chain, c.from, c.to, 1)
			if c.e.Action == Move {
				want = strings.Replace(chain, "  # locks it\n  - op: Document.Lock   # first\n    as: locked\n", "", 1)
				want = strings.Replace(want, "    else: []\n", "    else:\n      # locks it\n      - op: Document.Lock   # first\n        as: locked\n", 1)
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		e    Edit
		want string
	}{
		{Edit{Action: "replace", Path: "/name"}, `action "replace": must be set, remove, insert, move, duplicate, rename`},
		{Edit{Action: Set, Path: "name", Value: 1}, `path "name": must be a JSON Pointer such as /steps/0, with at most 63 parts`},
		{Edit{Action: Set, Path: "", Value: 1}, `path "": there is nothing to set it in`},
		{Edit{Action: Remove, Path: "/steps/9"}, `path "/steps/9": does not exist in the text`},
		{Edit{Action: Insert, Path: "/steps/9", Value: 1}, `path "/steps/9": there is nothing to insert it in`},
		{Edit{Action: Move, Path: "/steps/1", To: "/steps/1/then/0"}, `to "/steps/1/then/0": a step cannot move into itself`},
		{Edit{Action: Move, Path: "/name", To: "/steps/0"}, `path "/name": only items of lists can be moved`},
		{Edit{Action: Rename, Path: "/name", To: "/steps"}, `to "/steps": already exists`},
		{Edit{Action: Rename, Path: "/steps/0", To: "/steps/1"}, `path "/steps/0": only members of maps have names`},
	} {
		if got, err := Apply(chain, c.e); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v\n%s", c.e, err, got)
		}
	}
	if _, err := Apply("a: [", Edit{Action: Set, Path: "/a", Value: 1}); err == nil || !strings.HasPrefix(err.Error(), "source: ") {
		t.Error(err)
	}
}

// TestEditsKeepTheRest makes random edits of random texts. Each of them is made, means what it says, and keeps the comments
// of everything else.
func TestEditsKeepTheRest(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := writer{Rand: r}
		src := w.chain()
		for range 12 {
			e := w.edit(src)
			got, err := Apply(src, e)
			if err != nil {
				t.Fatalf("seed %d: %+v: %v\n%s", seed, e, err, src)
			}
			before, after := comments(src), comments(got)
			for _, c := range before {
				if e.Action != Remove && e.Action != Set && !slices.Contains(after, c) {
					t.Fatalf("seed %d: %+v: lost %s\n%s\n---\n%s", seed, e, c, src, got)
				}
			}
			if e.Action == Remove || e.Action == Set {
				if lost := len(before) - len(after); lost > inside(src, e.Path) {
					t.Fatalf("seed %d: %+v: lost %d comments\n%s\n---\n%s", seed, e, lost, src, got)
				}
			}
			src = got
		}
	}
}

// inside counts the comments at and within what a path names, and those of the key before it.
func inside(src, path string) int {
	t, err := read(src)
	if err != nil {
		return 0
	}
	p, rest, err := t.find(path)
	if err != nil || len(rest) > 0 {
		return 0
	}
	for flow(p.last().n) && len(p.in) > 1 {
		p, _ = p.up()
	}
	n := 0
	for i := t.top(p); i < t.bottom(p); i++ {
		if strings.Contains(t.line(i), "#c") {
			n++
		}
	}
	return n + 1
}

func comments(src string) (out []string) {
	for line := range strings.Lines(src) {
		if i := strings.Index(line, "#c"); i >= 0 {
			out = append(out, strings.TrimSpace(line[i:]))
		}
	}
	return out
}

// writer writes chains as people do: with comments, empty lines, brackets, and lists that are indented or not.
type writer struct {
	*rand.Rand
	n int
}

func (w *writer) comment() string { w.n++; return fmt.Sprintf("#c%d", w.n) }

func (w *writer) chain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nname: A\nsteps:\n", w.comment())
	w.steps(&b, 2*w.IntN(2), 0)
	fmt.Fprintf(&b, "%s\noutput: document\n", w.comment())
	return b.String()
}

func (w *writer) steps(b *strings.Builder, indent, depth int) {
	pad := strings.Repeat(" ", indent)
	for range 1 + w.IntN(3) {
		if w.IntN(3) == 0 {
			fmt.Fprintf(b, "\n%s%s\n", pad, w.comment())
		}
		switch k := w.IntN(4); {
		case k == 0 && depth < 2:
			fmt.Fprintf(b, "%s- if: a == 'ü' %s\n%s  then:\n", pad, w.comment(), pad)
			w.steps(b, indent+2+2*w.IntN(2), depth+1)
			fmt.Fprintf(b, "%s  else: [{op: A}, {op: B, params: {a: 'it''s'}}]\n", pad)
		case k == 1:
			fmt.Fprintf(b, "%s- {op: C, params: {a: \"b\", c: [1, 2]}} %s\n", pad, w.comment())
		case k == 2:
			fmt.Fprintf(b, "%s- op: D\n%s  params: %s\n%s    a: >-\n%s      text\n%s      # text\n%s    b:\n%s    %s\n%s    - x\n", pad, pad, w.comment(), pad, pad, pad, pad, pad, w.comment(), pad)
		default:
			fmt.Fprintf(b, "%s- op: E\n%s  as: plain text %s\n", pad, pad, w.comment())
		}
	}
}

// edit chooses an edit that fits a text.
func (w *writer) edit(src string) Edit {
	t, err := read(src)
	if err != nil {
		panic(err)
	}
	var steps, lists []string
	var walk func(path string, n *yaml.Node)
	walk = func(path string, n *yaml.Node) {
		switch n.Kind {
		case yaml.SequenceNode:
			if path[strings.LastIndexByte(path, '/'):] != "/b" && !strings.Contains(path, "params") {
				lists = append(lists, Join(path, fmt.Sprint(len(n.Content))))
				for i := range n.Content {
					steps, lists = append(steps, Join(path, fmt.Sprint(i))), append(lists, Join(path, fmt.Sprint(i)))
				}
			}
			for i, v := range n.Content {
				walk(Join(path, fmt.Sprint(i)), v)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(Join(path, n.Content[i].Value), n.Content[i+1])
			}
		}
	}
	walk("", t.root)
	pick := func(from []string) string { return from[w.IntN(len(from))] }
	values := []any{"x", "a: b", "two\nlines", true, 1.5, nil, []any{"a"}, map[string]any{"k": "v"}, "@{b}"}
	e := Edit{Action: Actions[w.IntN(4)], Order: []string{"op", "params", "as"}}
	if len(steps) == 0 {
		e.Action = Insert
	}
	switch e.Action {
	case Set:
		e.Path, e.Value = Join(pick(steps), "params", []string{"a", "new"}[w.IntN(2)]), values[w.IntN(len(values))]
	case Remove:
		e.Path = pick(steps)
	case Insert:
		e.Path, e.Value = pick(lists), map[string]any{"op": "N", "params": map[string]any{"text": "x, y"}}
	case Move:
		for e.Path = pick(steps); ; {
			e.To = pick(lists)
			if p, _, _ := t.find(e.Path); e.To != e.Path && !strings.HasPrefix(e.To, e.Path+"/") && (!commented(p.value()) && t.plain(p) || w.block(t, e.To)) {
				break
			}
			e.Path = pick(steps)
			if w.IntN(50) == 0 {
				return Edit{Action: Duplicate, Path: pick(steps)}
			}
		}
	}
	return e
}

// plain reports whether nothing is said about an item.
func (t *text) plain(p place) bool { return flow(p.last().n) || !strings.Contains(t.piece(p), "#c") }

// block reports whether a list is written in lines, or will be.
func (w *writer) block(t *text, path string) bool {
	p, _, err := t.find(path[:strings.LastIndexByte(path, '/')])
	return err == nil && (!flow(p.value()) || len(p.value().Content) == 0 && !flow(p.last().n))
}

// TestJSON edits a text that is JSON, which stays JSON.
func TestJSON(t *testing.T) {
	const src = "{\n  \"name\": \"A\",\n  \"steps\": [\n    {\"op\": \"X\"},\n    {\"op\": \"Y\"}\n  ]\n}\n"
	for _, c := range []struct {
		e        Edit
		from, to string
	}{
		{Edit{Action: Set, Path: "/steps/0/params/a", Value: "b\nc"}, `"X"`, `"X", "params": {"a":"b\nc"}`},
		{Edit{Action: Set, Path: "/label", Value: true}, "\n}", ",\n  \"label\": true\n}"},
		{Edit{Action: Insert, Path: "/steps/2", Value: map[string]any{"op": "Z"}}, `"Y"}`, "\"Y\"},\n    {\"op\":\"Z\"}"},
		{Edit{Action: Move, Path: "/steps/1", To: "/steps/0"}, "{\"op\": \"X\"},\n    {\"op\": \"Y\"}", "{\"op\":\"Y\"},\n    {\"op\": \"X\"}"},
		{Edit{Action: Remove, Path: "/steps/1"}, ",\n    {\"op\": \"Y\"}", ""},
	} {
		got, err := Apply(src, c.e)
		if want := strings.Replace(src, c.from, c.to, 1); err != nil || got != want {
			t.Errorf("%+v: %v\n%s\nwant\n%s", c.e, err, got, want)
		}
	}
}

// FuzzApply edits texts that nobody would write: an edit is made as it is meant, or refused.
func FuzzApply(f *testing.F) {
	for _, path := range []string{"/steps/0", "/steps/1/then/0/params/level", "/name", "/steps/0/op"} {
		f.Add(chain, path, uint8(1))
	}
	for _, src := range []string{"a: {b, c: }", "- - a\n  - b", "? a\n: b", "a: &x 1\nb: *x", "a: |+\n\n b\n\n", "{a: [b: c, ], }", "\"a\":\n- 'x\n\n  y'", "a: !!str\n...\n"} {
		f.Add(src, "/a", uint8(0))
		f.Add(src, "/0", uint8(1))
	}
	f.Fuzz(func(t *testing.T, src, path string, action uint8) {
		if len(src) > 2000 {
			return
		}
		e := Edit{Action: Actions[int(action)%len(Actions)], Path: path, To: "/steps/1", Value: "x"}
		_, _ = Apply(src, e)
	})
}
