package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Violation is a constraint that a value does not meet.
type Violation struct {
	Schema     string            // of the field; set by who knows it
	Path       string            // xpath of the value
	Constraint string            // NotNullConstraint, LengthConstraint, NumericIntervalConstraint, PatternConstraint, EnumConstraint
	Parameters map[string]string // of the constraint, by name
	Value      any
	Message    string
}

// Validate returns the constraints that v, in the form Coerce returns, does not meet.
// All violations are returned, since forms mark every field at once. An empty text counts as
// missing for Required, and is checked by the other constraints all the same.
func (f *Field) Validate(v any) []Violation { return f.validate(v, f.Key, nil) }

func (f *Field) validate(v any, at string, found []Violation) []Violation {
	if v == nil || v == "" {
		if f.Required {
			found = append(found, Violation{Path: at, Constraint: "NotNullConstraint", Message: "property " + at + ": a value is required"})
		}
		if v == nil {
			return found
		}
	}
	switch v := v.(type) {
	case []any:
		item := f.Item()
		for i, x := range v {
			found = item.validate(x, at+"/"+strconv.Itoa(i), found)
		}
	case map[string]any:
		for _, sub := range f.Fields {
			found = sub.validate(v[sub.Name], at+"/"+sub.Name, found)
		}
	case string:
		found = f.text(v, at, found)
	case int64:
		found = f.number(v, float64(v), at, found)
	case float64:
		found = f.number(v, v, at, found)
	}
	return found
}

// Describe returns the field's own constraints by name, with their parameters.
func (f *Field) Describe() map[string]map[string]string {
	out := make(map[string]map[string]string)
	if f.Required {
		out["NotNullConstraint"] = nil
	}
	c := &f.Constraints
	if c.MinLength > 0 || c.MaxLength > 0 {
		out["LengthConstraint"] = c.lengthParams()
	}
	if c.Pattern != "" {
		out["PatternConstraint"] = c.patternParams()
	}
	if len(c.Enum) > 0 {
		out["EnumConstraint"] = c.enumParams()
	}
	if c.Min != nil || c.Max != nil {
		out["NumericIntervalConstraint"] = c.intervalParams()
	}
	return out
}

func (c *Constraints) text(s, at string, found []Violation) []Violation {
	add := func(name, why string, params map[string]string) {
		found = append(found, Violation{Path: at, Constraint: name, Parameters: params, Value: s, Message: "property " + at + ": " + why})
	}
	n := 0
	if c.MinLength > 0 || c.MaxLength > 0 {
		n = utf8.RuneCountInString(s)
	}
	switch {
	case n < c.MinLength:
		add("LengthConstraint", "at least "+strconv.Itoa(c.MinLength)+" characters", c.lengthParams())
	case c.MaxLength > 0 && n > c.MaxLength:
		add("LengthConstraint", "at most "+strconv.Itoa(c.MaxLength)+" characters", c.lengthParams())
	}
	if c.whole != nil && !c.whole.MatchString(s) {
		add("PatternConstraint", "does not match "+c.Pattern, c.patternParams())
	}
	if len(c.Enum) > 0 && !slices.Contains(c.Enum, s) {
		add("EnumConstraint", "not one of "+strings.Join(c.Enum, ", "), c.enumParams())
	}
	return found
}

func (c *Constraints) number(v any, n float64, at string, found []Violation) []Violation {
	var why string
	switch {
	case c.Min != nil && n < *c.Min:
		why = "at least " + formatNumber(*c.Min)
	case c.Max != nil && n > *c.Max:
		why = "at most " + formatNumber(*c.Max)
	default:
		return found
	}
	return append(found, Violation{Path: at, Constraint: "NumericIntervalConstraint", Parameters: c.intervalParams(), Value: v, Message: "property " + at + ": " + why})
}

func (c *Constraints) lengthParams() map[string]string {
	p := make(map[string]string)
	if c.MinLength > 0 {
		p["Minimum"] = strconv.Itoa(c.MinLength)
	}
	if c.MaxLength > 0 {
		p["Maximum"] = strconv.Itoa(c.MaxLength)
	}
	return p
}

func (c *Constraints) patternParams() map[string]string {
	return map[string]string{"Pattern": c.Pattern}
}

func (c *Constraints) enumParams() map[string]string {
	return map[string]string{"Values": strings.Join(c.Enum, ",")}
}

func (c *Constraints) intervalParams() map[string]string {
	p := make(map[string]string)
	if c.Min != nil {
		p["Minimum"], p["MinimumInclusive"] = formatNumber(*c.Min), "true"
	}
	if c.Max != nil {
		p["Maximum"], p["MaximumInclusive"] = formatNumber(*c.Max), "true"
	}
	return p
}

func formatNumber(n float64) string { return string(appendDouble(nil, n)) }
