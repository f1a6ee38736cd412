package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/schema"
	analysis "catena/storage/text"
)

func registry(t testing.TB) *schema.Registry {
	t.Helper()
	reg, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// record is a document in a test.
type record struct {
	system map[System]any
	props  map[string]any
}

func (r record) System(f *Field) (any, error)          { return r.system[f.System], nil }
func (r record) Property(f *schema.Field) (any, error) { return r.props[f.Key], nil }
func (r record) Work(int) error                        { return nil }

var report = record{
	system: map[System]any{
		SysPath: "/ws/reports/q1", SysUUID: "id-1", SysIsTrashed: false, SysIsVersion: false, SysPos: int64(3),
		SysMixin: []any{"Downloadable", "Versionable"}, SysFulltext: analysis.Analyse("", "Quarterly Report: sales in Zürich, and more"),
		SysType: "File", SysVersionLabel: "1.0",
	},
	props: map[string]any{
		"dc:title": "Report 100%", "dc:source": nil, "dc:subjects": []any{"art", "music"}, "dc:contributors": []any{},
		"dc:created": time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC), "common:size": int64(42), "dc:coverage": "europe/France",
		"file:content": &blob.Blob{Name: "r.txt", Type: "text/plain", Size: 7},
		"files:files": []any{
			map[string]any{"file": &blob.Blob{Name: "a.txt", Type: "text/plain", Size: 1}},
			map[string]any{"file": &blob.Blob{Name: "b.pdf", Type: "application/pdf", Size: 2}},
		},
		"nxtag:tags": []any{map[string]any{"label": "red"}, map[string]any{"label": "blue"}},
	},
}

// The table is long because the language is.
func TestMatch(t *testing.T) {
	reg := registry(t)
	tests := []struct {
		where string
		want  bool
	}{
		{`dc:title = 'Report 100%'`, true},
		{`dc:title = 'report 100%'`, false},
		{`dc:title ILIKE 'REPORT%'`, true},
		{`dc:title LIKE 'report%'`, false},
		{`dc:title LIKE 'R%t 1_0\%'`, true},
		{`dc:title LIKE '%100_'`, true},
		{`dc:title LIKE '%100'`, false},
		{`dc:title NOT LIKE '%x%'`, true},
		{`dc:title LIKE '%%%'`, true},
		{`dc:title BETWEEN 'A' AND 'Z'`, true},
		{`dc:title NOT BETWEEN 'A' AND 'Z'`, false},
		{`dc:title > 'a' AND dc:title < 'z' AND dc:title <= 'report 100%' AND NOT dc:title > 'rEPORT 100%'`, true},
		{`dc:source = 'x'`, false},
		{`NOT dc:source = 'x'`, false},
		{`dc:source <> 'x'`, false},
		{`dc:source IS NULL`, true},
		{`dc:source = 'x' OR dc:title IS NOT NULL`, true},
		{`dc:subjects = 'art'`, true},
		{`dc:subjects <> 'art'`, false},
		{`dc:subjects <> 'x'`, true},
		{`dc:subjects NOT IN ('x', 'music')`, false},
		{`dc:subjects IN ('x', 'music')`, true},
		{`dc:subjects/0 = 'art'`, true},
		{`dc:subjects/1 = 'art'`, false},
		{`dc:subjects/5 IS NULL`, true},
		{`dc:subjects/* LIKE 'mu%'`, true},
		{`dc:contributors IS NULL`, true},
		{`dc:contributors <> 'bob'`, true},
		{`dc:created = TIMESTAMP '2024-05-02 10:15:30'`, true},
		{`dc:created > DATE '2024-05-02' AND dc:created < '2024-05-03'`, true},
		{`dc:created < NOW() - 'P1Y'`, true},
		{`common:size = 42.0 AND common:size > '41' AND common:size < 42.5`, true},
		{`file:content/name = 'r.txt' AND file:content/length = 7`, true},
		{`file:content IS NOT NULL`, true},
		{`files:files/*/file/name = 'b.pdf'`, true},
		{`files:files/*/file/name = 'b.pdf' AND files:files/*/file/mime-type = 'text/plain'`, true},
		{`files:files/*1/file/name = 'b.pdf' AND files:files/*1/file/mime-type = 'text/plain'`, false},
		{`files:files/*1/file/name = 'b.pdf' AND files:files/*1/file/mime-type LIKE '%pdf'`, true},
		{`ecm:tag = 'blue'`, true},
		{`ecm:tag IN ('green')`, false},
		{`ecm:path STARTSWITH '/ws'`, true},
		{`ecm:path STARTSWITH '/'`, true},
		{`ecm:path STARTSWITH '/ws/reports/q1'`, false},
		{`ecm:path STARTSWITH '/ws/rep'`, false},
		{`dc:coverage STARTSWITH 'europe'`, true},
		{`dc:coverage STARTSWITH 'europe/France'`, true},
		{`ecm:isTrashed = 0 AND ecm:isVersion = FALSE AND ecm:isTrashed <> 1`, true},
		{`ecm:mixinType = 'Downloadable' AND ecm:mixinType <> 'Folderish'`, true},
		{`ecm:pos >= 3`, true},
		{`ecm:versionLabel = 1.0`, false},
		{`ecm:fulltext = 'report sales'`, true},
		{`ecm:fulltext = 'report -sales'`, false},
		{`ecm:fulltext = '"in zürich"'`, true},
		{`ecm:fulltext = '"sales zürich"'`, false},
		{`ecm:fulltext = 'nothing OR quart*'`, true},
		{`ecm:fulltext = ''`, false},
		{`ecm:primaryType IN ()`, false},
		{`ecm:primaryType NOT IN ()`, true},
	}
	for _, tt := range tests {
		q, err := Parse("SELECT * FROM Document WHERE " + tt.where)
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
			continue
		}
		if q, err = q.Bind(nil, nil); err == nil {
			err = q.Check(reg)
		}
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
			continue
		}
		q = q.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if got, err := q.Match(report); err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v", tt.where, got, err)
		}
	}
}

