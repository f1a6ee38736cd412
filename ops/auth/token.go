package auth

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/credential"
	"catena/storage/fault"
)

var acquireToken = engine.Op{
	Name:     "Token.Acquire",
	Label:    "Acquire Device Token",
	Category: "Users & Groups",
	Doc:      "Returns the token by which a program on a device acts for the user. The same user, program and device always get the same token; the permission Read creates a read-only token.",
	Callers:  engine.Anyone.From(engine.Direct),
	Secret:   true,
	Run:      engine.On(acquireTokenParams.run),
}

type acquireTokenParams struct {
	Application string `json:"application" blamed:"applicationName" doc:"Name of the program."`
	Device      string `json:"deviceId" doc:"Identifier of the device."`
	Description string `json:"deviceDescription,omitzero" doc:"Description of the device."`
	Permission  string `json:"permission" names:"permission" doc:"Permission of the program, for example ReadWrite."`
}

func (p acquireTokenParams) run(c *engine.Ctx, _ engine.Void) (string, error) {
	return credential.AcquireToken(c.Tx, credential.DeviceToken{Application: p.Application, Device: p.Device, Description: p.Description, Permission: p.Permission})
}

var listTokens = engine.Op{
	Name:     "Token.List",
	Label:    "List Device Tokens",
	Category: "Users & Groups",
	Doc:      "Returns the caller's device tokens, newest first.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Secret:   true,
	Result:   openapi.Ref("Tokens"),
	Run:      engine.On(listTokensParams.run),
}

type listTokensParams struct {
	Application string `json:"application,omitzero" doc:"Only tokens of this program."`
}

func (p listTokensParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	own, err := credential.Tokens(c.Tx, p.Application)
	if err != nil {
		return nil, err
	}
	entries := make([]any, len(own))
	for i, d := range own {
		entries[i] = map[string]any{
			"entity-type": "token", "id": d.Token, "username": d.User, "application": d.Application, "deviceId": d.Device,
			"deviceDescription": d.Description, "permission": d.Permission, "creationDate": d.Created,
		}
	}
	return map[string]any{"entity-type": "tokens", "entries": entries}, nil
}

var revokeToken = engine.Op{
	Name:     "Token.Revoke",
	Label:    "Revoke Device Token",
	Category: "Users & Groups",
	Doc:      "Revokes a device token, named by the token itself or by program and device, and returns the input.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(revokeTokenParams.run),
}

type revokeTokenParams struct {
	Token       string `json:"token,omitzero" secret:"true" doc:"The token."`
	Application string `json:"application,omitzero" doc:"Name of the program, if the token is not given."`
	Device      string `json:"deviceId,omitzero" doc:"Identifier of the device, if the token is not given."`
}

func (p revokeTokenParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Token != "" {
		return engine.Void{}, credential.RevokeToken(c.Tx, p.Token)
	}
	own, err := credential.Tokens(c.Tx, p.Application)
	if err != nil {
		return engine.Void{}, err
	}
	for _, d := range own {
		if p.Application != "" && d.Device == p.Device {
			return engine.Void{}, credential.RevokeToken(c.Tx, d.Token)
		}
	}
	return engine.Void{}, fault.NotFound.Errorf("token: does not exist")
}
