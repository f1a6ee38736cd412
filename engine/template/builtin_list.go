package template

import (
	"slices"
	"strings"
)

// ofList makes a built-in of a list; each item counts.
func ofList(least, most int, f func(r *run, x *built, list []any) (any, error)) builtin {
	return builtin{least: least, most: most, f: func(r *run, x *built, v any) (any, error) {
		list, ok := items(v)
		if !ok {
			return nil, x.at.fail("?%s requires a list, not %s", x.name, what(v))
		}
		if err := r.step(x.at, len(list)*itemSize); err != nil {
			return nil, err
		}
		return f(r, x, list)
	}}
}

var listBuiltins = map[string]builtin{
	// A view has to be gone through, since it also holds what templates do not see.
	"size": {f: func(r *run, x *built, v any) (any, error) {
		switch v := v.(type) {
		case *hash:
			return int64(len(v.keys)), nil
		case view:
			return int64(v.size()), r.step(x.at, len(v)*scopeSize)
		}
		list, ok := items(v)
		if !ok {
			return nil, x.at.fail("?size requires a list or a hash, not %s", what(v))
		}
		return int64(len(list)), nil
	}},
	// The first and the last of an empty list are missing and not an error, so that a default can replace them.
	"first": ofList(0, 0, func(_ *run, _ *built, list []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return normal(list[0]), nil
	}),
	"last": ofList(0, 0, func(_ *run, _ *built, list []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return normal(list[len(list)-1]), nil
	}),
	"reverse": ofList(0, 0, func(_ *run, _ *built, list []any) (any, error) {
		list = slices.Clone(list)
		slices.Reverse(list)
		return list, nil
	}),
	"join": ofList(1, 3, join),
	"sort": ofList(0, 0, func(r *run, x *built, list []any) (any, error) { return r.sorted(x, list, nil) }),
	"sort_by": ofList(1, 1, func(r *run, x *built, list []any) (any, error) {
		v, err := r.need(x.args[0])
		if err != nil {
			return nil, err
		}
		// A list of names leads into hashes within hashes.
		path, ok := v.([]any)
		if !ok {
			path = []any{v}
		}
		return r.sorted(x, list, path)
	}),
	"min": ofList(0, 0, extreme(-1)), "max": ofList(0, 0, extreme(1)),
	"seq_contains": ofList(1, 1, func(r *run, x *built, list []any) (any, error) {
		i, err := r.find(x, list)
		return i >= 0, err
	}),
	"seq_index_of": ofList(1, 1, func(r *run, x *built, list []any) (any, error) {
		i, err := r.find(x, list)
		return int64(i), err
	}),
	"seq_last_index_of": ofList(1, 1, func(r *run, x *built, list []any) (any, error) {
		list = slices.Clone(list)
		slices.Reverse(list)
		i, err := r.find(x, list)
		if i >= 0 {
			i = len(list) - 1 - i
		}
		return int64(i), err
	}),
	"chunk":  ofList(1, 2, chunk),
	"filter": ofList(1, 1, filter), "map": ofList(1, 1, mapped),
	"keys": {f: func(r *run, x *built, v any) (any, error) {
		if !isHash(v) {
			return nil, x.at.fail("?keys requires a hash, not %s", what(v))
		}
		keys, err := r.keys(x.at, v)
		if err != nil {
			return nil, err
		}
		return r.listOf(x.at, keys)
	}},
	"values": {f: func(r *run, x *built, v any) (any, error) {
		if !isHash(v) {
			return nil, x.at.fail("?values requires a hash, not %s", what(v))
		}
		keys, err := r.keys(x.at, v)
		if err != nil {
			return nil, err
		}
		if err := r.made(x.at, len(keys)*itemSize); err != nil {
			return nil, err
		}
		out := make([]any, len(keys))
		for i, k := range keys {
			out[i] = valueOf(v, k)
		}
		return out, nil
	}},
}

// join is ?join(between, ifEmpty, after). Missing items are left out, with their separators; a list of nothing else is empty.
func join(r *run, x *built, list []any) (any, error) {
	args, err := x.texts(r)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	written := false
	for _, item := range list {
		if item == nil {
			continue
		}
		s, err := r.text(x.at, normal(item))
		if err != nil {
			return nil, err
		}
		if written {
			b.WriteString(args[0])
		}
		written = true
		b.WriteString(s)
		if err := r.grown(x.at, b.Len(), len(args[0])+len(s)); err != nil {
			return nil, err
		}
	}
	switch {
	case !written && len(args) > 1:
		return args[1], nil
	case written && len(args) > 2:
		b.WriteString(args[2])
	}
	return b.String(), nil
}

