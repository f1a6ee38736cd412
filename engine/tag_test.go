package engine

import (
	"reflect"
	"testing"
)

// Entries of tags are those that package reflect finds.
func TestTags(t *testing.T) {
	for _, text := range []reflect.StructTag{
		``, `json:"a"`, `json:"a,omitzero" doc:"Says \"so\", in: \u00e9." default:""`, `  json:"a"   doc:"b"`, `json:"a" broken`, `json:a`,
	} {
		all := tagsOf(text, nil)
		for _, name := range []string{"json", "doc", "default", "alias"} {
			got, found := all.find(name)
			if want, ok := text.Lookup(name); got != want || found != ok {
				t.Errorf("%s of %s: %q %v, want %q %v", name, text, got, found, want, ok)
			}
		}
	}
}
