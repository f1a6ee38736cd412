package decks

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"catena/storage/fault"
)

// slides are the HTML of a deck's slides.
func (s *service) slides(user string, id int64) string {
	s.t.Helper()
	data, _ := s.do(user, "Deck.Get", fmt.Sprintf(`{"id": %d}`, id))["data"].(map[string]any)
	text, _ := data["data"].(string)
	return strings.ReplaceAll(text, "\n", "")
}

// TestSlides changes single slides, which are counted from 1 in the order in which they are shown.
func TestSlides(t *testing.T) {
	a, b, c := "<section>a</section>", "<section>b</section>", "<section>c</section>"
	x := "<section>x</section>"
	stack := "<section><section>b</section><section>c</section></section>"
	tests := []struct{ deck, op, params, want string }{
		{a + b + c, "Deck.UpdateSlide", `"slide": 2, "html": "` + x + `"`, a + x + c},
		{a + b + c, "Deck.UpdateSlide", `"slide": 3, "html": "` + x + x + `"`, a + b + x + x},
		{a + stack, "Deck.UpdateSlide", `"slide": 3, "html": "` + x + `"`, a + "<section><section>b</section><section>x</section></section>"},
		{a + b, "Deck.UpdateSlide", `"slide": 3, "html": "` + x + `"`, "! notfound"},
		{a + b, "Deck.UpdateSlide", `"slide": 0, "html": "` + x + `"`, "! notfound"},
		{a + b, "Deck.UpdateSlide", `"slide": 1, "html": "<p>no section</p>"`, "! invalid"},
		{a + b, "Deck.UpdateSlide", `"slide": 1, "html": ""`, "! invalid"},
		{a + b, "Deck.UpdateSlide", `"slide": 1, "html": "<section>x<script>y</script></section>"`, x + b},
		{a + b, "Deck.UpdateSlide", `"slide": 1, "html": "<section>open"`, "! invalid"},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `"`, a + b + x},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": 0`, x + a + b},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": 1`, a + x + b},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": 2`, a + b + x},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": 3`, "! notfound"},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": -1`, "! notfound"},
		{a + b, "Deck.InsertSlide", `"html": "` + x + `", "after": 1, "below": true`, "<section><section>a</section><section>x</section></section>" + b},
		{a + stack, "Deck.InsertSlide", `"html": "` + x + `", "after": 2, "below": true`, a + "<section><section>b</section><section>x</section><section>c</section></section>"},
		{a + stack, "Deck.InsertSlide", `"html": "` + x + `", "after": 2`, a + stack + x},
		{a + b + c, "Deck.MoveSlide", `"slide": 1, "after": 3`, b + c + a},
		{a + b + c, "Deck.MoveSlide", `"slide": 3, "after": 0`, c + a + b},
		{a + b + c, "Deck.MoveSlide", `"slide": 2`, a + c + b},
		{"\n" + a + b, "Deck.MoveSlide", `"slide": 1, "after": 0`, a + b},
		{a + b + c, "Deck.MoveSlide", `"slide": 2, "after": 2`, a + b + c},
		{a + b + c, "Deck.MoveSlide", `"slide": 2, "after": 1`, a + b + c},
		{a + b + c, "Deck.MoveSlide", `"slide": 4, "after": 1`, "! notfound"},
		{a + b + c, "Deck.MoveSlide", `"slide": 1, "after": 4`, "! notfound"},
		{a + b + c, "Deck.RemoveSlide", `"slide": 2`, a + c},
		{a + stack, "Deck.RemoveSlide", `"slide": 2`, a + "<section><section>c</section></section>"},
		{a + b, "Deck.RemoveSlide", `"slide": 3`, "! notfound"},
		{a, "Deck.RemoveSlide", `"slide": 1`, ""}, // the last one
	}
	for _, test := range tests {
		s := newService(t)
		s.do("alice", "Deck.Create", fmt.Sprintf(`{"title": "t", "data": %q}`, test.deck))
		_, err := s.try("alice", test.op, `{"id": 1, `+test.params+`}`)
		got := s.slides("alice", 1)
		if err != nil {
			if got != test.deck {
				t.Errorf("%s %s: failed with %v and changed the deck to %s", test.op, test.params, err, got)
			}
			got = "! " + fault.Of(err).String()
		}
		if got != test.want {
			t.Errorf("%s %s of %s\n got %s (%v)\nwant %s", test.op, test.params, test.deck, got, err, test.want)
		}
	}
}

// TestSlidesOfOthers: nobody else changes or reads single slides, and a stale entity tag changes nothing.
func TestSlidesOfOthers(t *testing.T) {
	s := newService(t)
	const deck = "<section>a</section><section>b</section>"
	tag, _ := s.do("alice", "Deck.Create", fmt.Sprintf(`{"title": "t", "data": %q}`, deck))["etag"].(string)
	calls := []struct{ op, params string }{
		{"Deck.UpdateSlide", `"slide": 1, "html": "<section>x</section>"`},
		{"Deck.InsertSlide", `"html": "<section>x</section>"`},
		{"Deck.MoveSlide", `"slide": 1, "after": 2`},
		{"Deck.RemoveSlide", `"slide": 1`},
	}
	for _, call := range calls {
		for user, want := range map[string]fault.Kind{"bob": fault.NotFound} {
			if _, err := s.try(user, call.op, `{"id": 1, `+call.params+`}`); !fault.Is(err, want) {
				t.Errorf("%s of %s: %v", call.op, user, err)
			}
		}
		if _, err := s.try("alice", call.op, `{"id": 2, `+call.params+`}`); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s of no deck: %v", call.op, err)
		}
		if _, err := s.try("alice", call.op, `{"id": 1, "if_match": "\"99-u\"", `+call.params+`}`); fault.CodeOf(err) != fault.CodePreconditionFailed {
			t.Errorf("%s with another entity tag: %v", call.op, err)
		}
		if got := s.slides("alice", 1); got != deck {
			t.Errorf("%s: changed the deck to %s", call.op, got)
		}
	}
	if _, err := s.try("alice", "Deck.UpdateSlide", fmt.Sprintf(`{"id": 1, "slide": 1, "html": "<section>x</section>", "if_match": %q}`, tag)); err != nil {
		t.Errorf("with its entity tag: %v", err)
	}
	for _, op := range []string{"Deck.ListSlides", "Deck.GetSlide"} {
		if _, err := s.try("bob", op, `{"id": 1, "slide": 1}`); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s of somebody else's deck: %v", op, err)
		}
	}
	var e *fault.Error
	if _, err := s.try("alice", "Deck.GetSlide", `{"id": 1, "slide": 3}`); !errors.As(err, &e) || e.Kind != fault.NotFound {
		t.Errorf("no such slide: %v", err)
	}
}

// TestShareRules: links belong to the owner of a deck, have a name and may end.
func TestShareRules(t *testing.T) {
	s := newService(t)
	s.do("alice", "Deck.Create", `{"title": "t"}`)
	tests := []struct {
		params, field string
		code          fault.Code
	}{
		{`"name": "` + strings.Repeat("x", 201) + `"`, "name", fault.CodeTooLong},
		{`"name": "a\nb"`, "name", fault.CodeInvalidText},
		{`"expires_at": "tomorrow"`, "expires_at", 0},
		{`"expires_at": "2030-01-01T00:00:00"`, "expires_at", 0},  // without a time zone
		{`"expires_at": "2020-01-01T00:00:00Z"`, "expires_at", 0}, // is over
		{`"fields": {"nope": 1}`, "nope", fault.CodeUnknownField},
	}
	for _, test := range tests {
		_, err := s.try("alice", "Deck.CreateShareLink", `{"deck_id": 1, `+test.params+`}`)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid && e.Kind != fault.Limit || e.Field != test.field || test.code != 0 && e.Code != test.code {
			t.Errorf("%.60s: got %v (%+v), want field %s, code %s", test.params, err, e, test.field, test.code)
		}
	}
	for _, op := range []string{"Deck.CreateShareLink", "Deck.ListShareLinks"} { // bob's account has no links
		if _, err := s.try("bob", op, `{"deck_id": 1}`); fault.CodeOf(err) != fault.CodePlanRequired {
			t.Errorf("%s of somebody else's deck: %v", op, err)
		}
	}
	s.do("alice", "Deck.CreateShareLink", `{"deck_id": 1, "name": "`+strings.Repeat("ü", 200)+`"}`)
	if _, err := s.try("bob", "Deck.RevokeShareLink", `{"deck_id": 1, "id": 1}`); fault.CodeOf(err) != fault.CodePlanRequired {
		t.Errorf("revoked by somebody else: %v", err)
	}
	for _, id := range []string{"0", "-1", "2", "9223372036854775807"} {
		if _, err := s.try("alice", "Deck.RevokeShareLink", `{"deck_id": 1, "id": `+id+`}`); !fault.Is(err, fault.NotFound) {
			t.Errorf("link %s: %v", id, err)
		}
	}
	for _, token := range []string{"", "x", strings.Repeat("x", 10_000), "../1", "1-1-1"} {
		if _, err := s.try("bob", "Deck.OpenShare", fmt.Sprintf(`{"token": %q}`, token)); !fault.Is(err, fault.NotFound) {
			t.Errorf("token %.20q: %v", token, err)
		}
	}
}

// TestListBounds: pages of decks have sizes and numbers within bounds, and errors name the field.
func TestListBounds(t *testing.T) {
	s := newService(t)
	for i := range 3 {
		s.do("alice", "Deck.Create", fmt.Sprintf(`{"title": "deck %d"}`, i))
	}
	count := func(op, params string) string {
		out, err := s.try("alice", op, params)
		var e *fault.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("! %s %s", e.Kind, e.Field)
		}
		if err != nil {
			return err.Error()
		}
		meta, _ := out["meta"].(map[string]any)
		return fmt.Sprintf("%d of %v", len(out["data"].([]any)), meta["total"])
	}
	for _, test := range []struct{ params, want string }{
		{`{}`, "3 of 3"},
		{`{"per_page": 2}`, "2 of 3"},
		{`{"per_page": 2, "page": 2}`, "1 of 3"},
		{`{"per_page": 2, "page": 3}`, "0 of 3"},
		{`{"perPage": 1}`, "1 of 3"},
		{`{"per_page": 100}`, "3 of 3"},
		{`{"per_page": 101}`, "! invalid per_page"},
		{`{"per_page": 0}`, "! invalid per_page"},
		{`{"page": 0}`, "! invalid page"},
		{`{"page": -1}`, "! invalid page"},
		{`{"page": 9223372036854775807}`, "0 of 3"},
	} {
		if got := count("Deck.List", test.params); got != test.want {
			t.Errorf("%s: got %s, want %s", test.params, got, test.want)
		}
	}
	if got := count("Deck.ListTrashed", `{}`); got != "0 of 0" {
		t.Errorf("trash: %s", got)
	}
	s.do("alice", "Deck.Trash", `{"id": 2}`)
	for op, want := range map[string]string{"Deck.ListTrashed": "1 of 1", "Deck.List": "2 of 2"} {
		if got := count(op, `{}`); got != want {
			t.Errorf("%s after one was trashed: got %s, want %s", op, got, want)
		}
	}
}
