package storage

import (
	"catena/storage/schema"
)

// part is a field inside a complex one that is declared with an index: its index is named by its key,
// "files:files/*/file".
type part struct {
	index string
	steps []string // names from the complex field down
}

// parts returns the indexed fields inside a complex one.
func parts(f *schema.Field) (out []part) {
	var collect func(f *schema.Field, steps []string)
	collect = func(f *schema.Field, steps []string) {
		for _, sub := range f.Fields {
			below := append(steps[:len(steps):len(steps)], sub.Name)
			if sub.Index {
				out = append(out, part{sub.Key, below})
			}
			collect(sub, below)
		}
	}
	collect(f, nil)
	return out
}

// each calls visit for every value of the part in that of the complex field.
func (p *part) each(v any, visit func(v any)) { eachPart(v, p.steps, visit) }

func eachPart(v any, steps []string, visit func(v any)) {
	switch x := v.(type) {
	case nil:
	case []any:
		for _, item := range x {
			eachPart(item, steps, visit)
		}
	case map[string]any:
		if len(steps) > 0 {
			eachPart(x[steps[0]], steps[1:], visit)
		}
	default:
		if len(steps) == 0 {
			visit(v)
		}
	}
}
