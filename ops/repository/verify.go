package repository

import (
	"catena/engine"
)

var verify = engine.Op{
	Name:     "Repository.Verify",
	Label:    "Verify",
	Category: "Services",
	Doc:      "Reads the whole repository and returns what does not fit together: damaged values, documents without a place, missing files. An empty list is good news.",
	Effect:   engine.Pure,
	Run:      engine.On(verifyParams.run),
}

type verifyParams struct{}

func (verifyParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	problems, err := c.Engine().Repo().Verify(c)
	if err != nil {
		return nil, err
	}
	return list(problems), nil
}
