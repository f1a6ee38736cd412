package expr

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

// TestMembers: a member that a value does not have is an error that names the one that was probably meant, unless the text says that it
// may be missing.
func TestMembers(t *testing.T) {
	at := time.Date(2024, 5, 2, 16, 4, 9, 7e6, time.UTC)
	env := func() map[string]any {
		return map[string]any{
			"row": map[string]any{"price": 7, "first name": "Ada", "none": nil, "in": map[string]any{"a": 1}}, "empty": nil, "key": "prise",
			"rows":    []any{map[string]any{"price": 1}, map[string]any{}},
			"Context": map[string]any{"a": 1}, "doc": map[string]any{Handle: doc{"7"}, Lookup: nil, "title": "T", "dc:title": "T"},
			"at": at, "CurrentDate": Date(at), "list": []any{3, 4},
		}
	}
	for text, want := range map[string]any{
		"expr:row.price":                         int64(7),
		"expr:row['first name']":                 "Ada",
		"expr:row.none":                          nil,
		"@{row.none}":                            "",
		"expr:row?.prise":                        nil,
		"expr:row?.['prise']":                    nil,
		"@{row?.prise}":                          "",
		"expr:row.prise ?? 5":                    int64(5),
		"expr:row.prise?.a.b":                    nil,
		"expr:empty?.prise.a":                    nil,
		"expr:row.prise == nil":                  true,
		"expr:nil != row.prise":                  false,
		"expr:row[key] ?? 'x'":                   "x",
		"expr:get(row, 'prise')":                 nil,
		"expr:'prise' in row":                    false,
		"expr:row.in.a":                          int64(1),
		"expr:row?.in.a + row.price":             int64(8),
		"expr:Context.b":                         nil,
		"@{Context.b}":                           "",
		"expr:doc['note:note']":                  nil,
		"expr:doc.title":                         "T",
		"expr:list[1]":                           int64(4),
		"expr:map(rows, #?.price ?? 0)":          []any{int64(1), int64(0)},
		"expr:filter(rows, (.price ?? 9) > 3)":   []any{map[string]any{}},
		"expr:at.year":                           int64(2024),
		"expr:at.format('yyyy-MM')":              "2024-05",
		"expr:at < CurrentDate.days(1)":          true,
		"expr:CurrentDate.days(-1) >= at":        false,
		"expr:at == CurrentDate":                 true,
		"expr:CurrentDate.days(1) > CurrentDate": true,
		"@{row.in}":                              map[string]any{"a": int64(1)},
		"@{rows}":                                []any{map[string]any{"price": int64(1)}, map[string]any{}},
		"in: @{row.in}":                          `in: {"a":1}`,
		"@{list}":                                "3,4",
		"@{CurrentDate}":                         "TIMESTAMP '2024-05-02 16:04:09.007'",
	} {
		if got, err := eval(text, env()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v, want %#v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"expr:row.prise":                  `row has no member "prise", perhaps price; write ?.prise if it may be missing`,
		"@{row.prise}":                    `row has no member "prise", perhaps price`,
		"expr:row['last name']":           `row has no member "last name"; write ?.["last name"] if it may be missing`,
		"expr:row[key]":                   `row has no member "prise"`,
		"expr:row.in.b":                   `row.in has no member "b"`,
		"expr:Context.a.b":                "cannot fetch",
		"expr:doc.titel":                  `doc has no member "titel", perhaps title`,
		"expr:map(rows, .price)":          `the value has no member "price"`,
		"expr:row.prise.a ?? 1":           `row has no member "prise"`,
		"expr:CurrentDate.years(1).yearr": `the value has no member "yearr", perhaps year`,
		"expr:empty.a":                    "cannot read a of an empty value",
	} {
		if got, err := eval(text, env()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %#v, %v, want %s", text, got, err, want)
		}
	}
}
