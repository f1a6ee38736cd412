package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// inCall carries out fn in a call that writes, for the server.
func inCall(t *testing.T, e *Engine, dry bool, fn func(c *Ctx)) {
	t.Helper()
	if _, err := e.RunFunc(t.Context(), Writes, func(c *Ctx) (any, error) { fn(c); return nil, nil }, Call{Op: "test", As: e.System(), DryRun: dry}); err != nil {
		t.Fatal(err)
	}
}

func made(t *testing.T, c *Ctx, name string) *storage.Doc {
	t.Helper()
	root, err := c.Tx.Root()
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Tx.Create(root, "File", name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shape describes a value with its types, documents by their names.
func shape(v any) string {
	switch v := v.(type) {
	case *storage.Doc:
		return "doc:" + v.Name()
	case storage.Docs:
		var names []string
		for _, d := range v {
			names = append(names, d.Name())
		}
		return "docs:" + strings.Join(names, ",")
	case *storage.Page:
		return fmt.Sprintf("page:%s %d %d %d %t %t %s %s %d %s", shape(v.Docs), v.Offset, v.Limit, v.Total, v.More, v.HasNext, v.Next, v.Provider, v.MaxPage, shape(v.Extra))
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, shape(item))
		}
		return "[" + strings.Join(items, " ") + "]"
	case map[string]any:
		return fmt.Sprintf("map%d %v %v", len(v), shape(v["a"]), shape(v["$doc"]))
	case Value:
		return v.Word + "=" + shape(v.V)
	case json.RawMessage:
		return "raw:" + string(v)
	case time.Time:
		return "time:" + v.UTC().Format(time.RFC3339Nano)
	case nil:
		return "nil"
	}
	return fmt.Sprintf("%T:%v", v, v)
}

// TestDurable keeps results as references and finds them again.
func TestDurable(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x, y := made(t, c, "x"), made(t, c, "y")
		docs := storage.Docs{x, y}
		for _, row := range []struct {
			v    any
			want string // "": as it was
		}{
			{v: x},
			{v: docs},
			{v: &storage.Page{Docs: docs, Offset: 1, Limit: 2, Total: 9, More: true, HasNext: true, Next: "c", Provider: "p", MaxPage: 50, Extra: map[string]any{"a": int64(1)}}},
			{v: &storage.Page{Docs: docs}, want: "page:docs:x,y 0 0 0 false false   0 map0 nil nil"},
			{v: []any{x, "text", int64(9007199254740993), true, nil, []any{y}}},
			{v: []any{x, 5}, want: "[doc:x int64:5]"},
			{v: []any{x, 1.5, json.RawMessage(`{"b":1}`)}, want: `[doc:x float64:1.5 raw:{"b":1}]`},
			{v: []any{x, storage.Ref("/a"), storage.Refs{"/b", "/c"}, []string{"s"}}},
			{v: []any{x, time.Date(2026, 5, 1, 2, 3, 4, 5e6, time.UTC)}},
			{v: map[string]any{"a": x}},
			{v: map[string]any{"a": x, "$doc": "not an id"}},
			{v: []any{x, map[string]any{"$doc": "not an id"}}},
			{v: []any{x, map[string]any{"a": map[string]any{"$map": 1}}}, want: "[doc:x map1 map1 nil nil nil]"},
			{v: storage.Props{"a": x}, want: "map1 doc:x nil"},
			{v: []map[string]any{{"a": x}}, want: "[map1 doc:x nil]"},
			{v: Value{Word: "document", V: x}},
		} {
			d := (&Result{Value: row.v}).Durable(false)
			if d.Value == nil || len(d.Docs) > 0 || !c.Refers(row.v) {
				t.Errorf("%s: kept as %s, %v", shape(row.v), d.Value, d.Docs)
				continue
			}
			got, err := c.restored(d.Value)
			want := row.want
			if want == "" {
				want = shape(row.v)
			}
			if shape(got) != want || err != nil {
				t.Errorf("%s: %s, %v\nkept as %s", want, shape(got), err, d.Value)
			}
		}
	})
}

