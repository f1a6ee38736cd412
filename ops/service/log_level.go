package service

import (
	"context"
	"log/slog"
	"strings"

	"catena/engine"
	"catena/engine/openapi"
)

func logLevel(level *slog.LevelVar) engine.Op {
	return engine.Op{
		Name:     "Services.LogLevel",
		Label:    "Log Level",
		Category: "Services",
		Doc:      "Sets the log level of the server until it stops, and returns it.",
		Callers:  engine.Admins.From(engine.Direct),
		Result:   openapi.Fields("level", true),
		Run: engine.On(func(p logLevelParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(c, level)
		}),
	}
}

type logLevelParams struct {
	Level string `json:"level,omitzero" enum:"debug,info,warn,error" doc:"Least severe level to log; without it, nothing changes."`
}

func (p logLevelParams) run(c *engine.Ctx, level *slog.LevelVar) (map[string]any, error) {
	if p.Level == "" {
		return map[string]any{"level": strings.ToLower(level.Level().String())}, nil
	}
	var next slog.Level
	if err := next.UnmarshalText([]byte(p.Level)); err != nil {
		return nil, err
	}
	// The level is not part of the transaction, so it is set only once that is committed, and not
	// in a dry run. It holds for this server alone, not for others on the same store.
	c.After(func(context.Context) error {
		level.Set(next)
		c.Log.Info("log level", "level", p.Level, "user", c.As.Name)
		return nil
	})
	return map[string]any{"level": p.Level}, nil
}
