package workflow_test

import (
	"fmt"
	"testing"

	"catena/engine"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/workflow"
)

// TestEvaluateCondition: the property says what is compared, also if it is empty.
func TestEvaluateCondition(t *testing.T) {
	next := engine.Op{
		Name: "Test.Next", Doc: "Evaluates a condition and returns the place.", Callers: engine.Anyone, Open: true,
		Run: engine.On(func(p struct {
			Operator string `json:"operator" doc:"Operator."`
			Subject  string `json:"subject" doc:"Subject."`
			Value    string `json:"value" doc:"Value."`
		}, c *engine.Ctx, _ engine.Void,
		) (string, error) {
			_, err := c.Call("Document.Routing.EvaluateCondition", c.Input, map[string]any{"operator": p.Operator, "subject": p.Subject, "value": p.Value})
			place, _ := c.Vars["nextStepPos"].(string)
			return place, err
		}),
	}
	s := opstest.Serve(t, document.Ops, workflow.Ops(nil), []engine.Op{next})
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "full", "properties": {"dc:title": "b", "dc:subjects": "art", "uid:major_version": 3}}`, "/ws/full"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "empty", "properties": {"dc:source": "", "uid:major_version": ""}}`, "/ws/empty"},
	})
	operators := []string{"equal", "not_equal", "less_than", "less_or_equal_than", "greater_than", "greater_or_equal_than"}
	const less, same, more = "011100", "100101", "010011" // which of the operators hold
	tests := []struct{ path, subject, value, order string }{
		{"/ws/full", "dc:title", "a", more},
		{"/ws/full", "dc:title", "b", same},
		{"/ws/full", "dc:title", "c", less},
		{"/ws/full", "dc:title", "B", more}, // by code points
		{"/ws/full", "dc:title", "", more},
		{"/ws/empty", "dc:source", "", same},
		{"/ws/empty", "dc:source", "a", less},
		{"/ws/full", "uid:major_version", "3", same},
		{"/ws/full", "uid:major_version", "+3", same},
		{"/ws/full", "uid:major_version", "20", less}, // as numbers
		{"/ws/full", "uid:major_version", "-1", more},
		{"/ws/empty", "uid:major_version", "-9223372036854775808", less},
		{"/ws/empty", "uid:major_version", "0", less},
	}
	for _, test := range tests {
		for i, op := range operators {
			want := "2"
			if test.order[i] == '1' {
				want = "1"
			}
			s.Play([]opstest.Row{{"alice", "Test.Next", test.path, fmt.Sprintf(`{"operator": %q, "subject": %q, "value": %q}`, op, test.subject, test.value), want}})
		}
	}
	for _, test := range []struct{ path, operator, subject, value, want string }{
		{"/ws/full", "equal", "uid:major_version", "", `! invalid value: value: must be an integer, not ""`},
		{"/ws/empty", "equal", "uid:major_version", "", `! invalid value: value: must be an integer, not ""`},
		{"/ws/empty", "equal", "uid:major_version", "x", `! invalid value: value: must be an integer, not "x"`},
		{"/ws/full", "equal", "uid:major_version", "9223372036854775808", `! invalid value: value: must be an integer, not "9223372036854775808"`},
		{"/ws/full", "equal", "dc:subjects", "art", "! invalid subject: subject: property dc:subjects is neither an integer nor a text"},
		{"/ws/empty", "equal", "dc:subjects", "", "! invalid subject: subject: property dc:subjects is neither an integer nor a text"},
		{"/ws/full", "equal", "dc:created", "", "! invalid subject: subject: property dc:created is neither an integer nor a text"},
		{"/ws/full", "like", "dc:title", "b", `! invalid operator: parameter "operator": "like" is not one of equal, not_equal, less_than, less_or_equal_than, greater_than, greater_or_equal_than`},
		{"/ws/full", "equal", "dc:nope", "b", `! invalid subject: xpath "dc:nope": no such property`},
		{"/ws/full", "equal", "", "b", `! invalid: xpath "": empty`},
		{"/private", "equal", "dc:title", "b", "! notfound: /private"},
	} {
		s.Play([]opstest.Row{{"alice", "Test.Next", test.path, fmt.Sprintf(`{"operator": %q, "subject": %q, "value": %q}`, test.operator, test.subject, test.value), test.want}})
	}
}
