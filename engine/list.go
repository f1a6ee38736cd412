package engine

// List returns a list as one of any values, which is how results of no type of their own hold it.
func List[T any](items []T) []any {
	out := make([]any, len(items))
	for i, v := range items {
		out[i] = v
	}
	return out
}

// OrNull returns a text, or nil in the place of an empty one.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
