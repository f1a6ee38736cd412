package declare

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Text reads a single value as it is written.
func (r *Reader) Text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			r.Fail(r.At(n), "must be a string")
			return
		}
		*into = n.Value
	}
}

// Flag reads true or false.
func (r *Reader) Flag(into *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil {
			r.Fail(r.At(n), "must be true or false")
		}
	}
}

// Count reads a number of at least 0.
func (r *Reader) Count(into *int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil || *into < 0 {
			r.Fail(r.At(n), "must be a number of at least 0")
		}
	}
}

// Bound reads any number.
func (r *Reader) Bound(into **float64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || n.Kind != yaml.ScalarNode {
			r.Fail(r.At(n), "must be a number")
			return
		}
		*into = &v
	}
}

// Word reads a string and its position.
func (r *Reader) Word(into *Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.Text(&into.Text)(n)
		into.At = r.At(n)
	}
}

// Words reads a list of strings and their positions.
func (r *Reader) Words(into *[]Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.Fail(r.At(n), "must be a list")
			return
		}
		for _, item := range n.Content {
			var w Name
			r.Word(&w)(item)
			*into = append(*into, w)
		}
	}
}

// Texts reads a list of texts.
func (r *Reader) Texts(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var all []Name
		r.Words(&all)(n)
		for _, w := range all {
			*into = append(*into, w.Text)
		}
	}
}

// ByName reads a mapping of names to texts.
func (r *Reader) ByName(into *map[string]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*into = map[string]string{}
		r.Pairs(n, func(key, value *yaml.Node) {
			text := ""
			r.Text(&text)(value)
			(*into)[key.Value] = text
		})
	}
}
