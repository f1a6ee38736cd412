package schema

import "testing"

func TestDefaultsLoad(t *testing.T) {
	r, err := Load(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Types() {
		t.Log(x.Name, x.Facets, len(x.Schemas))
	}
}
