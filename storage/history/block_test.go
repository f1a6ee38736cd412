package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
)

var began = time.Date(2026, 11, 27, 3, 0, 0, 123456789, time.UTC)

// runAt is a run of a server that began so many milliseconds later.
func runAt(ms int64, server string, number int) Run {
	start := began.Add(time.Duration(ms) * time.Millisecond)
	return Run{
		ID: fmt.Sprintf("%x%s-%010x", start.UnixMilli(), server, number), Owned: storage.Owned{Owner: "ann"}, Repository: "default", Op: "Ten",
		EntryPoint: "rest", Start: start, Duration: time.Millisecond, Expires: start.Add(time.Hour).Truncate(time.Second),
	}
}

// TestBlock: runs come back from blocks as they were, each field set and not set.
func TestBlock(t *testing.T) {
	full := runAt(0, "0000ff", 1)
	full.OwnerID, full.Version, full.Request, full.Remote, full.Repeats, full.Began = -7, 3, "e00d8e68a9735cfb", netip.MustParseAddr("fe80::1%eth0"), "0-0", "0-2"
	details := Details{Input: json.RawMessage(`"x"`), Params: json.RawMessage(`{"a":1}`), Context: json.RawMessage(`{}`), Left: []string{"a", "b"}, Trace: json.RawMessage(`{"op":"x"}`)}
	ended := []Ended{{Run: full, Details: details}}
	for _, id := range []string{"", "0-1", "x", "-1", "1a21af20b80-0000000001", "1A21AF20B800000FF-0000000001", "01a21af20b80000ff-0000000001", "1a21af20b800000ff-00000000001", "1a21af20b800000ff--000000001", "+1a21af20b80000ff-0000000001"} {
		r := full
		r.ID = id
		ended = append(ended, Ended{Run: r})
	}
	for i := range reflect.TypeFor[Run]().NumField() {
		one := full
		reflect.ValueOf(&one).Elem().Field(i).SetZero()
		if one.Start.IsZero() { // a run has a beginning, and its end
			continue
		}
		if one.Expires.IsZero() {
			one.Expires = time.Unix(0, 0).UTC()
		}
		one.Internal, one.Code, one.Error = false, "", ""
		ended = append(ended, Ended{Run: one})
	}
	for _, e := range ended {
		blocks := Pack([]Ended{e})
		runs, err := runsOf(blocks[0].heads)
		if len(blocks) != 1 || err != nil || len(runs) != 1 || !reflect.DeepEqual(runs[0], e.Run) {
			t.Fatalf("%d %v\n%+v\n%+v", len(blocks), err, runs, e.Run)
		}
		items, err := opened(blocks[0].details)
		if err != nil || len(items) != 1 {
			t.Fatal(err)
		}
		if d, err := detailsOf(items[0]); err != nil || !reflect.DeepEqual(d, e.Details) {
			t.Errorf("%v\n%+v\n%+v", err, d, e.Details)
		}
	}
}

// TestPackBounds: a block ends before it is too large, and has no runs that began long after its first.
func TestPackBounds(t *testing.T) {
	var ended []Ended
	for i := range 3000 {
		e := Ended{Run: runAt(int64(i*i/2000), "0000ff", i), Details: Details{Input: json.RawMessage(fmt.Sprintf("%q", strings.Repeat(fmt.Sprint(i), 10+i%7*20)))}}
		ended = append(ended, e)
	}
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(ended), func(i, j int) { ended[i], ended[j] = ended[j], ended[i] }) //nolint:gosec // an order
	blocks := Pack(ended)
	before, all := "", 0
	for _, b := range blocks {
		last, first, _ := strings.Cut(b.key, "/")
		runs, err := runsOf(b.heads)
		if err != nil {
			t.Fatal(err)
		}
		all += len(runs)
		if runs[0].ID != first || runs[len(runs)-1].ID != last || first <= before {
			t.Errorf("block %s begins with %s and ends with %s after %s", b.key, runs[0].ID, runs[len(runs)-1].ID, before)
		}
		if span := runs[len(runs)-1].Start.Sub(runs[0].Start); span > blockSpan || len(runs) > maxBlockRuns || len(b.details) > 2*maxBlock {
			t.Errorf("block %s: %s, %d runs, %d bytes", b.key, span, len(runs), len(b.details))
		}
		if beyond(first) <= b.key {
			t.Errorf("block %s is not found by its first run", b.key)
		}
		before = last
	}
	if all != len(ended) || len(blocks) < 10 || len(blocks) > 100 {
		t.Errorf("%d runs in %d blocks", all, len(blocks))
	}
}

// TestWithout: of runs that are left out of a block, nothing is left in its bytes.
func TestWithout(t *testing.T) {
	var ended []Ended
	for i := range 20 {
		r := runAt(int64(i), "0000ff", i)
		r.Owner = []string{"annabelle", "bartholomew"}[i%2]
		ended = append(ended, Ended{Run: r, Details: Details{Params: json.RawMessage(fmt.Sprintf(`{"by":%q,"n":%d}`, r.Owner, i))}, Steps: func(p *Packer) {
			p.Int(int64(i))
			p.Text("step of " + r.Owner)
		}})
	}
	whole := Pack(slices.Clone(ended))[0]
	left, err := without(whole.heads, whole.details, func(r *Run) bool { return r.Owner == "annabelle" })
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{left.heads, left.details} {
		if raw[0] == zstdRow {
			if raw, err = decoder().DecodeAll(raw[1:], nil); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(string(raw), "barthol") || !strings.Contains(string(raw), "annabelle") {
			t.Errorf("%q", raw)
		}
	}
	runs, err := runsOf(left.heads)
	items, err2 := opened(left.details)
	if err != nil || err2 != nil || len(runs) != 10 || len(items) != 10 {
		t.Fatalf("%d runs, %d details, %v %v", len(runs), len(items), err, err2)
	}
	for i := range runs {
		if !reflect.DeepEqual(runs[i], ended[2*i].Run) {
			t.Errorf("%+v, want %+v", runs[i], ended[2*i].Run)
		}
		d, err := detailsOf(items[i])
		if err != nil || string(d.Params) != string(ended[2*i].Details.Params) || d.Steps.Int() != int64(2*i) || d.Steps.Text() != "step of annabelle" {
			t.Errorf("%+v %v", d, err)
		}
	}
	if none, err := without(whole.heads, whole.details, func(*Run) bool { return false }); none.key != "" || err != nil {
		t.Errorf("%+v %v", none, err)
	}
}
