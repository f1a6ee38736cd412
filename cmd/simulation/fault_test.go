package simulation

import (
	"math/rand/v2"
	"time"
)

// failure is what goes wrong with one step of a transaction.
type failure string

const (
	none         failure = ""
	failed       failure = "fails"             // the disk cannot be read
	full         failure = "disk full"         // nothing can be written
	lostRace     failure = "conflict"          // although there was none
	unsynced     failure = "not synced, lost"  // the sync fails, and the commit is not on the disk
	unsyncedKept failure = "not synced, there" // the sync fails, and the commit is on the disk

	lostRequest failure = "request lost"     // the database never gets the commit
	lostAnswer  failure = "answer lost"      // the commit is made, which the server finds out
	late        failure = "late"             // the commit is under way for a while
	unknown     failure = "unknown, refused" // nobody finds out what became of the commit
	unknownMade failure = "unknown, made"
)

// plan is how a run goes: how much is done, and how much goes wrong.
type plan struct {
	calls   int           // of each client
	crashes int           // that happen at any moment
	steps   int           // about as many as the run takes
	rate    int           // one step in so many goes wrong; 0: none
	pause   int           // one step in so many is preceded by a pause
	longest time.Duration // of these pauses
	cuts    int           // times that a server is cut off from the database; of several servers
	shared  bool          // several servers have a database
	weights []int         // of the choices: a run that does few kinds of things does them more often to the same documents
}

// planOf decides how a run goes. A third of the runs are without faults, so that nothing excuses an error.
func planOf(r *rand.Rand) plan {
	p := plan{calls: 12 + r.IntN(24), pause: 5 + r.IntN(60), longest: time.Duration(1+r.IntN(2000)) * time.Millisecond}
	p.steps = p.calls * clients * 3
	for range choices {
		p.weights = append(p.weights, []int{0, 1, 1, 1, 4}[r.IntN(5)])
	}
	p.weights[0] = max(p.weights[0], 1)
	switch r.IntN(3) {
	case 1:
		p.crashes = 1 + r.IntN(3)
	case 2:
		p.crashes, p.rate = r.IntN(3), 30+r.IntN(300)
	}
	return p
}

// judge decides what happens to a goroutine that goes on.
func (p plan) judge(r *rand.Rand, t *turn) (v verdict) {
	if t.place == atBegin && r.IntN(3) == 0 {
		v.pause = 1 + r.IntN(20)
	}
	if p.rate == 0 || r.IntN(p.rate) > 0 {
		return v
	}
	switch t.place {
	case atBegin:
		if v.fault = failed; r.IntN(3) > 0 {
			v.fault, v.after = none, 1+r.IntN(30)
		}
	case atCommit:
		v.fault, v.delay = pick(r, p.commits()), time.Duration(r.Int64N(int64(longestDelay)))
	}
	return v
}

// commits are the faults that a commit meets.
func (p plan) commits() []failure {
	if p.shared {
		return []failure{lostRace, lostRace, lostRequest, lostRequest, lostAnswer, late, late, late, unknown, unknownMade}
	}
	return []failure{lostRace, lostRace, lostRace, full, full, unsynced, unsyncedKept}
}

// longestDelay is how long a message to the database takes at most. It is more than a duty or a lease of a job lasts.
const longestDelay = 40 * time.Second

// share makes the plan one for several servers.
func (p *plan) share(r *rand.Rand) {
	p.shared = true
	if p.crashes > 0 || p.rate > 0 {
		p.cuts = r.IntN(4)
	}
}
