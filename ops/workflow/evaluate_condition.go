package workflow

import (
	"cmp"
	"strconv"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
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
	var order int
	switch v := v.(type) {
	// An empty property is null, whatever its type, and compares as an empty text: it is less than
	// any value.
	case nil:
		order = cmp.Compare("", p.Value)
	case string:
		order = cmp.Compare(v, p.Value)
	case int64:
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil {
			return nil, fault.Invalid.Errorf("value: must be an integer, not %q", p.Value).In("value")
		}
		order = cmp.Compare(v, n)
	default:
		return nil, fault.Invalid.Errorf("subject: property %s is neither an integer nor a text", p.Subject).In("subject")
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
