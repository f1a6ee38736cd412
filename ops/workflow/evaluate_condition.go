package workflow

import (
	"cmp"
	"strconv"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// evaluateCondition decides between the two branches of a conditional folder of a route;
// Update.NextStep.ConditionalFolder takes its result as an index, in which 0 is the step before the
// branches.
func evaluateCondition(ms models) engine.Op {
	return engine.Op{
		Name:     "Document.Routing.EvaluateCondition",
		Sets:     []string{"nextStepPos"},
		Label:    "Evaluate a condition",
		Category: "Routing",
		Doc: "Compares a property of the document, an integer or a text, with a value, and sets the variable nextStepPos to 1 if the comparison holds, " +
			"otherwise to 2. Returns nothing.",
		Effect:  engine.Pure,
		Callers: engine.Anyone,
		Run:     on(ms, conditionParams.run).As("document", "void"),
	}
}

type conditionParams struct {
	Operator string `json:"operator" enum:"equal,not_equal,less_than,less_or_equal_than,greater_than,greater_or_equal_than" doc:"Comparison operator."`
	Subject  string `json:"subject" doc:"Xpath of the property."`
	Value    string `json:"value" doc:"The value; must be an integer if the property is one."`
}

func (p conditionParams) run(e *env, d *storage.Doc) (any, error) {
	v, err := d.Get(p.Subject)
	if err != nil {
		return nil, err
	}
	order, err := p.order(d, v)
	if err != nil {
		return nil, err
	}
	place := "2"
	if map[string]bool{
		"equal": order == 0, "not_equal": order != 0, "less_than": order < 0, "less_or_equal_than": order <= 0,
		"greater_than": order > 0, "greater_or_equal_than": order >= 0,
	}[p.Operator] {
		place = "1"
	}
	e.SetVar("nextStepPos", place)
	// Nothing, where the platform returns null: the next step of a chain loses the input.
	return nil, nil
}

// order compares the property with the value as the type of the property says, also if it is empty: an empty integer
// is less than every integer, an empty text equals an empty value.
func (p conditionParams) order(d *storage.Doc, v any) (int, error) {
	f, err := d.FieldAt(p.Subject)
	if err != nil {
		return 0, err
	}
	switch {
	case f.List:
	case f.Kind == schema.String:
		text, _ := v.(string)
		return cmp.Compare(text, p.Value), nil
	case f.Kind == schema.Integer, f.Kind == schema.Long:
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil {
			return 0, fault.Invalid.Errorf("value: must be an integer, not %q", p.Value).In("value")
		}
		if v == nil {
			return -1, nil
		}
		is, _ := v.(int64)
		return cmp.Compare(is, n), nil
	}
	return 0, fault.Invalid.Errorf("subject: property %s is neither an integer nor a text", p.Subject).In("subject")
}
