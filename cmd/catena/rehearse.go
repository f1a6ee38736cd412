package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"catena/decks"
	"catena/engine"
	"catena/engine/pdf"
	"catena/ops"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/blob"
	"catena/storage/declare"
	"catena/storage/kv"
	inmemory "catena/storage/memory"
	"catena/storage/owner"
	"catena/storage/people"
)

// rehearse deploys what a data directory holds on an empty store in memory, and returns what serve would describe: files
// that are refused, actions that are not offered, workflows that cannot run. Texts kept in the store count unless a server
// has it open; then the files alone do.
func (s *serve) rehearse(ctx context.Context, g *global, d *declared) (err error) {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	kept, users, err := g.kept(ctx)
	if err != nil {
		return err
	}
	if d.misfit() != nil {
		texts := map[string][]declare.Source{}
		for _, t := range kept {
			texts[t.family] = append(texts[t.family], declare.Source{Name: cmp.Or(t.File, t.Name+".yaml"), Text: t.Source})
		}
		all, err := d.kinds.Over(texts["Type"], texts["Vocabulary"])
		if all.Types != nil {
			d.types = all.Types
			err = errors.Join(err, d.texts.Over(all.Types, texts))
		}
		if err != nil {
			return err
		}
	}
	log := slog.New(slog.DiscardHandler)
	a := &app{dir: g.data, log: log, level: &slog.LevelVar{}, declared: d, meters: newMeters(), db: kv.New(inmemory.New(), kv.Options{Log: log})}
	defer func() { err = errors.Join(err, a.close()) }()
	if a.blobs, err = blob.Open("", log); err != nil {
		return err
	}
	o := s.options()
	a.pdf = pdf.New(nil, "", o.limits.pdf)
	a.repo, err = storage.Open(ctx, storage.Config{
		Name: "default", DB: a.db, Blobs: a.blobs, Types: d.types, Declared: d.kinds.Declared, Log: log,
		Owners: slices.Concat(owner.All, ops.Owners, decks.Owners),
	}, "rehearsal")
	if err != nil {
		return err
	}
	a.branches = []branch{{repo: a.repo}}
	set, err := a.assemble(o, self)
	if err != nil {
		return err
	}
	a.arm(ctx, o, set)
	a.schedules.Users, a.hooks.Users = users, users
	// What is refused of the kept texts was accepted before, or lacks what is gone: serve logs that too, and goes on.
	// One that names another which comes later is tried again.
	for before := len(kept) + 1; len(kept) < before; {
		before = len(kept)
		kept = slices.DeleteFunc(kept, func(t keptText) bool { return a.redeploy(ctx, t) == nil })
	}
	var all []error
	for _, f := range a.deployFiles(ctx) {
		all = append(all, f.err)
	}
	return errors.Join(all...)
}

// redeploy deploys a text that another data directory keeps.
func (a *app) redeploy(ctx context.Context, t keptText) error {
	_, err := a.engine.Run(ctx, engine.Call{Op: t.family + ".Save", As: a.engine.System(), Params: map[string]any{"source": t.Source, "name": cmp.Or(t.File, t.Name)}})
	return err
}

// keptText is a deployed text of a family of operations.
type keptText struct {
	family       string
	Name, Source string
	File         string
}

// kept returns the texts in the store of a data directory, and whether it has a user. It returns no texts if there is no store,
// which has its administrator once it is made, or if a server has it open, whose users are not known.
func (g *global) kept(ctx context.Context) (all []keptText, user func(name string) bool, err error) {
	store := filepath.Join(g.data, "store")
	if _, err := os.Stat(store); errors.Is(err, os.ErrNotExist) {
		return nil, func(name string) bool { return name == storage.AdministratorName }, nil
	}
	if used, err := badger.InUse(store); used || err != nil {
		return nil, func(string) bool { return true }, nil
	}
	a, err := g.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	var names []string
	if err := a.repo.View(ctx, a.repo.System(), func(tx *storage.Tx) (err error) {
		names, err = people.UsersNamed(tx, "")
		return err
	}); err != nil {
		return nil, nil, err
	}
	for _, family := range []string{"Type", "Vocabulary", "Template", "MailTemplate", "PageProvider", "Module", "Script", "Chain", "ActionDefinition", "WorkflowDefinition", "Listener", "Schedule", "Hook"} {
		var heads []keptText
		if err := a.ask(ctx, family+".List", nil, &heads); err != nil {
			return nil, nil, err
		}
		for _, h := range heads {
			t := keptText{family: family}
			if err := a.ask(ctx, family+".Read", map[string]any{"name": h.Name}, &t); err != nil {
				return nil, nil, err
			}
			all = append(all, t)
		}
	}
	return all, func(name string) bool { return slices.Contains(names, name) }, nil
}

// ask runs an operation as the server and decodes what it returns.
func (a *app) ask(ctx context.Context, op string, params map[string]any, into any) error {
	res, err := a.engine.Run(ctx, engine.Call{Op: op, As: a.engine.System(), Params: params})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(res.Value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
