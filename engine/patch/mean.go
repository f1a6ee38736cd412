package patch

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
)

// settle checks an edit and gives it its final paths: the last member of a map is removed with the map, and what is set or
// inserted below something that does not exist is set as a whole.
func (t *text) settle(e Edit) (Edit, error) {
	switch e.Action {
	case Set, Insert:
		return t.settleValue(e)
	case Remove:
		return t.settleRemoval(e)
	case Move, Duplicate, Rename:
		return e, t.settleItem(e)
	}
	return e, fault.Invalid.Errorf("action %.40q: must be %s", e.Action, strings.Join(Actions, ", ")).In("action")
}

func (t *text) settleRemoval(e Edit) (Edit, error) {
	p, err := t.existing(e.Path)
	for err == nil && len(p.in) > 1 {
		f, up := p.last(), p.in[len(p.in)-2]
		if f.n.Kind != yaml.MappingNode || len(f.n.Content) > 2 || up.n.Kind != yaml.MappingNode {
			break
		}
		e.Path = e.Path[:strings.LastIndexByte(e.Path, '/')]
		p, _ = p.up()
	}
	return e, err
}

// settleItem checks an edit of what is there.
func (t *text) settleItem(e Edit) error {
	if e.Action == Move && (e.To == e.Path || strings.HasPrefix(e.To, e.Path+"/")) {
		return fault.Invalid.Errorf("to %.100q: a step cannot move into itself", e.To).In("to")
	}
	p, err := t.existing(e.Path)
	switch {
	case err != nil:
		return err
	case e.Action == Move && p.last().n.Kind != yaml.SequenceNode:
		return fault.Invalid.Errorf("path %.100q: only items of lists can be moved", e.Path).In("path")
	case e.Action == Rename && p.last().n.Kind != yaml.MappingNode:
		return fault.Invalid.Errorf("path %.100q: only members of maps have names", e.Path).In("path")
	}
	return nil
}

// settleValue settles what is set or inserted.
func (t *text) settleValue(e Edit) (Edit, error) {
	value, err := e.node()
	if err != nil {
		return e, err
	}
	e.Value = value
	p, rest, err := t.find(e.Path)
	if err != nil {
		return e, err
	}
	n := t.root
	if len(p.in) > 0 {
		n = p.value()
	}
	// An empty value that stands where a map or a list is needed counts as none.
	hollow := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" || n.Kind == yaml.SequenceNode && len(n.Content) == 0
	if hollow && len(rest) > 0 && len(p.in) > 0 {
		rest = append([]string{name(p)}, rest...)
		p, _ = p.up()
		n = t.root
		if len(p.in) > 0 {
			n = p.value()
		}
	}
	for len(rest) > 1 {
		value = wrapped(rest[len(rest)-1], value)
		rest = rest[:len(rest)-1]
		e.Action, e.Value = Set, value
		e.Path = e.Path[:strings.LastIndexByte(e.Path, '/')]
	}
	if !takes(e.Action, n, p, rest) {
		return e, fault.Invalid.Errorf("path %.100q: there is nothing to %s it in", e.Path, e.Action).In("path")
	}
	return e, nil
}

// takes reports whether a value can be set or inserted at a place whose node is n, or below it.
func takes(action string, n *yaml.Node, p place, rest []string) bool {
	switch {
	case len(rest) == 0 && len(p.in) == 0:
		return false
	case action == Insert && len(rest) == 0:
		return p.last().n.Kind == yaml.SequenceNode
	case action == Insert && len(rest) == 1:
		return n.Kind == yaml.SequenceNode && rest[0] == strconv.Itoa(len(n.Content))
	case action == Set && len(rest) == 1:
		return n.Kind == yaml.MappingNode
	}
	return true
}

// node is the value as a node.
func (e Edit) node() (*yaml.Node, error) {
	if value, ok := e.Value.(*yaml.Node); ok {
		return value, nil
	}
	value := &yaml.Node{}
	if err := value.Encode(e.Value); err != nil {
		return nil, fault.Invalid.Errorf("value: %s", err).In("value")
	}
	order(value, e.Order, 0)
	return value, nil
}

// name is the last part of the pointer of a place.
func name(p place) string {
	f := p.last()
	if f.n.Kind == yaml.MappingNode {
		return f.n.Content[f.i-1].Value
	}
	return strconv.Itoa(f.i)
}

// wrapped is a value in the container that a part of a pointer means: a list for 0, else a map.
func wrapped(part string, v *yaml.Node) *yaml.Node {
	if part == "0" {
		return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}}
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{keyNode(part), v}}
}

func keyNode(name string) *yaml.Node {
	k := &yaml.Node{}
	k.SetString(name)
	return k
}

// order sorts the members of maps, which plain values have in none.
func order(n *yaml.Node, keys []string, depth int) {
	if depth > maxDepth {
		return
	}
	if n.Kind == yaml.MappingNode {
		pairs := slices.Collect(slices.Chunk(n.Content, 2))
		slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return rank(keys, a[0].Value) - rank(keys, b[0].Value) })
		n.Content = slices.Concat(pairs...)
	}
	for _, c := range n.Content {
		order(c, keys, depth+1)
	}
}

