package engine

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzParams feeds the decoder of parameters: it never panics, and takes nothing that is not
// JSON.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{
		`{"name":"n"}`, `{"name":"\u00e9","count":"5","any":[1,{"a":null}]}`, `{"name":"n","properties":"a=b"}`,
		`{"name":"n","when":"2024-05-02","document":{"uid":"u"}}`, `{"name":1e9,"x":-0.5}`, `{}`, `{"a":1,}`, "{\"name\":\"\x00\"}",
	} {
		f.Add([]byte(seed))
	}
	set, err := NewSet(testOps())
	if err != nil {
		f.Fatal(err)
	}
	d, _ := set.Op("Test.Many")
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := d.table.fromJSON(&Ctx{}, raw)
		if err == nil && (!json.Valid(raw) || !utf8.Valid(raw)) {
			t.Errorf("%q was taken", raw)
		}
		v, err := ParseJSON(raw)
		if err != nil {
			return
		}
		var want any
		if json.Unmarshal(raw, &want) != nil {
			t.Fatalf("%q is no JSON", raw)
		}
		back, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(back, &want); err != nil {
			t.Errorf("%q became %q", raw, back)
		}
	})
}
