package engine

import (
	"slices"

	"catena/storage"
)

// EntryPoint is where a call comes from; several together are a set of them.
type EntryPoint uint8

// The entry points.
const (
	REST EntryPoint = 1 << iota
	MCP
	CLI
	Chain
	Script
	Listener
	Server

	Everywhere = Direct | Stored | Script
	// Direct is a call of its own: no step of a chain, a script or a listener.
	Direct = REST | MCP | CLI | Server
	// Stored is what an administrator has stored on the server.
	Stored = Chain | Listener | Server
)

const entryPoints = 7

var entryPointNames = [entryPoints]string{"rest", "mcp", "cli", "chain", "script", "listener", "server"}

// String returns the name of one entry point; no entry point is the server itself.
func (d EntryPoint) String() string {
	for i, name := range entryPointNames {
		if d == 1<<i {
			return name
		}
	}
	return "server"
}

// Callers says who may call an operation, for each entry point. The zero value is nobody.
type Callers [entryPoints]group

// group is a group of principals; a later one contains those before it.
type group uint8

const (
	nobody group = iota
	admins
	scripters
	anyone
)

// Who may call an operation from everywhere; From and OrStored say otherwise.
var (
	// Admins are administrators.
	Admins = everywhere(admins)
	// Scripters are those who may run text of their own: administrators and the group scripters.
	Scripters = everywhere(scripters)
	// Anyone is everyone who signed in.
	Anyone = everywhere(anyone)
)

func everywhere(g group) (c Callers) {
	for i := range c {
		c[i] = g
	}
	return c
}

// From returns the callers without those who come from another entry point.
func (c Callers) From(e EntryPoint) Callers {
	for i := range c {
		if e&(1<<i) == 0 {
			c[i] = nobody
		}
	}
	return c
}

// OrStored returns the callers and, from what an administrator has stored, anyone.
func (c Callers) OrStored() Callers {
	for i := range c {
		if Stored&(1<<i) != 0 {
			c[i] = anyone
		}
	}
	return c
}

// allows reports whether p may call from any of the entry points; no entry point is the server itself.
func (c *Callers) allows(p *storage.Principal, from EntryPoint) bool {
	if p == nil {
		return false
	}
	if from == 0 {
		from = Server
	}
	widest := nobody
	for i, w := range c {
		if from&(1<<i) != 0 {
			widest = max(widest, w)
		}
	}
	switch widest {
	case anyone:
		return true
	case scripters:
		return runsText(p)
	case admins:
		return p.Admin || p.System
	case nobody:
	}
	return false
}

// runsText reports whether somebody may run text of their own.
func runsText(p *storage.Principal) bool {
	return p.Admin || p.System || slices.Contains(p.Groups, "scripters")
}

// MayEvaluate reports whether expressions of the caller's may be evaluated: they come with what an administrator has
// stored, or from somebody who may run text of their own.
func (c *Ctx) MayEvaluate() bool {
	return c.EntryPoint&(REST|MCP|CLI|Script) == 0 || runsText(c.As)
}
