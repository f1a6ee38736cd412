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
	"catena/storage/directory/record"
	"catena/storage/kv"
	inmemory "catena/storage/memory"
	"catena/storage/owner"
)

// rehearse deploys what a data directory holds on an empty store in memory, and returns what serve would describe: files
// that are refused, actions that are not offered, workflows that cannot run. Texts kept in the store count unless a server
// has it open; then the files alone do.
func (s *serve) rehearse(ctx context.Context, g *global, d *declared) (err error) {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	kept, err := g.keptTexts(ctx)
	if err != nil {
		return err
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
		Name: "default", DB: a.db, Blobs: a.blobs, Types: d.types, Log: log,
		Owners: slices.Concat([]storage.Owner{record.Use(d.directories)}, owner.All, ops.Owners, decks.Owners),
	}, "rehearsal")
	if err != nil {
		return err
	}
	a.branches = []branch{{repo: a.repo}}
	if err := a.arm(ctx, o, self); err != nil {
		return err
	}
	a.schedules.AnyUser, a.hooks.AnyUser = true, true // users are kept in the store alone
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

// keptTexts returns the texts in the store of a data directory. It returns none if there is no store or a server has it open.
func (g *global) keptTexts(ctx context.Context) (all []keptText, err error) {
	store := filepath.Join(g.data, "store")
	if _, err := os.Stat(store); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if used, err := badger.InUse(store); used || err != nil {
		return nil, nil
	}
	a, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	for _, family := range []string{"Module", "Script", "Chain", "Listener", "Schedule", "Hook"} {
		var heads []keptText
		if err := a.ask(ctx, family+".List", nil, &heads); err != nil {
			return nil, err
		}
		for _, h := range heads {
			t := keptText{family: family}
			if err := a.ask(ctx, family+".Read", map[string]any{"name": h.Name}, &t); err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	return all, nil
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
