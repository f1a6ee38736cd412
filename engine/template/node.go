package template

import (
	"errors"
	"strings"
)

// text stands for itself.
type text struct {
	at pos
	s  string
}

func (n *text) exec(r *run) error { return r.write(n.at, n.s) }

// group is the content of a tag that has no effect while rendering, such as <#escape>.
type group []node

func (n group) exec(r *run) error { return r.all(n) }

// interpolation shows a value: ${…}. Which escapes apply depends on where it stands in the source, not on
// when it is rendered, so the parser stores them in it.
type interpolation struct {
	at      pos
	x       expression
	escapes []escaping
	format  string
}

func (n *interpolation) exec(r *run) error {
	v, err := n.through(r, 0)
	if err == nil && v == nil {
		err = &missing{n.x.position(), nameOf(n.x)}
	}
	if err != nil {
		return err
	}
	s, err := r.text(n.x.position(), v)
	if err != nil {
		return err
	}
	// Markup was made safe when it was made; escaping it again would show the tags.
	if _, safe := v.(markup); !safe {
		s = safeFor(n.format, s)
	}
	return r.write(n.at, s)
}

// safeFor makes text safe in a format.
func safeFor(format, s string) string {
	switch format {
	case "html":
		return htmlEscapes.Replace(s)
	case "xml":
		return xmlEscapes.Replace(s)
	}
	return s
}

// through evaluates the escape of a number, which sees what those within it make.
func (n *interpolation) through(r *run, i int) (any, error) {
	if i == len(n.escapes) {
		return r.eval(n.x)
	}
	v, err := n.through(r, i+1)
	if err != nil {
		return nil, err
	}
	// <#escape x as x?html> is applied from the inside out: the expression of each sees the result of the
	// next as its variable.
	r.locals = append(r.locals, map[string]any{n.escapes[i].name: v})
	defer func() { r.locals = r.locals[:len(r.locals)-1] }()
	return r.need(n.escapes[i].as)
}

// branch is a part of a condition or a choice.
type branch struct {
	when expression // nil: otherwise
	body []node
}

// condition is <#if>, with its <#elseif> and <#else> in order; @if{} of the other language is the same.
type condition struct {
	at       pos
	branches []branch
}

