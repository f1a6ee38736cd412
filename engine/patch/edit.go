package patch

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
)

// stuck is what edits return that cannot be made in place.
func stuck(path string) error {
	return fault.Invalid.Errorf("path %q: the text there is written in a way that cannot be changed in place; change the text itself", path).In("path")
}

// edit makes the change in the text.
func (t *text) edit(e Edit) (string, error) {
	p, rest, err := t.find(e.Path)
	if err != nil {
		return "", err
	}
	switch e.Action {
	case Set:
		return t.put(p, rest, e, "")
	case Insert:
		return t.insert(p, rest, e, "")
	case Remove:
		return t.remove(p, e.Path)
	case Move:
		return t.move(p, e)
	case Duplicate:
		f := p.last()
		if f.n.Kind != yaml.SequenceNode {
			return t.again(Edit{Action: Set, Path: e.To, Value: p.value(), Order: e.Order}, "")
		}
		if flow(f.n) {
			return t.flowItem(p, p.value(), e.Path)
		}
		return t.lines(t.bottom(p), t.piece(p), t.column(p)), nil
	default: // Rename
		key := p.last().n.Content[p.last().i-1]
		end, ok := t.end(key)
		parts, err := Split(e.To)
		if err != nil || !ok {
			return "", stuck(e.Path)
		}
		return t.splice(t.offset(key), end, t.inline(keyNode(parts[len(parts)-1]))), nil
	}
}

// again makes a second change, of a value that is written as raw if it comes into a block.
func (t *text) again(e Edit, raw string) (string, error) {
	path := e.Path
	e, err := t.settleValue(e)
	if err != nil {
		return "", err
	}
	if strings.Count(path, "/")-strings.Count(e.Path, "/") > 1 { // it comes with more around it
		raw = ""
	}
	p, rest, err := t.find(e.Path)
	if err != nil {
		return "", err
	}
	if e.Action == Insert {
		return t.insert(p, rest, e, raw)
	}
	return t.put(p, rest, e, raw)
}

// put gives a member or an item a value.
func (t *text) put(p place, rest []string, e Edit, raw string) (string, error) {
	value := e.Value.(*yaml.Node)
	if len(rest) > 0 {
		return t.add(p, rest[0], e, raw)
	}
	f, old := p.last(), p.value()
	end, ok := t.end(old)
	written := ok && old.Line > 0 && end > t.offset(old)
	if flow(f.n) {
		if !written {
			return "", stuck(e.Path)
		}
		return t.splice(t.offset(old), end, t.inline(value)), nil
	}
	if written && short(value) && !flow(old) { // less has to be quoted than between brackets
		return t.splice(t.offset(old), end, strings.TrimSuffix(block(flat(value, 0)), "\n")), nil
	}
	if written && (short(value) || hollow(value) || flow(old) && !hollow(old)) {
		return t.splice(t.offset(old), end, t.inline(value)), nil
	}
	stop := t.lineStart(t.bottom(p))
	if f.n.Kind == yaml.SequenceNode {
		return t.splice(t.offset(old), stop, indented(block(value), old.Column-1)), nil
	}
	key := f.n.Content[f.i-1]
	return t.splice(t.offset(key), stop, indented(member(key, value, raw), key.Column-1)), nil
}

// short reports whether a value is a scalar of one line.
func short(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "\n") }

// hollow reports whether a value is a container of nothing.
func hollow(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode && len(n.Content) == 0 }

// add gives a map a new member.
func (t *text) add(p place, name string, e Edit, raw string) (string, error) {
	n, value := t.root, e.Value.(*yaml.Node)
	if len(p.in) > 0 {
		n = p.value()
	}
	key := keyNode(name)
	if !flow(n) {
		at := behind(n, name, e.Order)
		q := place{append(p.in[:len(p.in):len(p.in)], frame{n, at})}
		return t.lines(t.bottom(q), member(key, value, raw), t.column(q)), nil
	}
	return t.append(n, t.inline(key)+": "+t.inline(value), e.Path)
}

// behind is the member behind which a new one comes: the last of those that are written before it.
func behind(n *yaml.Node, name string, order []string) int {
	at := len(n.Content) - 1
	if mine := rank(order, name); mine < len(order) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if rank(order, n.Content[i].Value) < mine {
				at = i + 1
			}
		}
	}
	return at
}

// append writes something at the end of a container in brackets.
func (t *text) append(n *yaml.Node, written, path string) (string, error) {
	end, ok := t.end(n)
	if !ok {
		return "", stuck(path)
	}
	if len(n.Content) == 0 {
		return t.splice(t.offset(n)+1, end-1, written), nil
	}
	last, ok := t.end(n.Content[len(n.Content)-1])
	if !ok {
		return "", stuck(path)
	}
	return t.splice(last, last, ","+between(n)+written), nil
}

// between is what stands between what a container in brackets holds.
func between(n *yaml.Node) string {
	if first := n.Content[0]; first.Line != n.Line {
		return "\n" + strings.Repeat(" ", first.Column-1)
	}
	return " "
}

