package zone

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// random makes a map of random records, and returns which of them are in which part.
func random(rnd *rand.Rand, parts, perPart, variety int) (Map, [][]Record) {
	var b Builder
	all := make([][]Record, parts)
	id := rnd.Int64N(100)
	for part := range all {
		b.Begin([16]byte{byte(part)})
		for range 1 + rnd.IntN(perPart) {
			r := Record{ID: id, Logged: 1000 - id}
			id++
			for f := range Path {
				r.Values[f] = fmt.Sprint("v", rnd.IntN(variety))
			}
			for range rnd.IntN(7) {
				r.Values[Path] += "/" + string(rune('a'+rnd.IntN(variety)))
			}
			if rnd.IntN(10) == 0 {
				r.Values[Path] = "no/path/" + r.Values[Path]
			}
			b.Add(&r)
			all[part] = append(all[part], r)
		}
	}
	m, err := Parse(b.Bytes())
	if err != nil {
		panic(err)
	}
	return m, all
}

// TestMap: a part that has a value is among those that may have it, also of fields with more values than a map has room for.
func TestMap(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		variety := []int{2, 10, 2000}[seed%3]
		m, all := random(rnd, 1+rnd.IntN(MaxParts), 64, variety)
		exact, found := 0, 0
		for part, records := range all {
			for i := range records {
				r := &records[i]
				for f := range fields {
					if f != shallow && m.With(f, "none", r.Values[f])>>part&1 == 0 {
						t.Fatalf("seed %d: part %d lacks %q in field %d", seed, part, r.Values[f], f)
					}
				}
				p := r.Values[Path]
				if from := p[:rnd.IntN(len(p)+1)]; m.PathsFrom(from)>>part&1 == 0 {
					t.Fatalf("seed %d: part %d lacks paths from %q", seed, part, from)
				}
				if r.ID < m.IDs.Min || r.ID > m.IDs.Max || r.Logged < m.Logged.Min || r.Logged > m.Logged.Max {
					t.Fatalf("seed %d: record %d, logged %d, is out of %v, %v", seed, r.ID, r.Logged, m.IDs, m.Logged)
				}
			}
			if m.Start(part)[0] != byte(part) {
				t.Fatalf("part %d begins at %x", part, m.Start(part))
			}
			for v := range variety {
				event := fmt.Sprint("v", v)
				has := false
				for i := range records {
					has = has || records[i].Values[Event] == event
				}
				if may := m.With(Event, event)>>part&1 == 1; may {
					found++
					if has {
						exact++
					}
				}
			}
		}
		if variety <= 10 && found != exact {
			t.Errorf("seed %d: %d of %d parts have the event that they may have", seed, exact, found)
		}
		if m.With(Event, "none") != 0 && variety <= 10 {
			t.Errorf("seed %d: an event that there is none of", seed)
		}
	}
}

func TestPaths(t *testing.T) {
	var b Builder
	b.Begin([16]byte{})
	b.Add(&Record{Values: [fields]string{Path: "/a/b/c/d/e/f"}})
	b.Begin([16]byte{})
	b.Add(&Record{Values: [fields]string{Path: "/a"}})
	b.Begin([16]byte{})
	b.Add(&Record{})
	m, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Parts{"/a": 2, "/a/b": 0, "/a/b/c": 1, "/a/b/c/d/e/g": 1, "/a/b/c/x": 0, "/b": 0, "": 4, "/": 0} {
		if got := m.With(Path, path); got != want {
			t.Errorf("%q: %b, want %b", path, got, want)
		}
	}
	for text, want := range map[string]Parts{"": All, "/": All, "/a": All, "/a/": 3, "/a/b/": 1, "/b/": 0, "/a/b/c/d/e/f/g": 1} {
		if got := m.PathsFrom(text); got != want {
			t.Errorf("from %q: %b, want %b", text, got, want)
		}
	}
	if m.Parts() != 7 || m.Records != 3 {
		t.Errorf("%b, %d records", m.Parts(), m.Records)
	}
}

// TestNext reads runs off sets of parts written as text, one letter a part.
func TestNext(t *testing.T) {
	for set, want := range map[string]string{
		"":                            "",
		"1":                           "0-1",
		"0110":                        "1-3",
		"1101100001":                  "0-2 3-5 9-10",
		strings.Repeat("1", MaxParts): "0-64",
		strings.Repeat("01", MaxParts/2)[:62] + "01": "",
	} {
		var p Parts
		for i, c := range set {
			if c == '1' {
				p |= 1 << i
			}
		}
		for gap := range 5 {
			covered, last, n := Parts(0), 0, []string{}
			for first, end := p.Next(0, gap); first < MaxParts; first, end = p.Next(end, gap) {
				if first < last || end <= first || p>>first&1 == 0 || p>>(end-1)&1 == 0 {
					t.Fatalf("%s, gap %d: %d-%d behind %d", set, gap, first, end, last)
				}
				for i := first; i < end; i++ {
					covered |= 1 << i
				}
				last, n = end, append(n, fmt.Sprintf("%d-%d", first, end))
			}
			if p&^covered != 0 || gap == 0 && p != covered {
				t.Errorf("%s, gap %d: covered %b", set, gap, covered)
			}
			if got := strings.Join(n, " "); gap == 0 && want != "" && got != want {
				t.Errorf("%s: %s, want %s", set, got, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	m, _ := random(rand.New(rand.NewPCG(1, 1)), 3, 5, 4)
	f.Add(append([]byte{format, 3, 0, 4}, m.starts...))
	f.Fuzz(func(_ *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		for i := range m.parts {
			m.Start(i)
		}
		m.With(Event, "a")
		m.PathsFrom("/a/b")
	})
}
