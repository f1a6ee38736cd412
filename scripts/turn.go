package scripts

import (
	"context"
	"time"

	"catena/storage/fault"
)

// maxNested is how many scripts may be at work within each other, each in a worker of its own.
const maxNested = 16

// turn is the right to run a script. The call's first script waits for a slot; the
// scripts that it calls run in its slot, since it does nothing meanwhile, and within its
// time. So scripts that call scripts never wait for each other.
type turn struct {
	depth int
	wall  time.Duration // that the script has
	end   time.Time     // when they have ended
}

type turnKey struct{}

// begin waits for the turn of user's script. It returns the turn and what ends it.
func (r *Runner) begin(ctx context.Context, user string) (t *turn, end func(), err error) {
	t = &turn{depth: 1, wall: r.limits.Wall}
	if outer, ok := ctx.Value(turnKey{}).(*turn); ok {
		if outer.depth >= maxNested {
			return nil, nil, fault.Limit.Errorf("depth: more than %d nested scripts", maxNested).WithCode(fault.CodeDepth)
		}
		left := time.Until(outer.end).Truncate(time.Millisecond)
		t.depth, t.wall, end = outer.depth+1, max(time.Millisecond, min(t.wall, left)), func() {}
	} else {
		if err := r.slots.Acquire(ctx, user); ctx.Err() != nil && err != nil {
			return nil, nil, cancelled(ctx)
		} else if err != nil {
			return nil, nil, fault.Unavailable.Errorf("script: %w", err).WithCode(fault.CodeScriptBusy)
		}
		end = func() { r.slots.Release(user) }
	}
	t.end = time.Now().Add(t.wall)
	return t, end, nil
}

// within returns the context of what the script calls.
func (t *turn) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}
