package template

import (
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestMarkedTemplates plays templates whose parts are marked with @: conditions, loops, and what is only text.
func TestMarkedTemplates(t *testing.T) {
	for _, tt := range []row{
		{"", ""},
		{"a @ b @c d@e.org @", "a @ b @c d@e.org @"},
		{"@@{n} @@ @@@{name}", "@{n} @ @ann lee"},
		{"@{1 + 2}@{'a' + \"b\"}@{n > 5 ? 'x' : 'y'}", "3abx"},
		{"@{ name }@{\"}\"}@{{'a': 1}['a']}", "ann lee}1"},
		{"@{none}@{empty}.", "."},
		{"@if{n == 1}a@else{n == 1234567}b@else{}c@end{}", "b"},
		{"@if{false}a@end{}|@if{true}@if{false}x@else{}y@end{}@end{}", "|y"},
		{"@foreach{x : list}[@{x}]@end{}", "[c][a][b]"},
		{"@foreach{ x : [1, 2, 3] }@{x}@end{\" + \"}", "1 + 2 + 3"},
		{"@foreach{x : []}@{x}@end{','}@foreach{x : none}@{x}@end{}.", "."},
		{"@foreach{x : [1, 2]}@foreach{y : [3, 4]}@{x * y} @end{}@end{}", "3 4 6 8 "},
		{"@foreach{name : list}@{name}@end{} @{name}", "cab ann lee"}, // the variable that was hidden is back
		{"@foreach{x : [1, 2]}@foreach{x : [3]}@{x}@end{}@{x}@end{}", "3132"},
		{"@foreach{x : [1, 2, 3]}@if{x == 2}-@else{}@{x}@end{}@end{}", "1-3"},
		{"@comment{ @{nope} {nested} }a", "a"},
		{"a\r\n@if{true}\r\nb\r\n@end{}\r\n", "a\r\n\r\nb\r\n\r\n"}, // lines of marks alone stay
		{"<b>@{Document.title}</b>", "<b>A <b></b>"},
	} {
		if got, err := rendered("mvel", tt.source); err != nil || got != tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %q", tt.source, got, err, tt.want)
		}
	}
}

// TestMarkedMistakes holds that what is wrong is told with its line and column.
func TestMarkedMistakes(t *testing.T) {
	for _, tt := range []row{
		{"a\n  @{1 +", "2:3: @{ is not closed"},
		{"@iff{true}", "1:1: @iff{} is not supported, perhaps if"},
		{"x@else{}", "1:2: @else{} closes nothing here"},
		{"@if{true}@else{}@else{}@end{}", "1:17: duplicate @else{}"},
		{"@foreach{x : list}@else{}@end{}", "1:19: expected @end{}, not @else{}"},
		{"@foreach{list}@end{}", "1:1: expected @foreach{item : list}"},
		{"@foreach{x y : list}@end{}", "1:1: expected @foreach{item : list}"},
		{"@foreach{ : list}@end{}", "1:1: expected @foreach{item : list}"},
		{"@foreach{x : name}@end{}", "1:1: expected a list, not a text"},
		{"äö@if{n}a@end{}", "1:3: must be true or false, not a number"},
		{"\n\n@foreach{x : list}", "3:19: @end{} is missing at the end of the template"},
		{"@{'@{n}'}", "1:1: @{ within an expression"},
	} {
		if got, err := rendered("mvel", tt.source); err == nil || err.Error() != "template t:"+tt.want || fault.Of(err) != fault.Invalid {
			t.Errorf("%s:\ngot  %q %v\nwant template t:%s", tt.source, got, err, tt.want)
		}
	}
}

// TestMarkedWithoutVariables holds that a loop needs no variables to be given, and leaves those that are as they were.
func TestMarkedWithoutVariables(t *testing.T) {
	p, err := Parse("mvel", "t", "@foreach{x : [1, 2]}@{x}@end{}", testLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []map[string]any{nil, {}, {"x": "kept"}} {
		before := len(given)
		if got, err := p.Render(given, testLimits, endless); err != nil || got != "12" || len(given) != before || before > 0 && given["x"] != "kept" {
			t.Errorf("got %q %v, and %v", got, err, given)
		}
	}
}

// TestMarkedLimits holds that as much as is allowed goes through, and one more does not.
func TestMarkedLimits(t *testing.T) {
	for _, tt := range []struct {
		source string
		limit  func(l *Limits) *int
		enough int
		words  string
	}{
		{"abc", func(l *Limits) *int { return &l.Output }, 3, "produces more than 2 bytes"},
		{"@{'ä' + 'b'}", func(l *Limits) *int { return &l.Output }, 3, "produces more than 2 bytes"},
		{"@foreach{x : [1, 2, 3]}ab@end{','}", func(l *Limits) *int { return &l.Output }, 8, "produces more than 7 bytes"},
		{"@if{true}@if{true}x@end{}@end{}", func(l *Limits) *int { return &l.Depth }, 3, "is nested more than 2 deep"},
		{"abc", func(l *Limits) *int { return &l.Source }, 3, "longer than 2 bytes"},
		{"ab@@", func(l *Limits) *int { return &l.Steps }, 2, "takes more than 1 steps"},
	} {
		for _, less := range []int{0, 1} {
			l := testLimits
			*tt.limit(&l) = tt.enough - less
			p, err := Parse("mvel", "t", tt.source, l)
			if err == nil {
				_, err = p.Render(model(), l, endless)
			}
			if ok := less == 0; ok != (err == nil) || !ok && (fault.Of(err) != fault.Limit || !strings.Contains(err.Error(), tt.words)) {
				t.Errorf("%s with %d: %v", tt.source, tt.enough-less, err)
			}
		}
	}
}