// Which of two lists is longer, and which is compared first, makes no difference: all positions are tried that one of
// them has, in every order of the conditions.
func TestNumberedWildcardsOverDifferentLists(t *testing.T) {
	doc := record{system: map[System]any{SysType: "File", SysIsTrashed: false}, props: map[string]any{
		"dc:subjects":     []any{"art"},
		"dc:contributors": []any{"ann", "bob", "cid"},
		"nxtag:tags":      []any{map[string]any{"label": "red"}, map[string]any{"label": "blue"}},
	}}
	tests := []struct {
		where []string
		want  bool
	}{
		// At position 2 there is no subject, which is then not "art" either.
		{[]string{"dc:subjects/*1 <> 'art'", "dc:contributors/*1 = 'cid'"}, true},
		{[]string{"dc:subjects/*1 <> 'art'", "dc:contributors/*1 = 'ann'"}, false},
		{[]string{"dc:subjects/*1 NOT IN ('art')", "dc:contributors/*1 = 'bob'", "nxtag:tags/*1/label = 'blue'"}, true},
		{[]string{"dc:subjects/*1 NOT IN ('art')", "dc:contributors/*1 = 'bob'", "nxtag:tags/*1/label = 'red'"}, false},
		{[]string{"dc:subjects/*1 <> 'art'", "dc:contributors/*1 = 'cid'", "ecm:isTrashed = 0"}, true},
		{[]string{"dc:subjects/*1 <> 'art'", "dc:contributors/*1 = 'cid'", "ecm:isTrashed = 1"}, false},
		{[]string{"dc:contributors/*1 = 'bob'", "nxtag:tags/*2/label <> 'red'", "dc:subjects/*2 <> 'art'"}, true},
		{[]string{"dc:subjects/*1 <> 'art'", "NOT (dc:contributors/*1 = 'ann' OR dc:contributors/*1 = 'bob')"}, true},
		{[]string{"dc:subjects/*1 = 'art'", "dc:contributors/*1 = 'bob'"}, false},
	}
	for _, tt := range tests {
		for range len(tt.where) {
			tt.where = append(tt.where[1:], tt.where[0])
			where := strings.Join(tt.where, " AND ")
			q, err := Parse("SELECT * FROM Document WHERE " + where)
			if err == nil {
				q, err = q.Bind(nil, nil)
			}
			if err == nil {
				err = q.Check(registry(t))
			}
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if got, err := q.Match(doc); err != nil || got != tt.want {
				t.Errorf("%s: got %v, %v", where, got, err)
			}
		}
	}
}

