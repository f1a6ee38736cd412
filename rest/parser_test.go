package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// entry is an entry point that takes the fields of a deck as JSON: what stands around them there, and
// what was made of them.
type entry struct {
	name, path, before, after string
	fields                    []string // of an answer, from the outside in, to those of the deck
}

func entries() []entry {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":`
	return []entry{
		{"v1", "/v1/decks", ``, ``, []string{"data"}},
		{"mcp", "/mcp", fmt.Sprintf(call, "create_deck"), `}}`, []string{"result", "structuredContent"}},
		{"whole mcp", "/mcp", `{"unusual":1,` + fmt.Sprintf(call, "create_deck")[1:], `}}`, []string{"result", "structuredContent"}},
		{"automation", "/api/v1/automation/Deck.Create", `{"params":`, `}`, []string{"value", "data"}},
		{"automation by a model", "/mcp/automation", fmt.Sprintf(call, "run_operation") + `{"operation":"Deck.Create","params":`, `}}}`, []string{"result", "structuredContent", "result", "data"}},
	}
}

// verdict sends a body, and says what became of it: the fields that were taken, or that it was
// refused. Whatever it is, it is no fault of the server.
func (e *entry) verdict(t *testing.T, s *resttest.Server, body string) string {
	t.Helper()
	got := s.Do("POST", e.path, body, "Accept", "application/json, text/event-stream", "as", "alice")
	var all any
	dec := json.NewDecoder(strings.NewReader(got.Text))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil && got.Text != "" && strings.Contains(got.Header.Get("Content-Type"), "json") {
		t.Errorf("%s: %q: the answer is no JSON: %.200s", e.name, body, got.Text)
	}
	if got.StatusCode >= http.StatusInternalServerError || strings.Contains(got.Text, "panic") || strings.Contains(got.Text, "goroutine ") {
		t.Errorf("%s: %.200q: %s %.300s", e.name, body, got.Status, got.Text)
	}
	if many, ok := all.([]any); ok && len(many) == 1 { // a batch, which the oldest era of the protocol has
		all = many[0]
	}
	out, _ := all.(map[string]any)
	for _, name := range e.fields {
		out, _ = out[name].(map[string]any)
	}
	if got.StatusCode >= http.StatusBadRequest || out["title"] == nil {
		return "refused"
	}
	return fmt.Sprintf("%v/%v/%v", out["title"], out["description"], out["width"])
}

// What becomes of fields: the platform's own entry point ignores names that it does not know, and
// operations make text of what is none, as its clients expect; elsewhere neither is taken.
const (
	refused = iota
	taken
	lenient // by operations
	ignored // at the platform's own entry point
)

