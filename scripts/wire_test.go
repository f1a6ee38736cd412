package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"catena/storage/fault"
)

// noHandles refuses documents and files.
type noHandles struct{}

func (noHandles) write(*writer, any) error   { return errWire }
func (noHandles) readDocument(r *reader) any { r.fail(); return nil }
func (noHandles) readFile(r *reader) any     { r.fail(); return nil }

// crossed is a value as it arrives on the other side, and what is left of its frame.
func crossed(v any) (any, []byte, error) {
	w := writer{handles: noHandles{}}
	if err := w.value(v); err != nil {
		return nil, nil, err
	}
	r := reader{b: w.b, handles: noHandles{}}
	out := r.value()
	return out, r.b, r.err
}

func nestedLists(levels int) any {
	v := any("bottom")
	for range levels {
		v = []any{v}
	}
	return v
}

func TestWireValues(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 7e6, time.UTC)
	for _, c := range []struct{ v, want any }{
		{nil, nil},
		{true, true},
		{false, false},
		{int64(math.MinInt64), int64(math.MinInt64)},
		{int64(math.MaxInt64), int64(math.MaxInt64)},
		{-0.5, -0.5},
		{math.Inf(-1), math.Inf(-1)},
		{"", ""},
		{"a\x00\xffä\U0001F600", "a\x00\xffä\U0001F600"},
		{at, at},
		{at.Add(999 * time.Microsecond), at},
		{at.In(time.FixedZone("", 3600)), at},
		{time.UnixMilli(-1).UTC(), time.UnixMilli(-1).UTC()},
		{[]any{}, []any{}},
		{list{int64(1), nil}, list{int64(1), nil}},
		{[]string{"a", ""}, []any{"a", ""}},
		{map[string]any{}, map[string]any{}},
		{map[string]any{"": nil, "a": []any{map[string]any{"b": 1.5}}}, map[string]any{"": nil, "a": []any{map[string]any{"b": 1.5}}}},
		{absent{}, absent{}},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20)},
		{nestedLists(maxDepth + 2), nestedLists(maxDepth + 2)},
	} {
		got, rest, err := crossed(c.v)
		if err != nil || len(rest) != 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%.40v: %.40v, %d bytes left, %v", c.v, got, len(rest), err)
		}
	}
	if _, _, err := crossed(nestedLists(maxDepth + 3)); fault.CodeOf(err) != fault.CodeScriptOutput {
		t.Errorf("a level more: %v", err)
	}
	self := map[string]any{}
	self["self"] = self
	if _, _, err := crossed(self); fault.CodeOf(err) != fault.CodeScriptOutput {
		t.Errorf("a value that contains itself: %v", err)
	}
	if _, _, err := crossed(struct{}{}); !errors.Is(err, errWire) {
		t.Errorf("a value of another type: %v", err)
	}
}

// invented makes up a value that crosses.
func invented(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return rnd.IntN(2) == 0
	case n == 2:
		return int64(rnd.Uint64()) >> rnd.IntN(64)
	case n == 3:
		return rnd.NormFloat64()
	case n == 4:
		return time.UnixMilli(rnd.Int64N(1 << 40)).UTC()
	case n == 5 && depth > 0:
		m := map[string]any{}
		for range rnd.IntN(4) {
			m[fmt.Sprint("k", rnd.IntN(9))] = invented(rnd, depth-1)
		}
		return m
	case n == 6 && depth > 0:
		l := make([]any, rnd.IntN(4))
		for i := range l {
			l[i] = invented(rnd, depth-1)
		}
		return l
	}
	return strings.Repeat("ä\x00", rnd.IntN(5))
}

// TestWireDamaged: every value crosses whole, and of a frame that was cut anywhere nothing is believed; one that was changed
// does no harm.
func TestWireDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		v := invented(rnd, 3)
		got, rest, err := crossed(v)
		if err != nil || len(rest) != 0 || !reflect.DeepEqual(got, v) {
			t.Fatalf("%v: %v, %v", v, got, err)
		}
		w := writer{handles: noHandles{}}
		if err := w.value(v); err != nil {
			t.Fatal(err)
		}
		for cut := range w.b {
			r := reader{b: w.b[:cut], handles: noHandles{}}
			if r.value(); r.err == nil {
				t.Fatalf("%v, cut at %d of %d, was read", v, cut, len(w.b))
			}
			changed := bytes.Clone(w.b)
			changed[cut] ^= 1 << rnd.IntN(8)
			r = reader{b: changed, handles: noHandles{}}
			if r.value(); r.err != nil && (r.b != nil || !errors.Is(r.err, errWire)) {
				t.Fatalf("%v, changed at %d: %v", v, cut, r.err)
			}
		}
	}
}