// TestDurableBytes has results that are kept as they were shown.
func TestDurableBytes(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x := made(t, c, "x")
		deep := any(x)
		for range maxDurable + 1 {
			deep = []any{deep}
		}
		for _, row := range []struct {
			v    any
			docs []string
		}{
			{nil, nil},
			{"text", nil},
			{storage.Docs{}, nil},
			{map[string]any{"a": 1}, nil},
			{&Blob{}, nil},
			{[]any{&Blob{}, x}, []string{x.ID()}},
			{&storage.Page{Docs: storage.Docs{x}, Highlight: []string{"dc:title"}}, []string{x.ID()}},
			{struct{}{}, nil},
		} {
			d := (&Result{Value: row.v}).Durable(false)
			if d.Value != nil || !reflect.DeepEqual(d.Docs, row.docs) || c.Refers(row.v) {
				t.Errorf("%s: kept as %s, %v", shape(row.v), d.Value, d.Docs)
			}
		}
		if d := (&Result{Value: deep}).Durable(false); d.Value != nil || c.Refers(deep) {
			t.Errorf("too deep: %s", d.Value)
		}
		if d := (&Result{Value: x}).Durable(true); d.Value != nil || len(d.Docs) != 1 {
			t.Errorf("of a dry run: %s %v", d.Value, d.Docs)
		}
		if d := (&Result{Value: x, Input: x, Replayed: true}).Durable(false); d.Value != nil || len(d.Docs) != 0 {
			t.Errorf("of a repetition: %s %v", d.Value, d.Docs)
		}
	})
	inCall(t, e, true, func(c *Ctx) {
		if c.Refers(made(t, c, "dry")) {
			t.Error("a dry run refers to what it has made")
		}
	})
}

// TestDurableInput keeps what a call was made on as far as it names documents.
func TestDurableInput(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x := made(t, c, "x")
		for _, row := range []struct {
			in   any
			want string
		}{
			{x, `{"$doc":"` + x.ID() + `"}`},
			{storage.Docs{x}, `{"$docs":["` + x.ID() + `"]}`},
			{"/x", `"/x"`},
			{storage.Ref("/x"), `{"$ref":"/x"}`},
			{storage.Refs{"/x"}, `{"$refs":["/x"]}`},
			{[]string{"/x"}, `{"$texts":["/x"]}`},
			{[]any{x}, `[{"$doc":"` + x.ID() + `"}]`},
			{[]any{&Blob{}}, ""},
			{&Blob{}, ""},
			{nil, ""},
			{7, ""},
		} {
			if d := (&Result{Input: row.in}).Durable(false); string(d.On) != row.want {
				t.Errorf("%v: %s, want %s", row.in, d.On, row.want)
			}
		}
	})
}

// TestRestoreGone finds values again after one of two documents is gone: it is left out of lists and objects, and is an
// error by itself.
func TestRestoreGone(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x, y := made(t, c, "x"), made(t, c, "y")
		values := []any{
			storage.Docs{x, y}, &storage.Page{Docs: storage.Docs{x, y}}, []any{x, y}, map[string]any{"a": x, "$doc": y}, []any{storage.Docs{x}, y},
		}
		var kept []json.RawMessage
		for _, v := range append(values, x, Value{V: x}) {
			kept = append(kept, (&Result{Value: v}).Durable(false).Value)
		}
		if err := c.Tx.Delete(x); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"docs:y", "page:docs:y 0 0 0 false false   0 map0 nil nil", "[doc:y]", "map2 nil doc:y", "[docs: doc:y]"} {
			if got, err := c.restored(kept[i]); shape(got) != want || err != nil {
				t.Errorf("%s, %v, want %s", shape(got), err, want)
			}
		}
		for _, raw := range kept[len(values):] {
			if got, err := c.restored(raw); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %s, %v", raw, shape(got), err)
			}
		}
	})
}

