package badger

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"catena/storage/kv"
)

// TestRuns publishes runs and takes some away between them: the runs stay few, those
// being taken are left alone, and the newest write of every key is found.
func TestRuns(t *testing.T) {
	var (
		p     pending
		h     = kv.NewHistory(0)
		seed  = maphash.MakeSeed()
		r     = rand.New(rand.NewPCG(7, 8))
		model = map[string]string{}
		key   = func() string { return fmt.Sprintf("%03d", r.IntN(500)) }
	)
	p.init()
	for version := uint64(1); version <= 2000; version++ {
		var writes []kv.Mutation
		for _, k := range sortedKeys(1+r.IntN(20), key) {
			model[k] = fmt.Sprint(version)
			writes = append(writes, kv.Mutation{Key: []byte(k), Value: []byte(model[k])})
		}
		run := runOf(writes, seed)
		run.first, run.last = version, version
		p.publish(run, h)
		switch version % 700 {
		case 300:
			p.hurry()
			p.next()
		case 400:
			for _, run := range p.runs[:p.taken] {
				for _, m := range run.rows {
					if p.value(string(m.Key), seed) == string(m.Value) {
						delete(model, string(m.Key))
					}
				}
			}
			p.done()
		}
		if len(p.runs) > 40 {
			t.Fatalf("%d runs", len(p.runs))
		}
	}
	size := 0
	for _, run := range p.runs {
		size += run.bytes
	}
	if size != p.bytes || h.Published() != 2000 {
		t.Errorf("%d bytes counted, %d there, version %d", p.bytes, size, h.Published())
	}
	for k := range 500 {
		if key := fmt.Sprintf("%03d", k); p.value(key, seed) != model[key] {
			t.Errorf("key %s: %q, want %q", key, p.value(key, seed), model[key])
		}
	}
	one := join(p.runs)
	if len(one.rows) != len(model) || one.last != 2000 {
		t.Errorf("joined: %d rows of %d, last version %d", len(one.rows), len(model), one.last)
	}
	for i, m := range one.rows {
		if got := one.get(m.Key, maphash.Bytes(seed, m.Key)); got != &one.rows[i] || model[string(m.Key)] != string(m.Value) {
			t.Errorf("joined: key %s holds %s, want %s", m.Key, m.Value, model[string(m.Key)])
		}
	}
}

// value is what a reader finds under a key.
func (p *pending) value(key string, seed maphash.Seed) string {
	for i := len(p.runs) - 1; i >= 0; i-- {
		if m := p.runs[i].get([]byte(key), maphash.String(seed, key)); m != nil {
			return string(m.Value)
		}
	}
	return ""
}

func TestStamps(t *testing.T) {
	var s stamps
	for _, v := range []uint64{10, 15, 30} {
		s.add(v)
	}
	for _, tt := range []struct{ seen, want uint64 }{{3, 0}, {10, 0}, {12, 10}, {15, 10}, {16, 15}, {30, 15}, {40, 30}, {30, 0}} {
		if got := s.before(tt.seen); got != tt.want {
			t.Errorf("before %d: %d, want %d", tt.seen, got, tt.want)
		}
	}
}
