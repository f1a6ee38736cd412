package decks

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"catena/storage/fault"
)

// fields are what callers may write, one by one or together as the service sends them.
type fields struct {
	Title       *string        `json:"title,omitzero" type:"string" doc:"Title of 1 to 200 characters."`
	Description *string        `json:"description,omitzero" type:"string" doc:"What the deck is about."`
	Width       *int64         `json:"width,omitzero" type:"long" min:"1" doc:"Width of a slide in pixels, at least 1."`
	Height      *int64         `json:"height,omitzero" type:"long" min:"1" doc:"Height of a slide in pixels, at least 1."`
	Data        *string        `json:"data,omitzero" alias:"html,deck_html" type:"string" doc:"HTML of the deck: section elements only at the top level, one a slide or with the slides of a stack inside."`
	Visibility  *string        `json:"visibility,omitzero" type:"string" enum:"all,self,team" doc:"Who may see the deck: all, self, or team for team accounts."`
	Fields      map[string]any `json:"fields,omitzero" doc:"All of these in one object, with the names of either revision; anything else in it is refused."`
}

func invalid(field string, code fault.Code, format string, args ...any) error {
	return fault.Invalid.Errorf(format, args...).In(field).WithCode(code)
}

// merge moves what stands in Fields to the fields themselves, and checks all of them.
func (f fields) merge() (fields, error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if err := f.take(name, f.Fields[name]); err != nil {
			errs = append(errs, err)
		}
	}
	if a, b := f.Fields["deck_html"], f.Fields["data"]; a != nil && b != nil && a != b {
		for _, name := range [...]string{"data", "deck_html"} {
			errs = append(errs, invalid(name, fault.CodeConflictingFields, "data and deck_html: are the same field, their values differ"))
		}
	}
	errs = append(errs, f.check()...)
	return f, errors.Join(errs...)
}

// take sets one field from the value a caller sent.
func (f *fields) take(name string, value any) error {
	switch name {
	case "title":
		return text(name, value, &f.Title)
	case "description":
		if value == nil {
			value = ""
		}
		return text(name, value, &f.Description)
	case "width":
		return whole(name, value, &f.Width)
	case "height":
		return whole(name, value, &f.Height)
	case "deck_html", "data":
		return text(name, value, &f.Data)
	case "visibility":
		return text(name, value, &f.Visibility)
	}
	if readOnly(name) {
		return invalid(name, fault.CodeReadOnlyField, "%s: is read-only", name)
	}
	return unknownField(name, "deck")
}

func unknownField(name, of string) error {
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	return invalid(name, fault.CodeUnknownField, "%q: is no field of a %s", name, of)
}

func text(name string, value any, to **string) error {
	s, ok := value.(string)
	if !ok {
		return invalid(name, fault.CodeInvalidType, "%s: is not text", name)
	}
	*to = &s
	return nil
}

func whole(name string, value any, to **int64) error {
	n, ok := value.(int64)
	if f, float := value.(float64); float && f == float64(int64(f)) {
		n, ok = int64(f), true
	}
	if !ok {
		return invalid(name, fault.CodeInvalidType, "%s: is not a whole number", name)
	}
	*to = &n
	return nil
}
