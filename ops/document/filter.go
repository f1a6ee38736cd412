package document

import (
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var filter = engine.Op{
	Name:     "Document.Filter",
	Label:    "Filter List",
	Category: "Document",
	Doc: "Keeps the documents that pass every test given and returns them as a list, even for one document. " +
		"A condition that fails or does not return true or false is an error.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Each(filterParams.run),
}

type filterParams struct {
	Class     string `json:"class,omitzero" doc:"Kind of document; an unknown word is ignored." values:"Any,Regular Document,Document Link,Published Document,Document Proxy,Document Version,Immutable Document,Mutable Document"`
	Condition string `json:"condition,omitzero" doc:"Expression that must be true, with the document as its input. Only accepted from clients that may run scripts."`
	Facet     string `json:"facet,omitzero" names:"facet" doc:"Facet that the document must have."`
	State     string `json:"lifecycle,omitzero" names:"state" doc:"Life-cycle state that the document must be in."`
	Path      string `json:"pathStartsWith,omitzero" doc:"Text that the document's path must start with."`
	Types     string `json:"types,omitzero" doc:"Comma-separated types, one of which the document must have."`
}

func (p filterParams) run(c *engine.Ctx, d *storage.Doc) (storage.Docs, error) {
	if !p.passes(d) {
		return storage.Docs{}, nil
	}
	ok, err := p.holds(c)
	if err != nil || !ok {
		return storage.Docs{}, err
	}
	return storage.Docs{d}, nil
}

// passes reports whether the document passes the tests that need no expression. These come first, because
// evaluating one costs more than all of them. Empty and blank parameters are tests that were not given:
// forms send them for fields left blank.
func (p filterParams) passes(d *storage.Doc) bool {
	if given(p.Types) && !slices.Contains(words(p.Types), d.Type().Name) {
		return false
	}
	if given(p.Facet) && !d.HasFacet(strings.TrimSpace(p.Facet)) {
		return false
	}
	if given(p.State) && d.State() != strings.TrimSpace(p.State) {
		return false
	}
	if given(p.Path) && !strings.HasPrefix(d.Path(), strings.TrimSpace(p.Path)) {
		return false
	}
	return d.InClass(p.Class)
}

func (p filterParams) holds(c *engine.Ctx) (bool, error) {
	if !given(p.Condition) {
		return true, nil
	}
	// An expression can read whatever the call can reach, so it has to come from somebody who may run code.
	if !c.MayEvaluate() {
		return false, fault.Denied.Errorf("condition: expressions are not accepted from clients").In("condition")
	}
	v, err := c.Eval(p.Condition)
	if err != nil {
		return false, fault.Wrap(err, "condition").In("condition")
	}
	ok, isBool := v.(bool)
	if !isBool {
		return false, fault.Invalid.Errorf("condition: must be true or false, not %v", v).In("condition")
	}
	return ok, nil
}

func given(s string) bool { return strings.TrimSpace(s) != "" }

func words(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
