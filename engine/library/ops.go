package library

import (
	"cmp"
	"fmt"

	"github.com/aymanbagabas/go-udiff"

	"catena/engine"
	"catena/storage/fault"
)

// Ops are the operations that manage a kind of text: Check, Save, List, Read, Versions,
// Diff, Restore and Delete.
func (k *Kind) Ops() []engine.Op {
	op := func(verb, doc string, effect engine.Effect, run engine.Func) engine.Op {
		return engine.Op{
			Name: k.Family + "." + verb, Label: fmt.Sprintf("%s a %s", verb, k.Noun), Category: "Scripting",
			Doc: doc, Effect: effect, Callers: engine.Admins.From(engine.Direct), Run: run,
		}
	}
	return []engine.Op{
		op("Check", "Checks the text of a "+k.Noun+" and returns the errors with line and column; saves nothing.", engine.Reads,
			engine.On(func(p checkParams, c *engine.Ctx, _ engine.Void) ([]Problem, error) { return p.run(k, c) })),
		op("Delete", "Undeploys a "+k.Noun+"; its versions remain readable.", engine.Writes,
			engine.On(func(p deleteParams, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
				return engine.Void{}, k.remove(c, p.Name, p.ChangeToken)
			})),
		op("Diff", "Compares two versions of a "+k.Noun+" and returns the difference as text.", engine.Reads,
			engine.On(func(p diffParams, c *engine.Ctx, _ engine.Void) (string, error) { return p.run(k, c) })),
		op("List", "Lists the deployed "+cmp.Or(k.Nouns, k.Noun+"s")+".", engine.Reads,
			engine.On(func(_ noParams, c *engine.Ctx, _ engine.Void) ([]Version, error) { return k.list(c) })),
		op("Read", "Returns a "+k.Noun+" with its source.", engine.Reads,
			engine.On(func(p readParams, c *engine.Ctx, _ engine.Void) (Version, error) { return p.run(k, c) })),
		op("Restore", "Restores an old version of a "+k.Noun+" as a new, deployed version.", engine.Writes,
			engine.On(func(p restoreParams, c *engine.Ctx, _ engine.Void) (Version, error) { return p.run(k, c) })),
		op("Save", "Checks the text of a "+k.Noun+", saves it as a new version and deploys it.", engine.Writes,
			engine.On(func(p saveParams, c *engine.Ctx, _ engine.Void) (Version, error) { return p.run(k, c) })),
		op("Versions", "Lists the versions of a "+k.Noun+", newest first.", engine.Reads,
			engine.On(func(p nameParams, c *engine.Ctx, _ engine.Void) ([]Version, error) { return k.versions(c, p.Name) })),
	}
}

type noParams struct{}

type nameParams struct {
	Name string `json:"name" doc:"Name of the operation that the text declares."`
}

type deleteParams struct {
	Name        string  `json:"name" doc:"Name of the operation that the text declares."`
	ChangeToken *string `json:"changeToken,omitzero" type:"string" doc:"Change token of the version that was read; an outdated token is refused."`
}

type checkParams struct {
	Source string `json:"source" doc:"The text."`
	Name   string `json:"name,omitzero" doc:"File name for messages."`
}

func (p checkParams) run(k *Kind, c *engine.Ctx) ([]Problem, error) {
	return k.Problems(c, p.Name, p.Source)
}

// Problems are all that is wrong with a text; name is the file that messages name, "" if there is none.
func (k *Kind) Problems(c *engine.Ctx, name, source string) ([]Problem, error) {
	file := fileName(k, name)
	name, problems, err := k.check(c, file, source)
	if err != nil || len(Wrong(problems)) > 0 {
		return problems, err
	}
	cur, err := k.current(c, name)
	if err == nil && (cur == nil || cur.Deleted) {
		if why := k.taken(c, name); why != "" {
			problems = append(problems, Problem{File: file, Line: 1, Column: 1, Message: why})
		}
	}
	return append([]Problem{}, problems...), err
}