func (n *condition) exec(r *run) error {
	if err := r.step(n.at, 0); err != nil {
		return err
	}
	for i := range n.branches {
		b := &n.branches[i]
		if b.when != nil {
			if ok, err := r.truth(b.when); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		return r.all(b.body)
	}
	return nil
}

// choice goes on with the branches behind the one that suits until something breaks it off.
type choice struct {
	at       pos
	of       expression
	branches []branch
	// the branch for no other, which need not be the last; -1: none
	otherwise int
}

func (n *choice) exec(r *run) error {
	v, err := r.need(n.of)
	if err != nil {
		return err
	}
	from := n.otherwise
	for i := range n.branches {
		if n.branches[i].when == nil {
			continue
		}
		w, err := r.need(n.branches[i].when)
		if err != nil {
			return err
		}
		// Only the first branch that is equal counts; the following bodies run too, until a break, as in C.
		same, err := r.equal(n.branches[i].when.position(), v, w)
		if err != nil {
			return err
		}
		if same {
			from = i
			break
		}
	}
	for i := max(from, 0); from >= 0 && i < len(n.branches); i++ {
		if err := r.all(n.branches[i].body); err != nil {
			if signals(err, "break") {
				return nil
			}
			return err
		}
	}
	return nil
}

// signal leaves a loop, a choice or a macro: <#break>, <#continue> and <#return>. It travels as an error
// through the nodes between, and what it belongs to stops it (signals). It is copied when it is raised, since
// a template may be rendered by several goroutines at once and nodes must not change.
type signal struct {
	at   pos
	kind string
	x    expression
	v    any
}

func (n *signal) Error() string { return "<#" + n.kind + ">" }

func (n *signal) exec(r *run) error {
	if err := r.step(n.at, 0); err != nil {
		return err
	}
	out := *n
	if n.x != nil {
		var err error
		if out.v, err = r.need(n.x); err != nil {
			return err
		}
	}
	return &out
}

func signals(err error, kind string) bool {
	var s *signal
	return errors.As(err, &s) && s.kind == kind
}

// stop ends the rendering with an error of the template: <#stop "reason">.
type stop struct {
	at pos
	x  expression
}

func (n *stop) exec(r *run) error {
	why := "stopped"
	if n.x != nil {
		s, err := r.textOf(n.x)
		if err != nil {
			return err
		}
		why = s
	}
	return n.at.fail("%s", cut(why))
}

// loop is where a list is; index counts from 0.
type loop struct{ index, size int }

type list struct {
	at              pos
	of              expression
	names           []string // none: <#items> has them
	body, otherwise []node
}

// pair is an entry of a hash that is gone through.
type pair struct {
	key   string
	value any
}

// itemsMark is where the items of a list wait for <#items>, and betweenMark where a loop is known to <#sep>.
const (
	itemsMark   = "\x00items"
	betweenMark = "\x00loop"
)

func (n *list) exec(r *run) error {
	v, err := r.need(n.of)
	if err != nil {
		return err
	}
	all, ok := items(v)
	// <#list hash as key, value> goes through the entries; with one variable, a hash is not accepted as a list.
	if isHash(v) && len(n.names) != 1 {
		keys, err := r.keys(n.at, v)
		if err != nil {
			return err
		}
		if err := r.step(n.at, len(keys)*entrySize); err != nil {
			return err
		}
		ok = true
		for _, k := range keys {
			all = append(all, pair{k, valueOf(v, k)})
		}
	}
	switch {
	case !ok:
		return n.of.position().fail("expected a list, not %s", what(v))
	case len(all) == 0:
		return r.all(n.otherwise)
	case len(n.names) > 0:
		return r.goThrough(n.at, all, n.names, n.body)
	}
	r.locals = append(r.locals, map[string]any{itemsMark: all})
	defer func() { r.locals = r.locals[:len(r.locals)-1] }()
	err = r.all(n.body)
	if signals(err, "break") {
		return nil
	}
	return err
}

// goThrough writes the body for each item.
func (r *run) goThrough(at pos, all []any, names []string, body []node) error {
	depth := len(r.locals)
	defer func() { r.locals = r.locals[:depth] }()
	for i, item := range all {
		if err := r.step(at, entrySize); err != nil { // for the scope
			return err
		}
		l := &loop{i, len(all)}
		scope := map[string]any{loopMark + names[0]: l, betweenMark: l}
		p, isPair := item.(pair)
		switch {
		case isPair && len(names) == 2:
			scope[names[0]], scope[names[1]] = p.key, p.value
		case isPair || len(names) == 2:
			return at.fail("a loop over a hash has two variables, a loop over a list has one")
		default:
			scope[names[0]] = normal(item)
			// Older templates use these variables, newer ones item?index and item?has_next.
			scope[names[0]+"_index"], scope[names[0]+"_has_next"] = int64(i), i+1 < len(all)
		}
		r.locals = append(r.locals[:depth], scope)
		if err := r.all(body); err != nil && !signals(err, "continue") {
			if signals(err, "break") {
				return nil
			}
			return err
		}
	}
	return nil
}

type itemsOf struct {
	at    pos
	names []string
	body  []node
}

func (n *itemsOf) exec(r *run) error {
	for i := len(r.locals) - 1; i >= 0; i-- {
		if all, ok := r.locals[i][itemsMark].([]any); ok {
			return r.goThrough(n.at, all, n.names, n.body)
		}
		if _, bottom := r.locals[i][bottomOfMacro]; bottom {
			break
		}
	}
	return n.at.fail("<#items> must be in a <#list> without a variable")
}

// between is written unless the item is the last: <#sep>
type between struct {
	at   pos
	body []node
}

func (n *between) exec(r *run) error {
	if err := r.step(n.at, len(r.locals)*scopeSize); err != nil {
		return err
	}
	for i := len(r.locals) - 1; i >= 0; i-- {
		if l, ok := r.locals[i][betweenMark].(*loop); ok {
			if l.index+1 == l.size {
				return nil
			}
			return r.all(n.body)
		}
	}
	return n.at.fail("<#sep> is outside a loop")
}

type assignment struct {
	at       pos
	local    bool
	names    []string
	values   []expression
	captures bool
	capture  []node
	format   string
}

// exec assigns to the template's variables, or to those of the innermost macro.
func (n *assignment) exec(r *run) error {
	if err := r.step(n.at, 0); err != nil {
		return err
	}
	into := r.own
	if n.local {
		into = nil
		for i := len(r.locals) - 1; i >= 0 && into == nil; i-- {
			// <#local> belongs to the macro, however many loops are around it.
			if _, bottom := r.locals[i][bottomOfMacro]; bottom {
				into = r.locals[i]
			}
		}
		if into == nil {
			return n.at.fail("<#local> is outside a macro")
		}
	}
	if n.captures {
		s, err := r.captured(n.capture)
		if err != nil {
			return err
		}
		into[n.names[0]] = s
		if n.format != "" {
			into[n.names[0]] = markup(s)
		}
		return nil
	}
	for i, x := range n.values {
		v, err := r.need(x)
		if err != nil {
			return err
		}
		into[n.names[i]] = v
	}
	return nil
}

// settings are those there are.
var settings = map[string]bool{
	"number_format": true, "date_format": true, "time_format": true, "datetime_format": true, "boolean_format": true,
	"locale": true, "time_zone": true, "url_escaping_charset": true, "output_encoding": true,
}

type setting struct {
	at   pos
	name string
	x    expression
}

func (n *setting) exec(r *run) error {
	s, err := r.textOf(n.x)
	if err != nil {
		return err
	}
	switch n.name {
	case "number_format":
		r.number = s
	case "date_format":
		r.date = s
	case "time_format":
		r.time = s
	case "datetime_format":
		r.datetime = s
	case "boolean_format":
		r.boolean = s
		if s == "c" {
			r.boolean = "true,false"
		}
	case "locale":
		// Names of months and the form of numbers are those of English; pretending another locale would give
		// wrong output.
		if !strings.HasPrefix(s, "en") {
			return n.at.fail("the locale is en, and cannot be %q", cut(s))
		}
	case "time_zone":
		if s != "UTC" && s != "GMT" {
			return n.at.fail("the time zone is UTC, and cannot be %q", cut(s))
		}
	default:
		if !strings.EqualFold(s, "utf-8") {
			return n.at.fail("%s is UTF-8, and cannot be %q", n.name, cut(s))
		}
	}
	return nil
}