// insert puts an item before another one, or at the end.
func (t *text) insert(p place, rest []string, e Edit, raw string) (string, error) {
	value := e.Value.(*yaml.Node)
	if len(rest) > 0 {
		n := p.value()
		if flow(n) {
			return t.append(n, t.inline(value), e.Path)
		}
		q := place{append(p.in[:len(p.in):len(p.in)], frame{n, len(n.Content) - 1})}
		return t.lines(t.bottom(q), item(value, raw), t.column(q)), nil
	}
	if flow(p.last().n) {
		return t.flowItem(p, value, e.Path)
	}
	return t.lines(t.top(p), item(value, raw), t.column(p)), nil
}

// flowItem puts an item before the one at a place in brackets.
func (t *text) flowItem(p place, value *yaml.Node, path string) (string, error) {
	if commented(value) {
		return "", fault.Invalid.Errorf("path %.100q: a step with comments cannot be put into a list that is written in brackets", path).In("path")
	}
	at := t.offset(p.value())
	return t.splice(at, at, t.inline(value)+","+between(p.last().n)), nil
}

// remove takes out a member or an item.
func (t *text) remove(p place, path string) (string, error) {
	f := p.last()
	step := 1
	if f.n.Kind == yaml.MappingNode {
		step = 2
	}
	if len(f.n.Content) == step {
		return t.clear(p, path)
	}
	begin := func(i int) int { return t.offset(f.n.Content[i-step+1]) }
	if flow(f.n) {
		if f.i+1 < len(f.n.Content) {
			return t.splice(begin(f.i), begin(f.i+step), ""), nil
		}
		from, ok := t.end(f.n.Content[f.i-step])
		to, ok2 := t.end(f.n.Content[f.i])
		if !ok || !ok2 {
			return "", stuck(path)
		}
		return t.splice(from, to, ""), nil
	}
	if start := t.lineStart(t.first(p)); strings.TrimLeft(t.src[start:start+t.column(p)], " ") != "" { // behind a dash
		return t.splice(begin(f.i), begin(f.i+step), ""), nil
	}
	return t.splice(t.lineStart(t.top(p)), t.lineStart(t.bottom(p)), ""), nil
}

// clear empties the container whose last member or item is removed.
func (t *text) clear(p place, path string) (string, error) {
	n := p.last().n
	none := &yaml.Node{Kind: n.Kind, Style: yaml.FlowStyle}
	up, ok := p.up()
	if !ok {
		return "", stuck(path)
	}
	return t.put(up, nil, Edit{Path: path, Value: none}, "")
}

// move puts an item elsewhere, with the comments above and within it.
func (t *text) move(p place, e Edit) (string, error) {
	to, err := e.shifted()
	if err != nil {
		return "", err
	}
	raw, value := "", p.value()
	if !flow(p.last().n) {
		raw = t.piece(p)
	}
	out, err := t.remove(p, e.Path)
	if err != nil {
		return "", err
	}
	left, err := read(out)
	if err != nil {
		return "", stuck(e.Path)
	}
	return left.again(Edit{Action: Insert, Path: to, Value: value, Order: e.Order}, raw)
}

// piece are the lines of an item of a block, as they are where nothing is indented.
func (t *text) piece(p place) string {
	var b strings.Builder
	column := t.column(p)
	for i := t.top(p); i < t.bottom(p); i++ {
		line := t.line(i)
		for range column {
			line = strings.TrimPrefix(line, " ")
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// lines puts lines before one, indented.
func (t *text) lines(at int, lines string, column int) string {
	start := t.lineStart(at)
	before := t.src[:start]
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + strings.Repeat(" ", column) + indented(lines, column) + t.src[start:]
}

// indented are lines of which all but the first are indented.
func indented(lines string, column int) string {
	out := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	for i, line := range out[1:] {
		if line != "" {
			out[i+1] = strings.Repeat(" ", column) + line
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// block is a value in lines.
func block(n *yaml.Node) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if enc.Encode(n) != nil || enc.Close() != nil {
		return ""
	}
	return b.String()
}

// member is a member of a map in lines; raw are the lines of the only item of its list.
func member(key, value *yaml.Node, raw string) string {
	key = flat(key, 0) // its comments are in the text already
	if raw == "" {
		return block(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}})
	}
	return strings.TrimSuffix(block(key), "\n") + ":\n  " + indented(raw, 2)
}

// item is an item of a list in lines.
func item(value *yaml.Node, raw string) string {
	if raw != "" {
		return raw
	}
	return block(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}})
}

// inline is a value on one line, as it can stand between brackets.
func (t *text) inline(n *yaml.Node) string {
	if t.json {
		var v any
		if n.Decode(&v) != nil {
			return ""
		}
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
	one := flat(n, 0)
	lines := block(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{one}})
	return strings.TrimSuffix(strings.TrimPrefix(lines, "["), "]\n")
}

// flat is a copy of a value without line ends and comments.
func flat(n *yaml.Node, depth int) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style &^ (yaml.LiteralStyle | yaml.FoldedStyle)}
	switch {
	case n.Kind != yaml.ScalarNode:
		c.Style = yaml.FlowStyle
	case strings.Contains(n.Value, "\n"):
		c.Style = yaml.DoubleQuotedStyle
	}
	for _, v := range n.Content {
		if depth < maxDepth {
			c.Content = append(c.Content, flat(v, depth+1))
		}
	}
	return c
}

// commented reports whether there are comments at or within a value.
func commented(n *yaml.Node) bool {
	if n.HeadComment != "" || n.LineComment != "" || n.FootComment != "" {
		return true
	}
	for _, v := range n.Content {
		if commented(v) {
			return true
		}
	}
	return false
}
