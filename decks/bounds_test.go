package decks

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"catena/decks/style"
	"catena/storage"
	"catena/storage/search"
)

// TestBounds gives decks as much as they take, and one more, which is refused with an error that says how much they take.
func TestBounds(t *testing.T) {
	s := newService(t)
	s.do("alice", "Deck.Create", `{"title":"a","data":"<section>a</section>"}`)
	x := func(n int) string { return strings.Repeat("x", n) }
	create := func(format string, v ...any) error {
		_, err := s.try("alice", "Deck.Create", fmt.Sprintf(format, v...))
		return err
	}
	const around = "<section></section>"
	const rule = "{color:red}"
	spelled := len(style.Compile(".a"+rule)) - len("a") // as it is put into the file
	dress := func(n int) error {
		return s.Repo().Update(t.Context(), s.Repo().System(), func(tx *storage.Tx) error {
			docs, err := search.Query(tx, "SELECT * FROM Deck WHERE deck:number = 1", search.Options{})
			if err == nil {
				err = docs.Docs[0].Set("deck:css", "."+x(n-spelled)+rule)
			}
			if err == nil {
				_, err = tx.Save(docs.Docs[0], storage.SaveOptions{})
			}
			return err
		})
	}
	for _, b := range []struct {
		name  string
		limit int
		ask   func(n int) error
	}{
		{"characters of a title", 200, func(n int) error { return create(`{"title":%q}`, strings.Repeat("é", n)) }},
		{"characters of a description", 10_000, func(n int) error { return create(`{"title":"a","description":%q}`, strings.Repeat("é", n)) }},
		{"bytes of slides", 10 << 20, func(n int) error { return create(`{"title":"a","data":%q}`, "<section>"+x(n-len(around))+"</section>") }},
		{"slides", 1000, func(n int) error { return create(`{"title":"a","data":%q}`, strings.Repeat(around, n)) }},
		{"bytes of a link's password", 1024, func(n int) error {
			_, err := s.try("alice", "Deck.CreateShareLink", fmt.Sprintf(`{"deck_id":1,"password":%q}`, x(n)))
			return err
		}},
		{"bytes of an export's style sheet", 64 << 10, func(n int) error {
			if err := dress(n); err != nil {
				t.Fatal(err)
			}
			_, err := s.try("alice", "Deck.CreateExport", `{"deck_id":1,"format":"pdf"}`)
			return err
		}},
	} {
		if err := b.ask(b.limit); err != nil {
			t.Errorf("%s: %d: %.300v", b.name, b.limit, err)
		}
		if err := b.ask(b.limit + 1); err == nil || !strings.Contains(err.Error(), strconv.Itoa(b.limit)) {
			t.Errorf("%s: %d: %.300v", b.name, b.limit+1, err)
		}
	}
}
