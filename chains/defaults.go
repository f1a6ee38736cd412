package chains

import (
	"embed"
	"io/fs"

	"catena/engine"
	"catena/storage/fault"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Builtin returns a set with the chains that every server has besides: those that the workflows of every server name.
// One that is stored under the same name takes its place.
// An error here is a mistake in the program, which the first start in a test finds.
func Builtin(set *engine.Set) (*engine.Set, error) {
	files, err := fs.Glob(defaults, "defaults/*.yaml")
	if err != nil {
		return nil, err
	}
	ops := make([]engine.Op, 0, len(files))
	for _, file := range files {
		source, err := defaults.ReadFile(file)
		if err != nil {
			return nil, err
		}
		op, err := compile(set, file, string(source))
		if err != nil {
			return nil, fault.Wrap(err, "%s", file)
		}
		ops = append(ops, op)
	}
	return set.Extend(ops)
}
