package bulk

import (
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// It must stay below the time of a call, or waiting would end in an error instead of an answer.
const maxWait = 50 * time.Second // a call may take a minute

var wait = engine.Op{
	Name:     "Bulk.WaitForAction",
	Label:    "Wait for Bulk computation",
	Category: "Services",
	Since:    "10.2",
	Doc:      "Waits until a bulk command is finished, for at most timeoutSecond (50 seconds at most), and returns whether it is.",
	Effect:   engine.Pure,
	Callers:  engine.Admins.OrStored(),
	Run:      engine.On(waitParams.run),
}

type waitParams struct {
	ID      string `json:"commandId" doc:"Identifier of the command."`
	Seconds int64  `json:"timeoutSecond" default:"60" doc:"Seconds to wait."`
}

func (p waitParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	// The operation is declared pure and so has no transaction of its own, in which it would never
	// see the command change: each look is a transaction of the repository.
	if c.Engine() == nil {
		return false, fault.Internal.Errorf("bulk: called outside the engine")
	}
	// The inner bound of an hour keeps the multiplication by a second from overflowing. The real
	// clock is used, not c.Now, which stands still during a call.
	end := time.Now().Add(min(time.Duration(min(max(p.Seconds, 0), 3600))*time.Second, maxWait))
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		over := false
		err := c.Engine().Repo().View(c, c.As, func(tx *storage.Tx) error {
			cmd, err := find(tx, p.ID)
			over = err == nil && cmd.over()
			return err
		})
		if err != nil || over || time.Now().Add(pause).After(end) {
			return over, err
		}
		select {
		case <-c.Done():
			return false, c.Err()
		case <-time.After(pause):
		}
	}
}
