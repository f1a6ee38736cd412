package decks

import (
	"errors"
	"maps"
	"slices"

	"catena/storage"
	"catena/storage/fault"
)

// looksOf makes properties of what somebody chose for a deck to look like.
func looksOf(given map[string]any) (storage.Props, error) {
	props := storage.Props{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v, err := lookOf(name, given[name])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		props["deck:"+name] = v
	}
	return props, errors.Join(errs...)
}

const maxMargin = 0.5

func lookOf(name string, value any) (any, error) {
	var known func(string) bool
	switch name {
	case "background_transition", "transition":
		known = func(s string) bool { return transitions[s] }
	case "language":
		known = func(s string) bool { return s != "" && languageLike(s) }
	case "theme_color":
		known = func(s string) bool { return themeColors[s] }
	case "theme_font":
		known = func(s string) bool { return themeFonts[s] }
	case "loop", "rtl":
		if _, ok := value.(bool); !ok {
			return nil, invalid(name, fault.CodeInvalidType, "%s: is neither true nor false", name)
		}
		return value, nil
	case "margin":
		n, ok := value.(float64)
		if i, whole := value.(int64); whole {
			n, ok = float64(i), true
		}
		if !ok || n < 0 || n > maxMargin {
			return nil, invalid(name, fault.CodeOutOfRange, "margin: %v is not from 0 to %v", value, maxMargin)
		}
		return n, nil
	default:
		return nil, unknownField(name, "deck's looks")
	}
	s, ok := value.(string)
	if !ok {
		return nil, invalid(name, fault.CodeInvalidType, "%s: is not text", name)
	}
	if !known(s) {
		return nil, invalid(name, fault.CodeInvalidValue, "%s: %.40q is none there is", name, s)
	}
	return s, nil
}
