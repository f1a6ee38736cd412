package decks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/decks/deck"
	"catena/decks/listing"
	"catena/storage"
)

// TestListOffsets compares every page of a list that changes with the decks there are.
func TestListOffsets(t *testing.T) {
	s := newService(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	active, trashed := []int64{}, []int64{}
	for range 900 {
		made := s.do("alice", "Deck.Create", `{}`)["data"].(map[string]any)
		active = append(active, made["id"].(int64))
	}
	pages := func(op string, want []int64, perPage int) {
		t.Helper()
		slices.Reverse(want)
		s.lists("alice", op, perPage, want)
	}
	check := func(perPage int) {
		t.Helper()
		want := slices.Clone(active)
		slices.Sort(want)
		pages("Deck.List", want, perPage)
		pages("Deck.ListTrashed", slices.Clone(trashed), perPage)
	}
	check(97)
	move := func(op string, from, to *[]int64) {
		i := rnd.IntN(len(*from))
		id := (*from)[i]
		s.do("alice", op, fmt.Sprintf(`{"id":%d}`, id))
		*from, *to = slices.Delete(*from, i, i+1), append(*to, id)
	}
	for range 500 {
		move("Deck.Trash", &active, &trashed)
	}
	check(100)
	blocks := 0
	err := s.Repo().View(context.Background(), s.Repo().System(), func(tx *storage.Tx) error {
		for _, raw := range tx.Table(listing.BlockTable).Scan("", "~", false, 0) {
			row, err := deck.ReadRow[[]listing.Block](raw)
			if err != nil {
				return err
			}
			blocks += len(row)
		}
		return nil
	})
	if err != nil || blocks < 4 {
		t.Fatalf("%d blocks, %v", blocks, err)
	}
	for round := range 4 {
		for range 60 {
			if len(trashed) > 0 && rnd.IntN(3) == 0 {
				move("Deck.Recover", &trashed, &active)
			} else {
				move("Deck.Trash", &active, &trashed)
			}
		}
		check([]int{100, 33, 71}[round%3])
	}
}

// lists checks that the pages of a list have the decks wanted, by number.
func (s *service) lists(user, op string, perPage int, want []int64) {
	s.t.Helper()
	got := []int64{}
	for page := 1; ; page++ {
		out := s.do(user, op, fmt.Sprintf(`{"page":%d,"per_page":%d}`, page, perPage))
		if total := out["meta"].(map[string]any)["total"]; total != int64(len(want)) {
			s.t.Fatalf("%s for %s: total %v, want %d", op, user, total, len(want))
		}
		data := out["data"].([]any)
		for _, d := range data {
			got = append(got, d.(map[string]any)["id"].(int64))
		}
		if len(data) < perPage {
			break
		}
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("%s for %s, pages of %d: decks %v, want %v", op, user, perPage, got, want)
	}
}

// BenchmarkPages reads the first page of a long list and one far down.
func BenchmarkPages(b *testing.B) {
	s := newService(b)
	for range 5000 {
		s.do("alice", "Deck.Create", `{}`)
	}
	for _, page := range []int{1, 125, 250} {
		b.Run(fmt.Sprint(page), func(b *testing.B) {
			for b.Loop() {
				s.do("alice", "Deck.List", fmt.Sprintf(`{"page":%d}`, page))
			}
		})
	}
}
