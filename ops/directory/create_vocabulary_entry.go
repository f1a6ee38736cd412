package directory

import (
	"catena/engine"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

var createVocabularyEntry = engine.Op{
	Name:     "Directory.CreateVocabularyEntry",
	Label:    "Vocabulary: Add Entry",
	Category: category,
	Doc:      "Adds an entry to a vocabulary unless it already exists, and returns the input.",
	Callers:  engine.Anyone,
	Run:      engine.On(createVocabularyEntryParams.run),
}

type createVocabularyEntryParams struct {
	ID         string `json:"id" doc:"Id of the entry."`
	Vocabulary string `json:"vocabularyName" doc:"Name of the vocabulary."`
	Label      string `json:"label,omitzero" doc:"Label; the id by default."`
	Obsolete   int64  `json:"obsolete" default:"0" doc:"1 if the entry can no longer be chosen."`
	Ordering   int64  `json:"ordering" default:"0" doc:"Position among the entries."`
	Parent     string `json:"parent" default:"" doc:"Id of the parent entry."`
}

func (p createVocabularyEntryParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	d, err := record.In(c.Tx, p.Vocabulary)
	if err != nil {
		return engine.Void{}, err
	}
	if p.Label == "" {
		p.Label = p.ID
	}
	values := map[string]any{d.ID.Name: p.ID, "label": p.Label, "obsolete": p.Obsolete, "ordering": p.Ordering}
	// An empty parent is left out, since plain vocabularies have no such field.
	if p.Parent != "" {
		values["parent"] = p.Parent
	}
	_, err = d.Create(values)
	// An existing entry stays as it is, even with other values, so that a chain that sets up a
	// vocabulary can run again.
	if fault.Is(err, fault.Exists) {
		return engine.Void{}, nil
	}
	return engine.Void{}, err
}

// setVar sets a context variable.
// ChainParameters is the variable in which the engine keeps the parameters of a chain.
func setVar(c *engine.Ctx, name string, value any) error {
	if name == "" || name == "ChainParameters" {
		return fault.Invalid.Errorf("variable %q: cannot be set", name).In("variableName")
	}
	c.SetVar(name, value)
	return nil
}