func fileName(k *Kind, name string) string {
	if name == "" {
		return k.Noun
	}
	return name
}

type saveParams struct {
	Source string `json:"source" doc:"The text."`
	Name   string `json:"name,omitzero" doc:"File name for messages."`
	Note   string `json:"note,omitzero" doc:"Reason for the change, stored with the version."`
	// The empty token is that of a text that is not there.
	ChangeToken *string `json:"changeToken,omitzero" type:"string" doc:"Change token of the version that the text is based on, empty for a new text; an outdated token is refused."`
}

func (p saveParams) run(k *Kind, c *engine.Ctx) (Version, error) {
	v, err := k.save(c, &p)
	if err != nil {
		return Version{}, err
	}
	return v.head(), nil
}

// head is the version without its text.
func (v Version) head() Version { v.Source = ""; return v.read() }

// read is the version as a caller gets it.
func (v Version) read() Version { v.ChangeToken = v.token(); return v }

func (k *Kind) list(c *engine.Ctx) ([]Version, error) {
	all, err := k.heads(c.Tx)
	for i := range all {
		all[i] = all[i].read()
	}
	return all, err
}

type readParams struct {
	Name    string `json:"name" doc:"Name of the operation that the text declares."`
	Version int64  `json:"version,omitzero" doc:"Version; 0 means the deployed one."`
}

func (p readParams) run(k *Kind, c *engine.Ctx) (Version, error) {
	v, err := k.version(c, p.Name, p.Version)
	if err != nil {
		return Version{}, err
	}
	return v.read(), nil
}

type restoreParams struct {
	Name    string `json:"name" doc:"Name of the operation that the text declares."`
	Version int64  `json:"version" doc:"Version to deploy."`
	Note    string `json:"note,omitzero" doc:"Reason for the change, stored with the version."`
	// The empty token is that of a text that is not there.
	ChangeToken *string `json:"changeToken,omitzero" type:"string" doc:"Change token of the version that will be replaced, empty for a deleted text; an outdated token is refused."`
}

func (p restoreParams) run(k *Kind, c *engine.Ctx) (Version, error) {
	old, err := k.version(c, p.Name, p.Version)
	if err != nil {
		return Version{}, err
	}
	note := p.Note
	if note == "" {
		note = fmt.Sprintf("version %d again", old.Version)
	}
	v, err := k.save(c, &saveParams{Source: old.Source, Name: old.File, Note: note, ChangeToken: p.ChangeToken})
	if err != nil {
		return Version{}, err
	}
	return v.head(), nil
}

type diffParams struct {
	Name string `json:"name" doc:"Name of the operation that the text declares."`
	From int64  `json:"from,omitzero" doc:"Older version; 0 means the one before the newer."`
	To   int64  `json:"to,omitzero" doc:"Newer version; 0 means the deployed one."`
}

func (p diffParams) run(k *Kind, c *engine.Ctx) (string, error) {
	to, err := k.version(c, p.Name, p.To)
	if err != nil {
		return "", err
	}
	if p.From == 0 {
		if p.From = to.Version - 1; p.From == 0 {
			return "", fault.Invalid.Errorf("%s %s: there is no version before version 1", k.Noun, p.Name).In("from")
		}
	}
	from, err := k.version(c, p.Name, p.From)
	if err != nil {
		return "", err
	}
	name := func(v *Version) string { return fmt.Sprintf("%s version %d", v.Name, v.Version) }
	return udiff.Unified(name(from), name(to), from.Source, to.Source), nil
}

// versions returns all kept versions of a name.
func (k *Kind) versions(c *engine.Ctx, name string) ([]Version, error) {
	cur, err := k.current(c, name)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, fault.NotFound.Errorf("%s %s", k.Noun, name)
	}
	out := make([]Version, 0, cur.Version)
	for n := cur.Version; n > 0; n-- {
		v, err := k.version(c, name, n)
		if err != nil {
			return nil, err
		}
		out = append(out, v.head())
	}
	return out, nil
}