// rank is the place of a key in an order; those that are not in it come last.
func rank(keys []string, key string) int {
	if i := slices.Index(keys, key); i >= 0 {
		return i
	}
	return len(keys)
}

// mean makes the change in the tree. What it makes is what the changed text has to mean.
func (t *text) mean(e Edit) error {
	p, rest, err := t.find(e.Path)
	if err != nil {
		return err
	}
	value, _ := e.Value.(*yaml.Node)
	switch e.Action {
	case Set:
		t.set(p, rest, value)
	case Remove:
		p.remove()
	case Insert:
		p.insert(rest, value)
	case Move:
		moved := p.value()
		to, err := e.shifted()
		if err != nil {
			return err
		}
		p.remove()
		return t.then(Edit{Action: Insert, Path: to, Value: moved})
	case Duplicate:
		return t.duplicate(p, e.To)
	case Rename:
		return p.rename(e.To)
	}
	return nil
}

// set gives a place a value, or adds a member to the map there.
func (t *text) set(p place, rest []string, value *yaml.Node) {
	if len(rest) == 0 {
		f := p.last()
		f.n.Content[f.i] = value
		return
	}
	n := t.root
	if len(p.in) > 0 {
		n = p.value()
	}
	n.Content = append(n.Content, keyNode(rest[0]), value)
}

// insert puts a value in front of an item, or at the end of the list.
func (p place) insert(rest []string, value *yaml.Node) {
	if len(rest) == 1 {
		n := p.value()
		n.Content = append(n.Content, value)
		return
	}
	f := p.last()
	f.n.Content = slices.Insert(f.n.Content, f.i, value)
}

// duplicate repeats an item behind itself, or a member under another name.
func (t *text) duplicate(p place, to string) error {
	f := p.last()
	if f.n.Kind == yaml.SequenceNode {
		f.n.Content = slices.Insert(f.n.Content, f.i, f.n.Content[f.i])
		return nil
	}
	_, rest, err := t.find(to)
	if err == nil && len(rest) == 0 {
		err = fault.Exists.Errorf("to %.100q: already exists", to).In("to")
	}
	if err != nil {
		return err
	}
	return t.then(Edit{Action: Set, Path: to, Value: p.value()})
}

// rename gives a member the last name of a pointer.
func (p place) rename(to string) error {
	f := p.last()
	parts, err := Split(to)
	if err != nil || len(parts) == 0 {
		return fault.Invalid.Errorf("to %.100q: must name the member", to).In("to")
	}
	name := parts[len(parts)-1]
	if index(f.n, name) >= 0 {
		return fault.Exists.Errorf("to %.100q: already exists", to).In("to")
	}
	f.n.Content[f.i-1] = keyNode(name)
	return nil
}

// then makes a second change in the tree.
func (t *text) then(e Edit) error {
	e, err := t.settleValue(e)
	if err != nil {
		return err
	}
	return t.mean(e)
}

func (p place) remove() {
	f := p.last()
	if f.n.Kind == yaml.MappingNode {
		f.n.Content = slices.Delete(f.n.Content, f.i-1, f.i+1)
		return
	}
	f.n.Content = slices.Delete(f.n.Content, f.i, f.i+1)
}

// shifted is where a moved item goes once it has been taken out from where it was.
func (e Edit) shifted() (string, error) {
	from, err := Split(e.Path)
	if err != nil {
		return "", err
	}
	to, err := Split(e.To)
	if err != nil {
		return "", err
	}
	last := len(from) - 1
	if len(to) > last && slices.Equal(from[:last], to[:last]) {
		was, _ := strconv.Atoi(from[last])
		if at, err := strconv.Atoi(to[last]); err == nil && at > was {
			to[last] = strconv.Itoa(at - 1)
		}
	}
	return Join("", to...), nil
}

// same reports whether two trees mean the same. The order of members has no meaning.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode || a.Kind == yaml.AliasNode {
		return a.ShortTag() == b.ShortTag() && a.Value == b.Value
	}
	if a.Kind == yaml.MappingNode {
		return sameMembers(a, b)
	}
	for i, v := range a.Content {
		if !same(v, b.Content[i]) {
			return false
		}
	}
	return true
}

// sameMembers reports whether two mappings of as many members mean the same, in time that grows with their number alone.
func sameMembers(a, b *yaml.Node) bool {
	members := make(map[string]*yaml.Node, len(b.Content)/2)
	for i := len(b.Content) - 1; i > 0; i -= 2 { // the first of a name counts
		members[b.Content[i-1].Value] = b.Content[i]
	}
	for i := 1; i < len(a.Content); i += 2 {
		other := members[a.Content[i-1].Value]
		if other == nil || !same(a.Content[i], other) {
			return false
		}
	}
	return true
}