// TestRestoreDamaged reads what no server has written.
func TestRestoreDamaged(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		for _, raw := range []string{`{`, ``, `{"$page":7}`, `{"$page":{"Offset":"x"}}`, `{"$time":"yesterday"}`, `{"$doc":7}`} {
			if got, err := c.restored(json.RawMessage(raw)); err == nil && raw != "" {
				t.Errorf("%s: %s", raw, shape(got))
			}
		}
	})
}

// FuzzRestore has any bytes restored: no panic, and nothing but an error of a known kind.
func FuzzRestore(f *testing.F) {
	for _, seed := range []string{`null`, `7`, `[{"$docs":["x"]}]`, `{"$page":{"Docs":["x"],"Extra":{"a":{"$time":"2026-01-01T00:00:00Z"}}}}`, `{"$map":{"$doc":1}}`, `{"$value":{"Word":"w","V":[1e400]}}`, `{"$refs":7}`, `{"$nested":{}}`} {
		f.Add([]byte(seed))
	}
	e := testEngine(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := e.RunFunc(t.Context(), Reads, func(c *Ctx) (any, error) { _, _ = c.restored(raw); return nil, nil }, Call{Op: "test", As: e.System()})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestEnded tells the end of calls in their transactions: what is written there is there if and only if the effect is.
func TestEnded(t *testing.T) {
	e := testEngine(t)
	type row struct{ N int }
	for _, x := range []struct {
		name   string
		effect Effect
		dry    bool
		fail   bool
		refuse bool
		told   bool
	}{
		{name: "writes", effect: Writes, told: true},
		{name: "reads", effect: Reads},
		{name: "pure", effect: Pure},
		{name: "dry run", effect: Writes, dry: true},
		{name: "fails", effect: Writes, fail: true},
		{name: "is refused", effect: Writes, refuse: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			key, tries := strings.ReplaceAll(x.name, " ", ""), 0
			call := Call{Op: "test", As: e.System(), DryRun: x.dry, Ended: func(c *Ctx, res *Result) error {
				if x.refuse {
					return errMeant
				}
				if res.Value != "out" {
					t.Errorf("told %v", res.Value)
				}
				return c.Tx.Table("ended").Put(key, row{tries})
			}}
			res, err := e.RunFunc(t.Context(), x.effect, func(c *Ctx) (any, error) {
				if tries++; tries == 1 && x.effect == Writes {
					if err := raiseNumber(c); err != nil {
						return nil, err
					}
					disturb(t, e, 7)
				}
				if x.fail {
					return nil, errMeant
				}
				return "out", nil
			}, call)
			if (err != nil) != (x.fail || x.refuse) || err == nil && res.Told != x.told {
				t.Errorf("%+v %v", res, err)
			}
			if err != nil && !errors.Is(err, errMeant) {
				t.Error(err)
			}
			inCall(t, e, false, func(c *Ctx) {
				var got row
				found, err := c.Tx.Table("ended").Get(key, &got)
				if found != x.told || err != nil || found && got.N != 2 {
					t.Errorf("stored %t %+v, %v", found, got, err)
				}
			})
		})
	}
}

// TestStartRefused has the beginning of a call refused: nothing runs, and nothing is seen.
func TestStartRefused(t *testing.T) {
	e := testEngine(t, Op{Name: "Test.Never", Doc: "Does not run.", Effect: Pure, Callers: Anyone, Run: On(func(_ struct{}, _ *Ctx, _ Void) (Void, error) {
		panic("it runs")
	})})
	var told string
	id, err := e.Start(t.Context(), Call{Op: "Test.Never", As: e.System()}, func(id string) error { told = id; return errMeant }, func(*Result, error) { t.Error("it has ended") })
	if id != "" || told == "" || !errors.Is(err, errMeant) {
		t.Errorf("%q %q %v", id, told, err)
	}
	if list := e.Running(e.System()); len(list) != 0 {
		t.Errorf("seen: %v", list)
	}
}

// TestRunIDs has servers begin calls: their ids are different at the same moment, and in the order of time whichever server began
// first.
func TestRunIDs(t *testing.T) {
	at := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	var servers []*live
	for range 50 {
		servers = append(servers, newLive())
	}
	before := ""
	for n := range 4 {
		first := ""
		for i, l := range servers {
			id := l.id(&running{moment: at.UnixMilli() + int64(n), number: uint64(1000 * (i + 1) / (n + 1))})
			if seen[id] {
				t.Errorf("%s twice", id)
			}
			if id <= before {
				t.Errorf("%s began after %s", id, before)
			}
			seen[id], first = true, max(first, id)
		}
		before = first
	}
	if id := (&live{server: "00000a"}).id(&running{moment: at.UnixMilli(), number: 1 << 44}); id != "1a21af20b8000000a-100000000000" {
		t.Error(id)
	}
}

// TestKeep keeps the values of chains that wait: numbers with their kinds, documents by id, and nothing of files.
func TestKeep(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x, y := made(t, c, "x"), made(t, c, "y")
		for _, row := range []struct {
			v    any
			want string // "": as it was
		}{
			{v: nil},
			{v: "text"},
			{v: true},
			{v: int64(math.MaxInt64)},
			{v: 1.5},
			{v: 3.0},
			{v: 1e300},
			{v: 0.0},
			{v: math.NaN(), want: "nil"},
			{v: math.Inf(1), want: "nil"},
			{v: x},
			{v: storage.Docs{x, y}},
			{v: []string{"a"}},
			{v: storage.Ref("/x")},
			{v: map[string]any{"a": 1.0, "$doc": []any{2.0, int64(2)}}, want: "map2 float64:1 [float64:2 int64:2]"},
			{v: map[string]any{"$float": "not a number"}, want: "map1 nil nil"},
			{v: &storage.Page{Docs: storage.Docs{x}, Highlight: []string{"dc:title"}}, want: "page:docs:x 0 0 0 false false   0 map0 nil nil"},
		} {
			raw, err := new(ValueWriter).Keep(row.v)
			if err != nil {
				t.Errorf("%s: %v", shape(row.v), err)
				continue
			}
			got, err := c.Kept(raw)
			want := row.want
			if want == "" {
				want = shape(row.v)
			}
			if shape(got) != want || err != nil {
				t.Errorf("%s: %s, %v\nkept as %s", want, shape(got), err, raw)
			}
		}
		for _, row := range []struct {
			v    any
			want string
		}{
			{&Blob{}, "a file is not kept; attach it to a document"},
			{map[string]any{"file": Blobs{{}}}, "file: a file is not kept"},
			{map[string]any{"a": []any{struct{}{}}}, "a: a value of type struct {} is not kept"},
		} {
			if raw, err := new(ValueWriter).Keep(row.v); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%T: %s, %v, want %s", row.v, raw, err, row.want)
			}
		}
	})
}

