package repository

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/maintenance"
)

var verify = engine.Op{
	Name:     "Repository.Verify",
	Label:    "Verify",
	Category: "Services",
	Doc:      "Reads the whole repository and returns a list of inconsistencies: damaged values, documents without a location, missing files. An empty list means that there are none.",
	Effect:   engine.Pure,
	Callers:  engine.Admins,
	Result:   openapi.List(openapi.Type("string")),
	Run:      engine.On(verifyParams.run),
}

type verifyParams struct{}

func (verifyParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	// It reads in transactions of its own: one transaction would be open for as long as the whole
	// check takes, and so the operation is declared pure and has none.
	problems, err := maintenance.Verify(c, c.Engine().Repo())
	if err != nil {
		return nil, err
	}
	return list(problems), nil
}
