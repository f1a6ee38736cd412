package simulation

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/storage/kv"
)

// mutation is a fault that is put into the server to see whether a run finds it.
type mutation struct {
	random *rand.Rand
	drop   []byte // writes of keys with this prefix are dropped,
	one    int    // one of so many; 0: eight
	races  bool   // commits are not validated
	lies   bool   // one of a hundred commits is acknowledged and not made
	rename bool   // what is sent again has another id
	lost   bool   // a crash takes the last commit with it
	stale  bool   // one of several servers reads what the database had before
}

// spoil changes a commit.
func (m *mutation) spoil(b *kv.Batch) {
	if m.races {
		b.Reads = kv.Reads{}
	}
	if m.drop != nil {
		b.Writes = slices.DeleteFunc(b.Writes, func(w kv.Mutation) bool {
			return bytes.HasPrefix(w.Key, m.drop) && m.random.IntN(cmp.Or(m.one, 8)) == 0
		})
	}
	if m.lies && len(b.Writes) > 0 && b.Writes[0].Key[0] != 0 && m.random.IntN(100) == 0 {
		b.Writes = nil
	}
}

// mutated is a fault, and within how many seeds it is found.
type mutated struct {
	mutation
	seeds uint64
}

// mutations are faults that runs have to find. The keys are those of storage/internal/layout.
var mutations = map[string]mutated{
	"a place in the tree is not written":         {mutation{drop: []byte("t")}, 10},
	"a child is not listed":                      {mutation{drop: []byte("c\x01")}, 10},
	"an index row is not written":                {mutation{drop: []byte("x")}, 10},
	"an audit record is not written":             {mutation{drop: []byte("a\x01")}, 10},
	"a job is not written":                       {mutation{drop: []byte("j\x00")}, 10},
	"a membership is not written":                {mutation{drop: []byte("g")}, 20},
	"the change of memberships is not announced": {mutation{drop: []byte("g\x05"), one: 1}, 60},
	"the change of the tree is not announced":    {mutation{drop: []byte("mepoch"), one: 1}, 60},
	"a term of full text is not written":         {mutation{drop: []byte("w\x01")}, 40},
	"a content is not marked as needed":          {mutation{drop: kv.AppendString([]byte("x"), "blob"), one: 2}, 40},
	"a content that is given up is not noted":    {mutation{drop: []byte("b\x02"), one: 1}, 40},
	"the content of a small file is not written": {mutation{drop: []byte("b\x01")}, 20},
	"commits are not validated":                  {mutation{races: true}, 20},
	"a commit is acknowledged and not made":      {mutation{lies: true}, 10},
	"what is sent again has another id":          {mutation{rename: true}, 20},
	"a crash takes the last commit with it":      {mutation{lost: true}, 20},
}

// nodeMutations are faults that runs of two servers have to find.
var nodeMutations = map[string]mutated{
	"reads lag behind the database":              {mutation{stale: true}, 10},
	"the change of memberships is not announced": {mutation{drop: []byte("g\x05"), one: 1}, 30},
	"the change of the tree is not announced":    {mutation{drop: []byte("mepoch"), one: 1}, 30},
	"the holder of a duty is not written":        {mutation{drop: []byte("rduty\x00"), one: 1}, 10},
	"the lease of a job is not written":          {mutation{drop: []byte("j\x01"), one: 1}, 10},
	"commits are not validated":                  {mutation{races: true}, 10},
}

// TestMutations holds that the simulation finds faults: each of these within so many seeds.
func TestMutations(t *testing.T) { find(t, mutations, 1) }

// TestNodeMutations holds that the simulation of two servers finds faults.
func TestNodeMutations(t *testing.T) { find(t, nodeMutations, 2) }

func find(t *testing.T, faults map[string]mutated, nodes int) {
	t.Helper()
	if underRace {
		t.Skip("what is found does not depend on the race detector")
	}
	for name, m := range faults {
		t.Run(name, func(t *testing.T) {
			for seed := range m.seeds {
				if problems, _, _ := runOn(t, seed+1, false, m.mutation, setting{nodes: nodes}); len(problems) > 0 {
					t.Logf("found by seed %d: %s", seed+1, problems[0])
					return
				}
			}
			t.Errorf("not found within %d seeds", m.seeds)
		})
	}
}