// TestWireCounts: a number of items that a frame cannot hold is refused before anything is made for it, also if many lists
// share it.
func TestWireCounts(t *testing.T) {
	for name, b := range map[string][]byte{
		"list": {tagArray, 0xff, 0xff, 0xff, 0xff, 0x0f}, "map": {tagMap, 0xff, 0xff, 0xff, 0xff, 0x0f}, "text": {tagString, 5, 'a'}, "huge": append([]byte{tagList}, bytes.Repeat([]byte{0xff}, 9)...),
		"unknown": {99}, "empty": {},
		"number": {tagFloat, 1, 2, 3}, "document": {tagDocument, 1}, "too deep": bytes.Repeat([]byte{tagArray, 1}, maxDepth+4),
	} {
		r := reader{b: b, handles: noHandles{}}
		if v := r.value(); r.err == nil {
			t.Errorf("%s: %v", name, v)
		}
		if r.uint() != 0 || r.int() != 0 || r.string() != "" || r.byte() != 0 || r.float() != 0 || r.sized() != nil || len(r.strings()) != 0 || r.bool() {
			t.Errorf("%s: something is read after the mistake", name)
		}
	}
	w := writer{}
	w.items(tagArray, make([]any, maxItems), 0) //nolint:errcheck // nil needs no handles
	r := reader{b: bytes.Repeat(w.b, 4), handles: noHandles{}}
	for i := range 5 {
		if i == 4 {
			r.b = append(r.b, tagArray, 1, tagNil)
		}
		if r.value(); (r.err != nil) != (i == 4) {
			t.Fatalf("list %d: %v", i, r.err)
		}
	}
}

// TestWireSkip passes over just what a value takes.
func TestWireSkip(t *testing.T) {
	for _, v := range []any{nil, true, int64(-7), 1.5, "text", time.UnixMilli(9), []any{"a", []any{int64(1)}}, absent{}} {
		w := writer{handles: noHandles{}}
		if err := w.value(v); err != nil {
			t.Fatal(err)
		}
		r := reader{b: append(w.b, "rest"...)}
		if r.skip(); r.err != nil || string(r.b) != "rest" {
			t.Errorf("%v: %q, %v", v, r.b, r.err)
		}
	}
	for _, b := range [][]byte{{tagMap, 0}, {tagDocument}, {}, {tagString, 9}} {
		r := reader{b: b}
		if r.skip(); r.err == nil {
			t.Errorf("%v was passed over", b)
		}
	}
}

// TestFrames: frames arrive whole however a stream is cut into pieces.
func TestFrames(t *testing.T) {
	var sent [][]byte
	var stream bytes.Buffer
	rnd := rand.New(rand.NewPCG(2, 2))
	w := writer{}
	for i := range 60 {
		w.start(byte('a' + i%26))
		w.b = append(w.b, bytes.Repeat([]byte{byte(i)}, rnd.IntN(1<<(i%18)))...)
		if err := w.send(&stream); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, bytes.Clone(w.b[4:]))
	}
	for name, in := range map[string]io.Reader{
		"at once": bytes.NewReader(stream.Bytes()), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream.Bytes())), "by halves": iotest.HalfReader(bytes.NewReader(stream.Bytes())),
		"with the end": iotest.DataErrReader(bytes.NewReader(stream.Bytes())),
	} {
		f := frames{in: in, max: 1 << 20}
		for i, want := range sent {
			if got, err := f.next(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: frame %d: %d bytes, %v, want %d", name, i, len(got), err, len(want))
			}
		}
		if _, err := f.next(); !errors.Is(err, io.EOF) || f.buffered() {
			t.Errorf("%s: after the last: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		b    string
		want error
	}{
		"cut in the length": {"\x05\x00", io.ErrUnexpectedEOF}, "cut in the frame": {"\x05\x00\x00\x00abcd", io.ErrUnexpectedEOF}, "empty": {"\x00\x00\x00\x00", errWire},
		"too long": {"\x0b\x00\x00\x00", errWire}, "negative": {"\xff\xff\xff\xff", errWire}, "nothing": {"", io.EOF},
	} {
		f := frames{in: strings.NewReader(c.b), max: 10}
		if got, err := f.next(); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestWireFailure: an error keeps its kind, code and field on the way, and a text of any length is cut.
func TestWireFailure(t *testing.T) {
	for _, err := range []error{fault.NotFound.Errorf("a").In("x"), fault.Limit.Errorf("ä").WithCode(fault.CodeStack), errors.New("plain"), fault.Denied.Errorf("%s", strings.Repeat("ä", 20<<10))} {
		w := writer{}
		w.failure(err, -1)
		r := reader{b: w.b}
		got := r.failure()
		var want *fault.Error
		if errors.As(err, &want) && (got.fault.Kind != want.Kind || got.fault.Code != want.Code || got.fault.Field != want.Field) {
			t.Errorf("%.20v became %+v", err, got.fault)
		}
		if r.err != nil || len(r.b) != 0 || got.ref != -1 || len(got.Error()) > 16<<10+10 || !strings.HasPrefix(err.Error(), strings.TrimSuffix(got.Error(), "…")) && len(err.Error()) < 100 {
			t.Errorf("%.20v became %.20v, ref %d, %v", err, got, got.ref, r.err)
		}
	}
	limits := &Limits{Wall: time.Hour, CPU: time.Second, Memory: 1 << 40, Stack: -1, Calls: 7, Output: 1 << 30, Log: 0}
	w := writer{}
	w.limits(limits)
	r := reader{b: w.b}
	if got := r.limits(); r.err != nil || *got != *limits {
		t.Errorf("limits %+v, %v", got, r.err)
	}
	w = writer{}
	w.stack([]Frame{{Function: strings.Repeat("f", 500), Line: 3, Column: -1}, {}})
	r = reader{b: w.b}
	inner := reader{b: r.sized()}
	if stack := inner.frames("a.js"); inner.err != nil || len(r.b) != 0 || len(stack) != 2 || stack[0].Line != 3 || stack[0].Column != -1 || stack[1].File != "a.js" || len(stack[0].Function) > 210 {
		t.Errorf("stack %+v, %v", stack, inner.err)
	}
}
