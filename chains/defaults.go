package chains

import (
	"embed"
	"io/fs"
	"sync"

	"catena/engine"
	"catena/storage/fault"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// written are the chains that every server has, as written. They are read once: nothing changes a chain that was read.
var written = sync.OnceValues(func() ([]*Chain, error) {
	files, err := fs.Glob(defaults, "defaults/*.yaml")
	if err != nil {
		return nil, err
	}
	all := make([]*Chain, 0, len(files))
	for _, file := range files {
		source, err := defaults.ReadFile(file)
		if err != nil {
			return nil, err
		}
		chain, problems := Parse(file, source)
		if len(problems) > 0 {
			return nil, fault.Wrap(problems[0], "%s", file)
		}
		all = append(all, chain)
	}
	return all, nil
})

// Builtin returns a set with the chains that every server has besides: those that the workflows of every server name.
// One that is stored under the same name takes its place.
// An error here is a mistake in the program, which the first start in a test finds.
func Builtin(set *engine.Set) (*engine.Set, error) {
	all, err := written()
	if err != nil {
		return nil, err
	}
	ops := make([]engine.Op, 0, len(all))
	for _, chain := range all {
		op, err := chain.Op(set)
		if err != nil {
			return nil, fault.Wrap(err, "%s", chain.File)
		}
		ops = append(ops, op)
	}
	return set.Extend(ops)
}
