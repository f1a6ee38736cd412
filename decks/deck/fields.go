package deck

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/decks/field"
	"catena/engine"
	"catena/storage/fault"
)

// Input is what a caller writes: values by the name of the field.
type Input map[string]any

// Params are the parameters of an operation that writes fields: one for each, and all of them in one object.
func Params(t field.Table) []engine.Param {
	var out []engine.Param
	for _, f := range t.Of(field.Direct) {
		if f.Doc != "" {
			out = append(out, engine.Param{
				Name: f.Name, Aliases: f.Aliases, Type: f.Type.Word(), Doc: f.Doc, Values: f.Values, Enum: f.Values != nil, Min: f.Min, Max: f.Max, Raw: true,
			})
		}
	}
	return append(out, engine.Param{
		Name: "fields", Type: "map", Doc: "All of these in one object, with the names of either revision; unknown members are refused.",
	})
}

// ReadInput checks the parameters of such an operation. What stands in the object comes before a parameter of its own.
func ReadInput(params map[string]any) (Input, error) {
	in := Input{}
	var errs []error
	for _, name := range field.Fields.Params() {
		if v := params[name]; v != nil {
			errs = append(errs, in.take(name, v))
		}
	}
	given, _ := params["fields"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		errs = append(errs, in.take(name, given[name]))
	}
	if a, b := given["deck_html"], given["data"]; a != nil && b != nil && a != b {
		for _, name := range [...]string{"data", "deck_html"} {
			errs = append(errs, Invalid(name, fault.CodeConflictingFields, "data and deck_html: are the same field, but their values differ"))
		}
	}
	return in, errors.Join(append(errs, in.Check())...)
}

// take sets a field to the value that a caller sent.
func (in Input) take(name string, value any) error {
	f := field.Fields.Find(name)
	switch {
	case f == nil:
		return UnknownField(name, "deck")
	case f.Write != field.Direct:
		return Invalid(name, fault.CodeReadOnlyField, "%s: is read-only", name)
	case value == nil && f.EmptyText:
		value = ""
	}
	v, err := typed(f, value)
	if err == nil {
		in[name] = v
	}
	return err
}

// Check reports every value that is out of bounds.
func (in Input) Check() error {
	var errs []error
	for _, f := range field.Fields.Of(field.Direct) {
		if v, ok := in[f.Name]; ok {
			errs = append(errs, bounds(f, v))
		}
	}
	return errors.Join(errs...)
}

// ReadAppearance checks what a caller has chosen for the look of a deck.
func ReadAppearance(given map[string]any) (Input, error) {
	in := Input{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f := field.Fields.Find(name)
		if f == nil || f.Write != field.Appearance {
			errs = append(errs, UnknownField(name, "deck's appearance"))
			continue
		}
		v, err := typed(f, given[name])
		if err == nil {
			err = bounds(f, v)
		}
		if errs = append(errs, err); err == nil {
			in[name] = v
		}
	}
	return in, errors.Join(errs...)
}

// text returns the value of a text field.
func (in Input) text(name string) string {
	s, _ := in[name].(string)
	return s
}

// HTML returns the slides and the name under which the caller sent them.
func (in Input) HTML() (name, src string, ok bool) {
	for _, name := range [...]string{"deck_html", "data"} {
		if src, ok := in[name].(string); ok {
			return name, src, true
		}
	}
	return "data", "", false
}

// typed returns a value that was decoded from JSON as one of the field's type.
func typed(f *field.Field, value any) (v any, err error) {
	var ok bool
	var want string
	switch f.Type {
	case field.Boolean:
		v, ok = value.(bool)
		want = "true or false"
	case field.Integer:
		v, ok = whole(value)
		want = "an integer"
	case field.Number:
		v, ok = number(value)
		want = "a number"
	case field.Text, field.Object, field.Address, field.Moment:
		v, ok = value.(string)
		want = "a string"
	}
	if !ok {
		return nil, Invalid(f.Name, fault.CodeInvalidType, "%s: must be %s", f.Name, want)
	}
	return v, nil
}

func whole(value any) (int64, bool) {
	if f, ok := value.(float64); ok && f == float64(int64(f)) {
		return int64(f), true
	}
	n, ok := value.(int64)
	return n, ok
}

func number(value any) (float64, bool) {
	if n, ok := value.(int64); ok {
		return float64(n), true
	}
	n, ok := value.(float64)
	return n, ok
}

// bounds reports a value that the field does not accept.
func bounds(f *field.Field, value any) error {
	if s, ok := value.(string); ok {
		return textBounds(f, s)
	}
	n, ok := number(value)
	switch {
	case !ok:
		return nil
	case f.Min != nil && f.Max != nil && !(n >= *f.Min && n <= *f.Max): // a NaN is in no range
		return Invalid(f.Name, fault.CodeOutOfRange, "%s: %v is not between %v and %v", f.Name, value, *f.Min, *f.Max)
	case f.Min != nil && n < *f.Min:
		return Invalid(f.Name, fault.CodeTooSmall, "%s: %v is less than %v", f.Name, value, *f.Min)
	}
	return nil
}

func textBounds(f *field.Field, s string) error {
	switch n := utf8.RuneCountInString(s); {
	case f.MinLength > 0 && strings.TrimSpace(s) == "":
		return Invalid(f.Name, fault.CodeTooShort, "%s: is empty", f.Name)
	case f.MaxLength > 0 && n > f.MaxLength:
		return Invalid(f.Name, fault.CodeTooLong, "%s: %d characters, limit %d", f.Name, n, f.MaxLength)
	case f.Line && strings.ContainsFunc(s, unicode.IsControl):
		return Invalid(f.Name, fault.CodeInvalidText, "%s: control characters are not allowed", f.Name)
	case f.Tag && !f.Known(s):
		return Invalid(f.Name, fault.CodeInvalidValue, "%s: %.40q is not a language tag", f.Name, s)
	case f.Origins:
		if _, wrong := field.ParseOrigins(s); wrong != "" {
			return Invalid(f.Name, fault.CodeInvalidValue, "%s: %.60q is not a web origin, such as https://example.org or https://*.example.org", f.Name, wrong)
		}
	case !f.Known(s):
		return Invalid(f.Name, fault.CodeInvalidValue, "%s: %.40q is not one of %s", f.Name, s, strings.Join(f.Values, ", "))
	}
	return nil
}

// Invalid is the error of a field with a wrong value.
func Invalid(field string, code fault.Code, format string, args ...any) error {
	return fault.Invalid.Errorf(format, args...).In(field).WithCode(code)
}

// UnknownField is the error of a field that a thing does not have.
func UnknownField(name, of string) error {
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	return Invalid(name, fault.CodeUnknownField, "%q: is not a field of a %s", name, of)
}
