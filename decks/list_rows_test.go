package decks

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/opstest"
)

// TestBrowse lists decks by owner, words, trash and page.
func TestBrowse(t *testing.T) {
	s := table(t)
	for i, fields := range []string{
		`"title": "Red apples", "visibility": "all"`, `"title": "Green apples"`, `"title": "Pears", "description": "No apples", "visibility": "all"`,
		`"title": "Plums", "data": "<section>Applesauce</section>"`, `"title": "Figs", "visibility": "all"`,
	} {
		if got := s.Call("alice", "Deck.Create", "", "{"+fields+"}"); !strings.Contains(got, fmt.Sprintf(`"id":%d,`, i+1)) {
			t.Fatal(got)
		}
	}
	s.Call("bob", "Deck.Create", "", `{"title": "Mine"}`)
	titles := func(user, params string) string {
		got := s.Call(user, "Deck.Browse", "", params)
		if strings.HasPrefix(got, "!") {
			return got
		}
		var out []string
		for _, part := range strings.Split(got, `"title":"`)[1:] {
			title, _, _ := strings.Cut(part, `"`)
			out = append(out, title)
		}
		if strings.Contains(got, `"more":true`) {
			out = append(out, "…")
		}
		return strings.Join(out, ", ")
	}
	s.Call("alice", "Deck.Trash", "", `{"id": 5}`)
	for _, row := range []struct{ user, params, want string }{
		{"alice", `{}`, "Plums, Pears, Green apples, Red apples"},
		{"alice", `{"per_page": 2}`, "Plums, Pears, …"},
		{"alice", `{"per_page": 2, "page": 2}`, "Green apples, Red apples"},
		{"alice", `{"per_page": 2, "page": 3}`, ""},
		{"alice", `{"per_page": 3, "page": 2}`, "Red apples"},
		{"alice", `{"per_page": 4}`, "Plums, Pears, Green apples, Red apples"},
		{"alice", `{"page": 9223372036854775807}`, ""},
		{"alice", `{"page": 0}`, "! invalid out_of_range page: page: must be at least 1, not 0"},
		{"alice", `{"per_page": 101}`, "! invalid out_of_range per_page: per_page: must be between 1 and 100, not 101"},
		{"alice", `{"words": "apples"}`, "Plums, Pears, Green apples, Red apples"},
		{"alice", `{"words": "red APP"}`, "Red apples"},
		{"alice", `{"words": "apples -red"}`, "Red apples"},
		{"alice", `{"words": "\"apples\" OR"}`, ""},
		{"alice", `{"words": "figs"}`, ""},
		{"alice", `{"words": " \"*~ "}`, "Plums, Pears, Green apples, Red apples"},
		{"alice", `{"trashed": true}`, "Figs"},
		{"alice", `{"trashed": true, "words": "figs"}`, "Figs"},
		{"alice", `{"trashed": true, "words": "apples"}`, ""},
		{"alice", `{"trashed": true, "page": 2}`, ""},
		{"alice", `{"username": "alice"}`, "Pears, Red apples"},
		{"bob", `{"username": "alice"}`, "Pears, Red apples"},
		{"bob", `{"username": "alice", "per_page": 1}`, "Pears, …"},
		{"bob", `{"username": "alice", "per_page": 1, "page": 2}`, "Red apples"},
		{"bob", `{"username": "alice", "per_page": 1, "page": 3}`, `! notfound: user "alice": has no such public decks`},
		{"bob", `{"username": "alice", "words": "green"}`, `! notfound: user "alice": has no such public decks`},
		{"bob", `{"username": "alice", "trashed": true}`, "Pears, Red apples"},
		{"alice", `{"username": "bob"}`, `! notfound: user "bob": has no such public decks`},
		{"alice", `{"username": "nobody"}`, `! notfound: user "nobody": has no such public decks`},
		{"alice", `{"username": "../alice"}`, `! notfound: user "../alice": has no such public decks`},
		{"bob", `{}`, "Mine"},
		{"carol", `{}`, ""},
	} {
		if got := titles(row.user, row.params); got != row.want {
			t.Errorf("%s %s:\n got %s\nwant %s", row.user, row.params, got, row.want)
		}
	}
}

// TestListOrder: lists have the newest deck first, the trash what came last, whatever is changed in between.
func TestListOrder(t *testing.T) {
	s := table(t)
	for i := range 4 {
		s.Call("alice", "Deck.Create", "", fmt.Sprintf(`{"title": "%c"}`, 'a'+i))
	}
	s.Play([]opstest.Row{
		{"alice", "Deck.Update", "", `{"id": 1, "title": "z"}`, `{…`},
		{"", "Deck.List", "", `{"revision": "A"}`, `…"id":4,…"id":3,…"id":2,…"id":1,…"total":4}}}`},
		{"", "Deck.Trash", "", `{"id": 3}`, `{…`},
		{"", "Deck.Trash", "", `{"id": 1}`, `{…`},
		{"", "Deck.Trash", "", `{"id": 4}`, `{…`},
		{"", "Deck.List", "", `{}`, `…"id":2,…"total":1}}}`},
		{"", "Deck.ListTrashed", "", `{}`, `…"id":4,…"id":1,…"id":3,…"total":3}}}`},
		{"", "Deck.ListTrashed", "", `{"per_page": 1, "page": 2}`, `…"id":1,…"page":2,"per_page":1,"total":3}}}`},
		{"", "Deck.ListTrashed", "", `{"per_page": 1, "page": 4}`, `…"data":[],…"total":3}}}`},
		{"", "Deck.ListTrashed", "", `{"page": 0}`, `! invalid out_of_range page: …`},
		{"", "Deck.Get", "", `{"id": 3}`, `! notfound: deck 3: does not exist`},
		{"", "Deck.Recover", "", `{"id": 3}`, `{…`},
		{"", "Deck.List", "", `{}`, `…"id":3,…"id":2,…"total":2}}}`},
		{"", "Deck.ListTrashed", "", `{}`, `…"id":4,…"id":1,…"total":2}}}`},
		{"", "Deck.Trash", "", `{"id": 3}`, `{…`},
		{"", "Deck.ListTrashed", "", `{}`, `…"id":3,…"id":4,…"id":1,…"total":3}}}`},
		{"bob", "Deck.ListTrashed", "", `{}`, `…"data":[],…"total":0}}}`},
		{"", "Deck.ListTrashed", "", `{"per_page": 0}`, `! invalid out_of_range per_page: …`},
		{"", "Deck.List", "", `{"per_page": 0}`, `! invalid out_of_range per_page: …`},
		{"", "Deck.Recover", "", `{"id": 1}`, `! notfound: deck 1: …`},
	})
}
