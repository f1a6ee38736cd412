package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// titles are few, so that documents share them.
var titles = []string{"apple", "banana", "cherry", "damson"}

// talks are titles of decks.
var talks = []string{"elder", "fig", "grape"}

// group is the name of one of the two groups.
func group(r *rand.Rand) string { return fmt.Sprint("group", r.IntN(2)) }

func name(r *rand.Rand) string { return fmt.Sprint("user", r.IntN(5)) }

// user is who makes a call.
func (w *world) user(r *rand.Rand) string {
	if r.IntN(4) == 0 {
		return administrator
	}
	return name(r)
}

// choice is a kind of action and how often it is chosen.
type choice struct {
	often  int
	action func(w *world, r *rand.Rand) action
}

var choices = []choice{
	{10, func(w *world, r *rand.Rand) action { return w.create(r) }},
	{8, func(w *world, r *rand.Rand) action { return &rename{id: w.any(r), title: pick(r, titles)} }},
	{8, func(w *world, r *rand.Rand) action { return &move{id: w.any(r), target: w.folder(r)} }},
	{3, func(w *world, r *rand.Rand) action { return &remove{id: w.any(r)} }},
	{5, func(w *world, r *rand.Rand) action { return &trash{id: w.any(r), out: r.IntN(2) == 0} }},
	{5, func(w *world, r *rand.Rand) action { return &lock{id: w.any(r), end: r.IntN(2) == 0} }},
	{5, func(w *world, r *rand.Rand) action { return &version{id: w.any(r)} }},
	{8, func(_ *world, r *rand.Rand) action { return &query{title: pick(r, titles), text: r.IntN(3) == 0} }},
	{9, func(w *world, r *rand.Rand) action {
		return &grant{id: w.any(r), what: pick(r, []string{grantIt, grantIt, revokeIt, block, unblock}), user: pick(r, []string{group(r), name(r), name(r)}), permission: pick(r, []string{"Read", "ReadWrite", "Everything"})}
	}},
	{6, func(w *world, r *rand.Rand) action { return &attach{id: w.any(r), content: content(r)} }},
	{5, func(w *world, r *rand.Rand) action { return &fetch{id: w.any(r)} }},
	{3, func(w *world, r *rand.Rand) action { return w.review(r) }},
	{4, func(_ *world, r *rand.Rand) action { return &hire{user: name(r), groups: []string{group(r)}} }},
	{3, func(_ *world, r *rand.Rand) action { return &fire{user: name(r)} }},
	{4, func(_ *world, r *rand.Rand) action {
		return &join{user: name(r), group: group(r), leave: r.IntN(2) == 0}
	}},
	{8, func(w *world, r *rand.Rand) action { return w.design(r) }},
}

// choose decides what a client does next.
func (w *world) choose(r *rand.Rand) action {
	if len(w.made) == 0 {
		return w.create(r)
	}
	sum := 0
	for i, c := range choices {
		sum += c.often * w.plan.weights[i]
	}
	n := r.IntN(sum)
	for i, c := range choices {
		if n -= c.often * w.plan.weights[i]; n < 0 {
			return c.action(w, r)
		}
	}
	panic("unreachable")
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// any is a document that some client has made, which may be gone.
func (w *world) any(r *rand.Rand) string {
	if n := len(w.made); n > 8 && r.IntN(2) == 0 {
		return w.made[n-1-r.IntN(8)].id
	}
	return pick(r, w.made).id
}

// folder is a folder that some client has made, or the one that all are in.
func (w *world) folder(r *rand.Rand) string {
	for range 3 {
		if len(w.made) == 0 {
			break
		}
		if d := pick(r, w.made); d.typ == "Folder" {
			return d.id
		}
	}
	return w.model.base
}

func (w *world) create(r *rand.Rand) action {
	w.tokens++
	a := &create{parent: w.folder(r), typ: pick(r, []string{"Folder", "File", "File"}), title: pick(r, titles), token: fmt.Sprintf("t%04d", w.tokens), name: "same"}
	if r.IntN(3) > 0 {
		a.name = a.token
	}
	return a
}

// content is that of a file: one of a few that many have, or one of its own, small or large.
func content(r *rand.Rand) []byte {
	size := pick(r, []int{10, 1000, 70_000})
	if r.IntN(2) == 0 {
		return bytes.Repeat([]byte{'a' + byte(r.IntN(3))}, size)
	}
	return fmt.Appendf(bytes.Repeat([]byte{'-'}, size), "%d", r.Uint64())
}

func (w *world) review(r *rand.Rand) action {
	if len(w.reviews) == 0 || r.IntN(2) == 0 {
		return &start{id: w.any(r)}
	}
	s := pick(r, w.reviews)
	return &finish{instance: s.instance, task: s.task}
}

func (w *world) design(r *rand.Rand) action {
	if len(w.decks) == 0 || r.IntN(3) == 0 {
		return &design{title: pick(r, talks)}
	}
	number := pick(r, w.decks)
	switch r.IntN(5) {
	case 0, 1:
		return &redesign{number: number, title: pick(r, talks)}
	case 2:
		return &discard{number: number}
	}
	return &present{number: number}
}

// learn takes in what clients know once a call was answered.
func (w *world) learn(c *call) {
	if c.err != nil {
		return
	}
	switch a := c.action.(type) {
	case *create:
		w.made = append(w.made, a)
	case *start:
		w.reviews = append(w.reviews, a)
	case *design:
		w.decks = append(w.decks, a.number)
	}
}
