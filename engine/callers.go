package engine

import (
	"slices"
	"strings"

	"catena/storage"
)

// EntryPoint is where a call comes from; a rule names a set of them.
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

	Everywhere = REST | MCP | CLI | Chain | Script | Listener | Server
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

// Who is a group of principals.
type Who uint8

// Who may call an operation, from the narrowest.
const (
	nobody    Who = iota
	Admins        // administrators
	Scripters     // those who may run text of their own: administrators and the group scripters
	Anyone        // everyone who signed in
)

// Rule lets some call operations from some entry points. Ops is a name or a prefix with a star:
// "Document.*". Rules with the exact name hold instead of those with a prefix.
type Rule struct {
	Ops  string
	Who  Who
	From EntryPoint
}

// grants is who may call an operation, by entry point.
type grants [entryPoints]Who

// everyone is what holds for operations deployed at run time that no rule names.
var everyone = func() (g grants) {
	for i := range g {
		g[i] = Anyone
	}
	return g
}()

// grantsFor adds up the rules that name an operation; ok is false if none does.
func grantsFor(rules []Rule, name string) (g grants, ok bool) {
	best := -1 // length of the prefix that holds
	for _, r := range rules {
		prefix, starred := strings.CutSuffix(r.Ops, "*")
		rank := len(prefix)
		switch {
		case r.Ops == name:
			rank = len(name) + 1
		case !starred || !strings.HasPrefix(name, prefix):
			continue
		}
		if rank < best {
			continue
		}
		if rank > best {
			best, g, ok = rank, grants{}, true
		}
		for i := range g {
			if r.From&(1<<i) != 0 {
				g[i] = max(g[i], r.Who)
			}
		}
	}
	return g, ok
}

// allows reports whether p may call from any of the entry points; no entry point is the server itself.
func (g *grants) allows(p *storage.Principal, from EntryPoint) bool {
	if p == nil {
		return false
	}
	if from == 0 {
		from = Server
	}
	who := nobody
	for i, w := range g {
		if from&(1<<i) != 0 {
			who = max(who, w)
		}
	}
	switch who {
	case Anyone:
		return true
	case Scripters:
		return runsText(p)
	case Admins:
		return p.Admin || p.System
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