func TestCheckErrors(t *testing.T) {
	reg := registry(t)
	tests := []struct{ src, want string }{
		{"SELECT * FROM Fil", `1:15 unknown document type "Fil", perhaps File`},
		{"SELECT dc:titel FROM File", `1:8 unknown field "dc:titel", perhaps dc:title`},
		{"SELECT * FROM File WHERE uid = 'x'", ""},
		{"SELECT * FROM File WHERE nope = 'x'", `1:26 unknown field "nope"`},
		{"SELECT * FROM File WHERE nope = 'x'\nOR dc:title = 'y' ORDER BY dc:title", `1:26 unknown field "nope"`},
		{"SELECT * FROM File WHERE dc:title = 'é' OR dc:title = 'é' AND nope = 'y'", `1:63 unknown field "nope"`},
		{"SELECT * FROM File WHERE ecm:uid = 'x'", `1:26 unknown field "ecm:uid", perhaps ecm:id`},
		{"SELECT * FROM File WHERE file:content = 'x'", "1:26 field file:content is a blob: only IS NULL and its members can be queried"},
		{"SELECT * FROM File WHERE common:size LIKE 'x'", "1:26 LIKE requires text, but field common:size is a long"},
		{"SELECT * FROM File WHERE common:size = 'x'", "1:40 'x' is not a long, the type of field common:size"},
		{"SELECT * FROM File WHERE dc:created = 'soon'", "1:39 'soon' is not a date, the type of field dc:created"},
		{"SELECT * FROM File WHERE ecm:isProxy = 2", "1:40 2 is not a boolean, the type of field ecm:isProxy"},
		{"SELECT * FROM File WHERE ecm:fulltext <> 'x'", "1:26 field ecm:fulltext can only be compared with ="},
		{"SELECT * FROM File ORDER BY file:content", "1:29 field file:content cannot be ordered"},
		{"SELECT SUM(dc:title) FROM File", "1:12 SUM requires numbers, but field dc:title is a string"},
		{"SELECT * FROM File WHERE dc:title/x = 1", `1:26 unknown field "dc:title/x", perhaps dc:title`},
	}
	for _, tt := range tests {
		q, err := Parse(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		err = q.Check(reg)
		var f *fault.Error
		switch {
		case tt.want == "" && err == nil:
		case !errors.As(err, &f) || f.Kind != fault.Invalid:
			t.Errorf("%s: got %v", tt.src, err)
		default:
			place, want, _ := strings.Cut(tt.want, " ")
			if want = "query: line 1, column " + place[2:] + ": " + want; f.Message != want {
				t.Errorf("%s:\n got %s\nwant %s", tt.src, f.Message, want)
			}
		}
	}
}

func TestBind(t *testing.T) {
	q, err := Parse("SELECT * FROM Document WHERE dc:title = ? AND dc:source IN (:list, 'x') AND dc:creator <> ?")
	if err != nil {
		t.Fatal(err)
	}
	got, err := q.Bind([]any{"' OR 1=1 --", "a"}, map[string]any{"list": []string{"it's", `\`}})
	if err != nil {
		t.Fatal(err)
	}
	want := `SELECT * FROM Document WHERE dc:title = ''' OR 1=1 --' AND dc:source IN ('it''s', '\\', 'x') AND dc:creator <> 'a'`
	if got.String() != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if strings.Contains(q.String(), "OR") {
		t.Errorf("the shared query changed: %s", q)
	}
	bad := []struct {
		args  []any
		named map[string]any
		want  string
	}{
		{[]any{"x"}, map[string]any{"list": "y"}, "query: line 1, column 91: no value given for parameter ?"},
		{[]any{"x", "y"}, nil, "query: line 1, column 61: no value given for parameter :list"},
		{[]any{"x", "y", "z"}, map[string]any{"list": 1}, "query: 3 parameters given, 2 expected"},
		{[]any{nil, "y"}, map[string]any{"list": 1}, "query: line 1, column 41: parameter ?: cannot compare with null (use IS NULL)"},
		{[]any{[]any{"x"}, "y"}, map[string]any{"list": 1}, "query: line 1, column 41: parameter ? is a list, which only IN accepts"},
		{[]any{map[string]any{}, "y"}, map[string]any{"list": 1}, "query: line 1, column 41: parameter ?: cannot compare with a map[string]interface {}"},
	}
	for _, tt := range bad {
		if _, err := q.Bind(tt.args, tt.named); !fault.Is(err, fault.Invalid) || err.Error() != tt.want {
			t.Errorf("%v: got %v\nwant %s", tt.args, err, tt.want)
		}
	}
}

// TestBoundTextStaysText binds what an attacker would send: it matches exactly the
// document with that title and nothing else.
func TestBoundTextStaysText(t *testing.T) {
	reg := registry(t)
	payloads := []string{
		"' OR '1'='1", `" OR ""="`, `\' OR 1=1 --`, "x' OR dc:title LIKE '%", "%", "_", `\`, "'", "''", ":name", "?", "NOW()",
		"') OR (dc:title IS NOT NULL", "x\x00y", "DATE '2024-01-01'", "a' ORDER BY dc:title LIMIT 1 --",
	}
	q, err := Parse("SELECT * FROM Document WHERE dc:title = :t")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range payloads {
		bound, err := q.Bind(nil, map[string]any{"t": p})
		if err == nil {
			err = bound.Check(reg)
		}
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		literal, err := Parse("SELECT * FROM Document WHERE dc:title = " + Quote(p))
		if err != nil || literal.Check(reg) != nil {
			t.Fatalf("%q quoted: %v", p, err)
		}
		for _, title := range append(payloads, "other") {
			doc := record{props: map[string]any{"dc:title": title}}
			got, err := bound.Match(doc)
			quoted, err2 := literal.Match(doc)
			if err != nil || err2 != nil || got != (title == p) || quoted != got {
				t.Errorf("%q bound, title %q: bound %v, quoted %v", p, title, got, quoted)
			}
		}
	}
}

// TestMatchEnds expects that conditions which take long on one document count their work.
func TestMatchEnds(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	ended := errors.New("ended")
	for _, like := range []string{"%" + strings.Repeat("a_", 5000) + "b%", "%aaaab%"} {
		p := newPattern(like, false)
		work := 0
		_, err := p.match(long, func(n int) error {
			if work += n; work > 100<<20 {
				return ended
			}
			return nil
		})
		if simple := !strings.Contains(like, "_"); (err == nil) != simple {
			t.Errorf("%.20s: %d units of work, %v", like, work, err)
		}
	}
}
