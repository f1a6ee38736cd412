package service_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/engine"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/service"
)

// shown returns the parameter that applies to the input.
var shown = engine.Op{
	Name: "Test.Parameter", Doc: "Returns the parameter that applies to the input.", Callers: engine.Anyone,
	Run: engine.On(func(p struct {
		Name    string `json:"name" doc:"Name of the parameter."`
		Default string `json:"default,omitzero" doc:"Value if there is none."`
	}, c *engine.Ctx, _ engine.Void,
	) (any, error) {
		_, err := c.Call("LocalConfiguration.SetSimpleConfigurationParameterAsVar", c.Input, map[string]any{"name": "v", "parameterName": p.Name, "defaultValue": p.Default})
		return c.Vars["v"], err
	}),
}

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, service.Ops(service.Config{}), document.Ops, []engine.Op{shown})
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "a"}`, "/ws/f/a"},
	})
	return s
}

// TestParameters: a parameter of a folder applies to everything below it, unless something nearer has its own.
func TestParameters(t *testing.T) {
	const (
		put    = "LocalConfiguration.PutSimpleConfigurationParameter"
		putAll = "LocalConfiguration.PutSimpleConfigurationParameters"
	)
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Test.Parameter", "/ws/f/a", `{"name": "k", "default": "d"}`, "d"},
		{"", put, "/ws", `{"key": "k", "value": "1"}`, "/ws"},
		{"", "Test.Parameter", "/ws/f/a", `{"name": "k", "default": "d"}`, "1"},
		{"", put, "/ws/f", `{"key": "k", "value": "2", "save": false}`, "/ws/f"}, // stored all the same
		{"", "Test.Parameter", "/ws/f/a", `{"name": "k"}`, "2"},
		{"", "Test.Parameter", "/ws", `{"name": "k"}`, "1"},
		{"", put, "/ws/f", `{"key": "k", "value": ""}`, "/ws/f"},
		{"", "Test.Parameter", "/ws/f/a", `{"name": "k", "default": "d"}`, ""},
		{"bob", "Test.Parameter", "/ws/f/a", `{"name": "k"}`, ""},
		{"", put, "/ws/f", `{"key": "k", "value": "3"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Test.Parameter", "/ws/f/a", `{"name": "K", "default": "none"}`, "none"},

		{"alice", putAll, "/ws/f", `{"parameters": {"a": "x", "b": 1000000, "c": 0.5, "d": true, "e": null, "f": [1, "y"]}}`, "/ws/f"},
		{"", "Test.Parameter", "/ws/f", `{"name": "a"}`, "x"},
		{"", "Test.Parameter", "/ws/f", `{"name": "b"}`, "1000000"},
		{"", "Test.Parameter", "/ws/f", `{"name": "c"}`, "0.5"},
		{"", "Test.Parameter", "/ws/f", `{"name": "d"}`, "true"},
		{"", "Test.Parameter", "/ws/f", `{"name": "e", "default": "d"}`, ""},
		{"", "Test.Parameter", "/ws/f", `{"name": "f"}`, "1,y"},
		{"", putAll, "/ws/f", `{"parameters": "a=1\nb=two words"}`, "/ws/f"},
		{"", "Test.Parameter", "/ws/f", `{"name": "b"}`, "two words"},
		{"", putAll, "/ws/f", `{"parameters": {}}`, "/ws/f"},
		{"", "Test.Parameter", "/ws/f", `{"name": "a"}`, "1"},
		{"", putAll, "/ws/f", `{"parameters": {"x": 1, "": "x"}}`, "! invalid parameters: parameters: a parameter must have a name"},
		{"", put, "/ws/f", `{"key": "", "value": "x"}`, "! invalid key: key: a parameter must have a name"},
		{"", put, "/ws/f", `{"key": "k"}`, `! invalid missing_parameter value: parameter "value" is missing`},
	})
}

func TestManyParameters(t *testing.T) {
	s := serve(t)
	names := func(from, to int) string {
		list := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			list = append(list, fmt.Sprintf(`"k%d": ""`, i))
		}
		return `{"parameters": {` + strings.Join(list, ", ") + `}}`
	}
	const put, putAll = "LocalConfiguration.PutSimpleConfigurationParameter", "LocalConfiguration.PutSimpleConfigurationParameters"
	s.Play([]opstest.Row{
		{"alice", putAll, "/ws/f", names(0, 1001), "! limit parameters: parameters: a document has at most 1000 parameters"},
		{"", putAll, "/ws/f", names(0, 999), "/ws/f"},
		{"", putAll, "/ws/f", names(998, 1001), "! limit parameters: parameters: a document has at most 1000 parameters"},
		{"", put, "/ws/f", `{"key": "last", "value": "v"}`, "/ws/f"},
		{"", put, "/ws/f", `{"key": "last", "value": "w"}`, "/ws/f"}, // not one more
		{"", put, "/ws/f", `{"key": "more", "value": "v"}`, "! limit key: key: a document has at most 1000 parameters"},
		{"", put, "/ws", `{"key": "k", "value": "` + strings.Repeat("v", 2_000_000) + `"}`, "! limit: document …: schema simpleconfiguration: properties of … bytes, limit 921600"},
	})
}

func TestActions(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Actions.GET", "/ws/f", `{"category": "NOPE"}`, "[]"},
		{"", "Actions.GET", "/ws/f", `{}`, `! invalid missing_parameter category: parameter "category" is missing`},
		{"", "Actions.GET", "/private", `{"category": "DOCUMENT"}`, "! notfound: /private"},
		{"", "Counters.GET", "", `{"counterNames": ["x"]}`, "! notfound unknown_operation: operation Counters.GET"}, // for administrators
		{"admin", "Counters.GET", "", `{"counterNames": ["x"]}`, `{"x":{"deltas":[],"speed":[],"values":[]}}`},
		{"", "Counters.GET", "", `{"counterNames": []}`, "{}"},
		{"", "Services.LogLevel", "", `{"level": "debug"}`, `{"entity-type":"map","value":{"level":"debug"}}`},
	})
}
