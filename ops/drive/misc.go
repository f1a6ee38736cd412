package drive

import (
	"cmp"
	"path"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/people"
)

var generateConflictedName = engine.Op{
	Name: "PlatformDrive.GenerateConflictedItemName", Aliases: former("GenerateConflictedItemName"),
	Label:    "Generate Conflicted Item Name",
	Category: services,
	Doc:      "Returns the name for the copy of a file with conflicting changes, as JSON: with the caller's name and the time in UTC before the extension.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(conflictParams.run),
}

type conflictParams struct {
	Name string `json:"name" doc:"Name of the file."`
}

// The time has no colons, since names with them are not possible on every system.
func (p conflictParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err != nil {
		return nil, err
	}
	who := cmp.Or(strings.TrimSpace(u.FirstName+" "+u.LastName), u.Username)
	ending := path.Ext(p.Name)
	return answer(strings.TrimSuffix(p.Name, ending)+" ("+who+" - "+c.Now.UTC().Format("2006-01-02 15-04")+")"+ending, nil)
}

func getUpdateInfo(version string) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.GetClientUpdateInfo", Aliases: former("GetClientUpdateInfo"),
		Label:    "Get client update information",
		Category: services,
		Doc:      "Returns the version of the server, in the form that clients compare, as JSON. The addresses of update sites are null.",
		Effect:   engine.Pure,
		Callers:  engine.Anyone,
		Run: engine.On(func(noParams, *engine.Ctx, engine.Void) (*storage.Blob, error) {
			return answer(map[string]any{"serverVersion": version, "updateSiteURL": nil, "betaUpdateSiteURL": nil}, nil)
		}),
	}
}
