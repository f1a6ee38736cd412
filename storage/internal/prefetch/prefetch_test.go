package prefetch

import (
	"fmt"
	"slices"
	"testing"

	"catena/storage/kv"
)

// of is what a request for a document asks for: rows of the document, rows of its children, and a row that is the same for all.
func of(id ID, more ...string) (asked kv.Asked) {
	children := kv.Prefix(append([]byte("c"), id[:]...))
	children.Limit, children.Follow = 51, [][]byte{[]byte("d")}
	named := kv.Prefix(append([]byte("n"), id[:]...))
	named.Start = append(named.Start, 'k')
	asked.Ranges = []kv.Range{children, named}
	asked.Keys = [][]byte{append([]byte("d"), id[:]...), []byte("settings")}
	for _, k := range more {
		asked.Keys = append(asked.Keys, []byte(k))
	}
	return asked
}

func text(asked kv.Asked) string {
	var all []string
	for _, k := range asked.Keys {
		all = append(all, fmt.Sprintf("%q", k))
	}
	for _, r := range asked.Ranges {
		all = append(all, fmt.Sprintf("%q %q %d %q", r.Start, r.End, r.Limit, r.Follow))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// TestHistory predicts what two requests of a kind have asked for, each for its own document, for a third document, and gives up
// on requests that ask for something else each time.
func TestHistory(t *testing.T) {
	var h History
	ids := []ID{{1, 1}, {2, 0xFE, 15: 7}, {3, 15: 0xFF}, {4, 4}}
	ask := func(id ID, late func(predicted bool) kv.Asked) string {
		r := h.Request(id, "GET", "page")
		ahead := h.Ahead(&r)
		h.Learn(&r, late(r.predicted))
		return text(ahead)
	}
	page := func(id ID, noise string) string {
		return ask(id, func(predicted bool) kv.Asked {
			if predicted {
				return kv.Asked{}
			}
			return of(id, noise)
		})
	}
	const nothing = "[]"
	for i, want := range []string{nothing, nothing, text(of(ids[2])), text(of(ids[3]))} {
		if got := page(ids[i], fmt.Sprint("noise", i)); got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	other := h.Request(ids[0], "GET", "other")
	if got := h.Ahead(&other); text(got) != nothing {
		t.Errorf("another kind: %v", got)
	}
	// What is predicted in vain is predicted ever more seldom.
	predicted := 0
	for i := range 1000 {
		if ask(ids[0], func(bool) kv.Asked { return of(ids[0], fmt.Sprint("other", i)) }) != nothing {
			predicted++
		}
	}
	if predicted < 5 || predicted > 20 {
		t.Errorf("%d of 1000 requests were predicted in vain", predicted)
	}
	// What is wrong once in a while is predicted all the same.
	const every = minRight + 1
	predicted = 0
	for range 100 * every {
		r := h.Request(ids[0], "counts at times")
		h.Ahead(&r)
		late := kv.Asked{}
		if !r.predicted {
			late = of(ids[0])
		} else if predicted++; predicted%every == 0 {
			late.Keys = [][]byte{[]byte("count")}
		}
		h.Learn(&r, late)
	}
	if want := 100*every - 2*2; predicted != want {
		t.Errorf("%d requests were predicted, want %d", predicted, want)
	}
	// Nothing is kept of requests that ask for too much.
	var large kv.Asked
	for i := range maxAsked + 1 {
		large.Keys = append(large.Keys, fmt.Append(nil, i))
	}
	r := h.Request(ID{}, "large")
	for range 3 {
		if h.Learn(&r, large); text(h.Ahead(&r)) != nothing {
			t.Error("a large request was predicted")
		}
	}
}

// TestHistoryForgets: predictions are made anew from time to time, so that what is no longer asked for goes, and kinds that are not
// asked for go as well.
func TestHistoryForgets(t *testing.T) {
	var h History
	r := h.Request(ID{}, "a")
	lasted := 0
	for range 3 * maxUses {
		ahead := h.Ahead(&r)
		if len(ahead.Keys) > 0 {
			lasted++
			h.Learn(&r, kv.Asked{})
		} else {
			h.Learn(&r, kv.Asked{Keys: [][]byte{[]byte("k")}})
		}
	}
	if lasted != 3*maxUses-2*3 {
		t.Errorf("%d predictions", lasted)
	}
	for i := range 10 * maxKinds {
		other := h.Request(ID{}, fmt.Sprint(i))
		h.Learn(&other, kv.Asked{Keys: [][]byte{[]byte("k")}})
	}
	if n := len(h.young) + len(h.old); n > 2*maxKinds || h.find(r.of) != nil {
		t.Errorf("%d kinds are kept", n)
	}
}
