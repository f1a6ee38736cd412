package jsonpath

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"catena/storage/fault"
)

// store is the example of RFC 9535, section 1.5.
const store = `{"store": {"book": [
	{"category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95},
	{"category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99},
	{"category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3", "price": 8.99},
	{"category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99}
], "bicycle": {"color": "red", "price": 399}}}`

func value(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func always() error { return nil }

// TestSelect plays the examples of RFC 9535, table 2, and what people ask of answers.
func TestSelect(t *testing.T) {
	for _, test := range []struct{ value, query, want string }{
		{store, `$.store.book[*].author`, `["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]`},
		{store, `$..author`, `["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]`},
		{store, `$..book[2].author`, `["Herman Melville"]`},
		{store, `$..book[2].publisher`, `[]`},
		{store, `$..book[-1].title`, `["The Lord of the Rings"]`},
		{store, `$..book[0,1].title`, `["Sayings of the Century","Sword of Honour"]`},
		{store, `$..book[:2].title`, `["Sayings of the Century","Sword of Honour"]`},
		{store, `$..book[?@.isbn].title`, `["Moby Dick","The Lord of the Rings"]`},
		{store, `$..book[?@.price<10].title`, `["Sayings of the Century","Moby Dick"]`},
		{store, `$.store.bicycle["color"]`, `["red"]`},
		{store, `$.store.book[?match(@.author, ".*Waugh")].price`, `[12.99]`},
		{store, `$.store.book[?length(@.title) == 9].title`, `["Moby Dick"]`},
		{store, `$.store.book[?@.price > $.store.book[0].price].price`, `[12.99,8.99,22.99]`},
		{`[1,null,"a",true]`, `$[1]`, `[null]`},
		{`[1,2,3]`, `$[::-1]`, `[3,2,1]`},
		{`"text"`, `$`, `["text"]`},
		{`"text"`, `$.a`, `[]`},
		{`{"ключ":{"é":1}}`, `$.ключ["é"]`, `[1]`},
		{`[{"a":1},{"a":2},{"b":3}]`, `$[?!@.a].b`, `[3]`},
		{`{"items":[]}`, `$.items[*]`, `[]`},
	} {
		q, err := Parse(test.query)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		out, err := q.Select(value(t, test.value), always)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
		}
		if got, _ := json.Marshal(append([]any{}, out...)); string(got) != test.want {
			t.Errorf("%s: got %s, want %s", test.query, got, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for query, kind := range map[string]fault.Kind{
		``: fault.Invalid, `store`: fault.Invalid, `$.`: fault.Invalid, `$[?]`: fault.Invalid, `$[01]`: fault.Invalid, `$["a]`: fault.Invalid, `$ `: fault.Invalid,
		`$[?length(@.a)]`: fault.Invalid, `$[?nothing(@.a)]`: fault.Invalid, `$[9007199254740992]`: fault.Invalid,
		`$` + strings.Repeat(".a", 500):  fault.Limit,
		`$[?` + strings.Repeat("(", 990): fault.Invalid,
	} {
		if _, err := Parse(query); err == nil || fault.Of(err) != kind {
			t.Errorf("%.40s: %v", query, err)
		}
	}
	if _, err := Parse(`$` + strings.Repeat(".a", 499)); err != nil {
		t.Errorf("the longest query: %v", err)
	}
}

// TestCost refuses short queries that would visit small values without end, before they run.
func TestCost(t *testing.T) {
	list := func(n int) any {
		out := make([]any, n)
		for i := range out {
			out[i] = map[string]any{"n": float64(i), "next": []any{float64(i)}}
		}
		return out
	}
	deep := any(1.0)
	for range 40 {
		deep = []any{deep}
	}
	for _, test := range []struct {
		name, query string
		value       any
		limit       bool
	}{
		{"one filter", `$[?@.n > 3]`, list(20_000), false},
		{"a filter that looks through the list for each item", `$[?$..n]`, list(20_000), true},
		{"of few items", `$[?$..n]`, list(200), false},
		{"a filter in a filter", `$[?@[?@ > 3]]`, list(20_000), true},
		{"a slice in a filter", `$[?@.next[0:1]]`, list(20_000), true},
		{"many selectors", `$[` + strings.Repeat("*,", 400) + `*]`, list(20_000), true},
		{"twice as many at each level", `$` + strings.Repeat("[*,*]", 40), deep, true},
		{"below what is below", `$` + strings.Repeat("..*", 60), deep, true},
		{"once below", `$..n`, list(20_000), false},
	} {
		q, err := Parse(test.query)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if _, err := q.Select(test.value, always); (err != nil) != test.limit || err != nil && fault.Of(err) != fault.Limit {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestSelectEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	q, err := Parse(`$[*].a[*]`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = q.Select(value(t, `[{"a":[1]},{"a":[2]},{"a":[3]},{"a":[4]}]`), func() error {
		if n++; n == 10 {
			cancel()
		}
		return context.Cause(ctx)
	})
	if err != context.Canceled { //nolint:errorlint // it is given on as it is
		t.Errorf("got %v after %d checks", err, n)
	}
}

func FuzzParse(f *testing.F) {
	for _, query := range []string{`$`, `$..book[?@.price<10]`, `$["a"][1:2:-1]`, `$[?match(@.a, "[")]`, `$[?@.a == 'b' && !@.c || count(@.*) > 1]`, "$['\\ud800']"} {
		f.Add(query)
	}
	v := value(f, store)
	f.Fuzz(func(t *testing.T, query string) {
		q, err := Parse(query)
		if err != nil {
			if k := fault.Of(err); k != fault.Invalid && k != fault.Limit {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		if out, err := q.Select(v, always); err == nil && len(out) > maxNodes {
			t.Fatalf("%q: %d parts", query, len(out))
		}
	})
}