// TestKeptFormer finds values that were written with the names of before; what is gone is null, or left out of a list.
func TestKeptFormer(t *testing.T) {
	e := testEngine(t)
	inCall(t, e, false, func(c *Ctx) {
		x, y := made(t, c, "x"), made(t, c, "y")
		rows := []struct{ raw, before, after string }{
			{`{"$document":"` + x.ID() + `"}`, "doc:x", "nil"},
			{`{"$documents":["` + x.ID() + `","` + y.ID() + `"]}`, "docs:x,y", "docs:y"},
			{`{"$reference":"/x"}`, shape(storage.Ref("/x")), shape(storage.Ref("/x"))},
			{`[{"$document":"` + x.ID() + `"},3]`, "[doc:x int64:3]", "[int64:3]"},
			{`{"a":{"$document":"` + x.ID() + `"},"$doc":1}`, "map2 doc:x int64:1", "map2 nil int64:1"},
			{``, "nil", "nil"},
		}
		check := func(want func(i int) string) {
			for i, row := range rows {
				if got, err := c.Kept(json.RawMessage(row.raw)); shape(got) != want(i) || err != nil {
					t.Errorf("%s: %s, %v, want %s", row.raw, shape(got), err, want(i))
				}
			}
		}
		check(func(i int) string { return rows[i].before })
		if err := c.Tx.Delete(x); err != nil {
			t.Fatal(err)
		}
		check(func(i int) string { return rows[i].after })
	})
}
