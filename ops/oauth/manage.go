package oauth

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

// kindParams name what is looked after.
type kindParams struct {
	Kind string `json:"kind" enum:"client,provider" doc:"Kind: client or provider."`
}

func (p kindParams) kind() kind { return kinds[p.Kind] }

// The operations of this file can only be called directly: no chain or script is to change who may
// sign in.
var list = engine.Op{
	Name:     "OAuth2.List",
	Label:    "List OAuth 2 Clients or Providers",
	Category: category,
	Doc:      "Returns the OAuth 2 clients or providers. Only administrators see them all; everybody sees the providers that are enabled.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.AnyOf(openapi.Ref("OAuthClients"), openapi.Ref("OAuthProviders")),
	Run:      engine.On(listParams.run),
}

type listParams struct{ kindParams }

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	// Users see the enabled providers because they choose one to authorize. The directory itself is
	// closed to them, so it is read as the server and the secret is removed.
	tx, enabledOnly := c.Tx, p.Kind == "provider" && !c.As.Admin && !c.As.System
	if enabledOnly {
		tx = tx.As(tx.Repo().System())
	}
	d, err := record.In(tx, p.kind().directory)
	if err != nil {
		return nil, err
	}
	found, err := d.Find(record.Query{PageOptions: storage.PageOptions{CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	entries := []any{}
	for _, e := range found.Entries {
		if one := p.kind().entity(e); !enabledOnly {
			entries = append(entries, one)
		} else if one["isEnabled"] == true {
			one["clientSecret"] = nil
			entries = append(entries, one)
		}
	}
	return map[string]any{"entity-type": p.kind().words, "entries": entries}, nil
}

// oneOfKind is the schema of a client or a provider.
var oneOfKind = openapi.AnyOf(openapi.Ref("OAuthClient"), openapi.Ref("OAuthProvider"))

var read = engine.Op{
	Name:     "OAuth2.Read",
	Label:    "Read OAuth 2 Client or Provider",
	Category: category,
	Doc:      "Returns a client by its id, or a provider by its name. Only administrators see them.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   oneOfKind,
	Run:      engine.On(readParams.run),
}

type readParams struct {
	kindParams
	ID string `json:"id" doc:"Id of the client, or name of the provider."`
}

func (p readParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	_, e, err := p.kind().one(c, p.ID)
	if err != nil {
		return nil, err
	}
	return p.kind().entity(e), nil
}

var create = engine.Op{
	Name:     "OAuth2.Create",
	Label:    "Create OAuth 2 Client or Provider",
	Category: category,
	Doc:      "Adds a client or a provider and returns it.",
	Callers:  engine.Anyone.From(engine.Direct),
	Secret:   true,
	Result:   oneOfKind,
	Run:      engine.On(createParams.run),
}

type createParams struct {
	kindParams
	Entity map[string]any `json:"entity" type:"object" doc:"The client or provider; its secret is stored as a hash."`
}

func (p createParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	k := p.kind()
	values, err := k.values(p.Entity)
	if err != nil {
		return nil, err
	}
	id, _ := values[k.key].(string)
	if id == "" {
		return nil, fault.Invalid.Errorf("%s: id is missing", k.word).In("id")
	}
	// The directory decides who may write: administrators only.
	d, err := record.In(c.Tx, k.directory)
	if err != nil {
		return nil, err
	}
	// Rows are numbered, so storage would accept a second client with the same name.
	if _, _, err := k.one(c, id); !fault.Is(err, fault.NotFound) {
		if err != nil {
			return nil, err
		}
		return nil, fault.Exists.Errorf("%s %s", k.word, id)
	}
	e, err := d.Create(values)
	if err != nil {
		return nil, err
	}
	return k.entity(e), nil
}

var update = engine.Op{
	Name:     "OAuth2.Update",
	Label:    "Update OAuth 2 Client or Provider",
	Category: category,
	Doc:      "Changes the given fields of a client or provider and returns it.",
	Callers:  engine.Anyone.From(engine.Direct),
	Secret:   true,
	Result:   oneOfKind,
	Run:      engine.On(updateParams.run),
}

type updateParams struct {
	readParams
	Entity map[string]any `json:"entity" type:"object" doc:"The fields to change."`
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	k := p.kind()
	d, e, err := k.one(c, p.ID)
	if err != nil {
		return nil, err
	}
	values, err := k.values(p.Entity)
	if err != nil {
		return nil, err
	}
	// An empty secret changes nothing; null and omitted fields stay.
	if e, err = d.Update(e.ID, values); err != nil {
		return nil, err
	}
	return k.entity(e), nil
}

var remove = engine.Op{
	Name:     "OAuth2.Delete",
	Label:    "Delete OAuth 2 Client or Provider",
	Category: category,
	Doc:      "Deletes a client or provider and returns the input. The tokens of a client are revoked.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(removeParams.run),
}

type removeParams struct{ readParams }

func (p removeParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	d, e, err := p.kind().one(c, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, d.Delete(e.ID)
}
