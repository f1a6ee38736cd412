package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestSecretOfSteps follows a secret of a chain into what its steps make of it: parameters, inputs, results and
// errors show none of it.
func TestSecretOfSteps(t *testing.T) {
	const canary = `can"ary`
	e := testEngine(t, Op{Name: "Test.Chain", Doc: "d", Effect: Pure, Callers: Anyone, Run: Dynamic([]Param{{Name: "phrase", Type: "string", Secret: true}, {Name: "title", Type: "string"}}, nil,
		func(c *Ctx, _ any, params map[string]any) (any, error) {
			phrase, _ := params["phrase"].(string)
			if _, err := c.Call("Test.Secret", "as input "+phrase, map[string]any{"phrase": "other", "map": map[string]any{"shown": "told " + phrase}}); err != nil {
				return nil, err
			}
			if params["title"] == "fail" {
				return nil, fault.Invalid.Errorf("phrase %s is odd", phrase)
			}
			return []any{phrase, "end"}, nil
		})},
		Op{Name: "Test.Secret", Doc: "d", Effect: Pure, Callers: Anyone, Secret: true, Run: On(func(p secretParams, _ *Ctx, in string) (string, error) { return "made", nil })})
	for _, c := range []struct {
		title  string
		record bool
		want   string
	}{
		{"seen", true, `"steps":[{"op":"Test.Secret","input":"as input ***","output":"***","params":{"map":"{\"shown\":\"told ***\"}","phrase":"***"}`},
		{"seen", true, `"output":"[\"***\",\"end\"]"`},
		{"seen", true, `"params":{"phrase":"***","title":"seen"}`},
		{"fail", true, `"error":"phrase *** is odd"`},
		{"fail", false, `"error":"phrase *** is odd"`},
	} {
		params, _ := json.Marshal(map[string]string{"phrase": canary, "title": c.title})
		_, err := e.Run(context.Background(), Call{Op: "Test.Chain", As: e.System(), Trace: c.record, RawParams: params})
		if failed := c.title == "fail"; failed != (err != nil) || failed && !strings.Contains(err.Error(), canary) {
			t.Errorf("%+v: %v", c, err)
		}
		raw, _ := json.Marshal(e.Traces().Recent()[0])
		if !strings.Contains(string(raw), c.want) || strings.Contains(string(raw), "ary") || strings.Contains(string(raw), "other") {
			t.Errorf("%s\nwant %s", raw, c.want)
		}
	}
}

// TestSecretSchema looks at what is informed of a secret parameter.
func TestSecretSchema(t *testing.T) {
	set := testSet(t, Op{Name: "Test.Secret", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(func(secretParams, *Ctx, Void) (Void, error) { return Void{}, nil })})
	raw, err := set.Schema("Test.Secret")
	if err != nil || !strings.Contains(string(raw), `"phrase":{"type":"string","format":"password","description":"A secret.","writeOnly":true}`) || strings.Count(string(raw), "writeOnly") != 1 {
		t.Errorf("%s, %v", raw, err)
	}
	doc, _ := set.DescribeOp("Test.Secret")
	for _, p := range doc.Params {
		if p.Secret != (p.Name == "phrase") {
			t.Errorf("%s: secret %v", p.Name, p.Secret)
		}
	}
}