// differential are fields as parsers disagree about them, and what becomes of them.
func differential() map[string]int {
	out := map[string]int{}
	for _, v := range []string{
		`"x"`, `"\u0041"`, `"\/"`, `"\ud83d\ude00"`, `"a b"`, `"é"`, "\"a\u2028\"", `"__proto__"`, `"</script>"`, `"expr:1+1"`, `"@{1+1}"`, `"${1+1}"`,
	} {
		out[`{"title":`+v+`}`], out[` { "title" : `+v+"\r\n\t}"], out[`{"\u0074itle":`+v+`}`] = taken, taken, taken
	}
	for _, v := range []string{
		"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, "\"\x00\"", "\"\x01\"", "\"\n\"", "\"a\tb\"", `"\x41"`, `"\'"`, `"\u12"`, `"\u{41}"`, `"\0"`, `'x'`, "`x`",
		`x`, `NaN`, `undefined`, `Infinity`, `-Infinity`, `True`, `TRUE`, `nil`, `"x`, `"a" "b"`, `"a"+"b"`, `/x/`, `<x>`, `"x"/**/`, "\"x\"//", `"x"#`, ``, `,`, `"x",`, `:"x"`, `{`, `[`, `]`, `"\u0000"`,
		`["x"]`, `{"a":"x"}`, `{"__proto__":{}}`, `{"toString":1}`,
	} {
		out[`{"title":`+v+`}`] = refused
	}
	for _, v := range []string{`1`, `100`, `960`, `9007199254740991`, `9007199254740993`, `9223372036854775807`} {
		out[`{"title":"x","width":`+v+`}`] = taken
	}
	for _, v := range []string{
		`01`, `+1`, `.5`, `1.`, `0x10`, `1_000`, `1e`, `1e+`, `-`, `--1`, `-0`, `-1`, `0`, `0.5`, `1.5`, `1e400`, `-1e400`, `1e-400`, `18446744073709551617`, `1n`, `1l`, `1,5`, `"x"`, `"1e3"`, `""`, `[1]`, `{}`, `１`,
		strings.Repeat("9", 400),
	} {
		out[`{"title":"x","width":`+v+`}`] = refused
	}
	for _, name := range []string{
		`Title`, `TITLE`, `tiTle`, `title `, ` title`, `tıtle`, `tit\u0131e`, `title\u0000`, `title\u200b`, `__proto__`, `constructor`, `prototype`, `hasOwnProperty`, `$ref`, `@type`, ``, `params`, `title[]`, `title.x`, `id`, `owner`,
		`slug`, `created_at`, `urls`, `account`, `ſlug`, `data-x`,
	} {
		out[`{"title":"x","`+name+`":"y"}`], out[`{"`+name+`":"y","title":"x"}`] = ignored, ignored
	}
	out[`{"title":1}`], out[`{"title":true}`], out[`{"x":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`}`] = lenient, lenient, ignored
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, f := range []string{
		`{"title":"a","title":"b"}`, `{"title":"a","title":"a"}`, `{"title":"a","\u0074itle":"b"}`, `{"title":"a","width":1,"title":"b"}`, `{"title":null,"title":"b"}`,
		`{title:"x"}`, `{'title':'x'}`, `{"title":"x",}`, `{,"title":"x"}`, `{"title":"x";"width":1}`, `{"title"="x"}`, `{"title":"x"`, `{"title":"x"]`, `["title","x"]`, `[{"title":"x"}]`, `"title"`, `{"title":"x"}}`, `{"title":"x"}{"title":"y"}`,
		`{"title":"x"},{"title":"y"}`, `/**/{"title":"x"}`, `{/**/"title":"x"}`, `{"title":/**/"x"}`, "{\"title\":\"x\"\v}", "{\"title\":\"x\"\f}", "{\"title\":\"x\"\u00a0}", "{\"title\":\"x\"\ufeff}", "{\"title\":\"x\"\x00}", "\x00{\"title\":\"x\"}",
		"\ufeff{\"title\":\"x\"}", `{"title":"x","description":` + deep(200) + `}`, `{"title":"x","description":` + deep(100_000) + `}`, `{"title":"x","width":` + strings.Repeat("[", 500_000) + `}`, `1`, `0`, `false`, `NaN`, `--`, `{"a"}`,
	} {
		out[f] = refused
	}
	return out
}

// TestParsers sends bodies that parsers disagree about to every entry point that takes fields: all say
// the same, and what they take is the same.
func TestParsers(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	s.User("alice")
	all := differential()
	for fields, want := range all {
		first, loose := "", ""
		for _, e := range entries() {
			got, same := e.verdict(t, s, e.before+fields+e.after), &first
			if strings.HasPrefix(e.name, "automation") && want == lenient || e.name == "automation" && want == ignored {
				same = &loose
			}
			if *same == "" {
				*same = got
			}
			if takes := want == taken || same == &loose; (got != "refused") != takes || got != *same || strings.Contains(got, "y") {
				t.Errorf("%s: %.120q: %s, elsewhere %s, want it taken: %t", e.name, fields, got, *same, takes)
			}
		}
	}
	for _, e := range entries() {
		whole := e.before + `{"title":"x"}` + e.after
		for body, taken := range map[string]bool{
			whole: true, " \r\n\t" + whole + "\n": true, "\ufeff" + whole: false, whole + "\x00": false, whole + "x": false, whole + whole: false, whole + "\n" + whole: false, whole + ",": false,
			"\v" + whole: false, ")]}'\n" + whole: false, whole[:len(whole)-1]: false, strings.ReplaceAll(whole, "", "\x00"): false, "\xff\xfe" + whole: false, " ": false, "null": false, `"` + whole: false,
		} {
			if got := e.verdict(t, s, body); (got != "refused") != taken {
				t.Errorf("%s: %.120q: %s, want it taken: %t", e.name, body, got, taken)
			}
		}
	}
	if t.Logf("%d bodies at %d entry points", len(all)+16, len(entries())); len(all) < 200 {
		t.Error("the test does not test much")
	}
}