// find is where a list has a value of the same kind; -1 if it has none.
func (r *run) find(x *built, list []any) (int, error) {
	v, err := r.need(x.args[0])
	if err != nil {
		return -1, err
	}
	for i, item := range list {
		// Values that cannot be compared, such as a text and a number, are not the same here; elsewhere that is an error.
		same, err := r.equal(x.at, normal(item), v)
		if same && err == nil {
			return i, nil
		}
	}
	return -1, nil
}

// sorted is the list in order, by what a path leads to in each. Keys are computed once for each item. Each
// comparison is counted, so that a long list ends with an error of the limit; the sort then goes on with all
// items equal, which is linear.
func (r *run) sorted(x *built, list, path []any) (any, error) {
	type keyed struct {
		key, item any
	}
	all := make([]keyed, len(list))
	for i, item := range list {
		key := normal(item)
		if err := r.step(x.at, len(path)*itemSize); err != nil {
			return nil, err
		}
		for _, step := range path {
			name, ok := step.(string)
			if !ok {
				return nil, x.at.fail("?sort_by requires names, not %s", what(step))
			}
			if !isHash(key) {
				return nil, x.at.fail("?sort_by requires hashes, not %s", what(key))
			}
			key = valueOf(key, name)
		}
		if key == nil {
			return nil, x.at.fail("item %d of the list has no value to sort by", i)
		}
		all[i] = keyed{key, item}
	}
	var failed error
	slices.SortStableFunc(all, func(a, b keyed) int {
		if failed == nil {
			failed = r.step(x.at, sizeOf(a.key)+sizeOf(b.key))
		}
		if failed != nil {
			return 0
		}
		var c int
		c, failed = sortOrder(x.at, a.key, b.key)
		return c
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(all))
	for i := range all {
		out[i] = all[i].item
	}
	return out, nil
}

// sizeOf is what comparing a value costs.
func sizeOf(v any) int {
	s, _ := v.(string)
	return itemSize + len(s)
}

// sortOrder orders also texts, upper and lower case together, and false before true.
func sortOrder(at pos, left, right any) (int, error) {
	switch a := left.(type) {
	case string:
		if b, ok := right.(string); ok {
			if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
				return c, nil
			}
			return -strings.Compare(a, b), nil // a before A
		}
	case bool:
		if b, ok := right.(bool); ok {
			switch {
			case a == b:
				return 0, nil
			case a:
				return 1, nil
			}
			return -1, nil
		}
	}
	return compare(at, left, right)
}

// extreme is the smallest (-1) or the largest (1) item; missing ones do not take part, and an empty list has
// none.
func extreme(sign int) func(r *run, x *built, list []any) (any, error) {
	return func(_ *run, x *built, list []any) (any, error) {
		// Nothing is counted here: ofList has counted each item, and a comparison takes no longer than that.
		var best any
		for _, item := range list {
			v := normal(item)
			if v == nil {
				continue
			}
			if best == nil {
				best = v
				continue
			}
			c, err := compare(x.at, v, best)
			if err != nil {
				return nil, err
			}
			if c*sign > 0 {
				best = v
			}
		}
		return best, nil
	}
}

// chunk is the list in lists of a size; the last is filled up with the second argument.
func chunk(r *run, x *built, list []any) (any, error) {
	size, err := r.whole(x.args[0])
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, x.at.fail("?chunk requires a size of at least 1")
	}
	if err := r.made(x.at, len(list)*itemSize); err != nil {
		return nil, err
	}
	var out []any
	for part := range slices.Chunk(list, size) {
		if len(x.args) == 2 && len(part) < size {
			if err := r.made(x.at, size*itemSize); err != nil {
				return nil, err
			}
			// It is evaluated only if the last part is too short, so a missing value does no harm otherwise.
			fill, err := r.need(x.args[1])
			if err != nil {
				return nil, err
			}
			part = slices.Clone(part)
			for len(part) < size {
				part = append(part, fill)
			}
		}
		out = append(out, part)
	}
	return out, nil
}

// each calls a function of a template with an item. The function sees the variables around it, and its
// parameter in a scope of its own.
func (r *run) each(x *built, item any) (any, error) {
	l, ok := x.args[0].(*lambda)
	if !ok {
		return nil, x.at.fail("?%s requires a function, such as x -> x.title", x.name)
	}
	if err := r.step(x.at, entrySize); err != nil { // for the scope
		return nil, err
	}
	r.locals = append(r.locals, map[string]any{l.name: normal(item)})
	defer func() { r.locals = r.locals[:len(r.locals)-1] }()
	return r.need(l.body)
}

func filter(r *run, x *built, list []any) (any, error) {
	out := []any{}
	for _, item := range list {
		v, err := r.each(x, item)
		if err != nil {
			return nil, err
		}
		keep, ok := v.(bool)
		if !ok {
			return nil, x.at.fail("must be true or false, not %s", what(v))
		}
		if keep {
			out = append(out, item)
		}
	}
	return out, nil
}

func mapped(r *run, x *built, list []any) (any, error) {
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = r.each(x, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}
