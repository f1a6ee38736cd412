// Package oauth holds operations for the administration of OAuth 2: the clients that users have authorized, the
// providers that this server is a client of, and the tokens that were issued. They are rows of directories, of which
// only administrators change clients and providers; tokens are their users' own. Signing in by them is for storage
// and the entry points.
//
// Clients and providers are rows of directories, so they can also be declared in files and managed with the
// directory operations; these operations add the checks that a client needs, such as the addresses it may be
// sent back to.
package oauth

import (
	"cmp"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

// Ops are the operations on clients, providers and tokens.
var Ops = []engine.Op{
	create,
	list,
	listTokens,
	read,
	readToken,
	remove,
	revokeReceived,
	revokeToken,
	update,
	updateToken,
}

// category is where lists of operations show them.
const category = "Users & Groups"

// kind is what one directory holds, and how requests and answers spell it.
type kind struct {
	directory, key string
	word, words    string // entity types of one and of several
	fields         []field
}

// field is a field by its two names; many is text with commas there and a list here.
type field struct {
	name, column string
	many         bool
}

// The names of entities and fields are those of the platform's wire format.
var kinds = map[string]kind{
	"client": {"oauth2Clients", "clientId", "oauth2Client", "oauth2Clients", []field{
		{"id", "clientId", false},
		{"name", "name", false},
		{"secret", "clientSecret", false},
		{"redirectURIs", "redirectURIs", true},
		{"isAutoGrant", "autoGrant", false},
		{"isEnabled", "enabled", false},
	}},
	"provider": {"oauth2ServiceProviders", "serviceName", "nuxeoOAuth2ServiceProvider", "nuxeoOAuth2ServiceProviders", []field{
		{"serviceName", "serviceName", false},
		{"description", "description", false},
		{"clientId", "clientId", false},
		{"clientSecret", "clientSecret", false},
		{"authorizationServerURL", "authorizationServerURL", false},
		{"tokenServerURL", "tokenServerURL", false},
		{"userAuthorizationURL", "userAuthorizationURL", false},
		{"scopes", "scopes", true},
		{"isEnabled", "enabled", false},
	}},
}

// one finds a row by the name that addresses know it by.
func (k kind) one(c *engine.Ctx, id string) (*record.Directory, *record.Entry, error) {
	d, err := record.In(c.Tx, k.directory)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.Find(record.Query{Equal: map[string]any{k.key: id}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil {
		return nil, nil, err
	}
	// A row with an empty name must not be found by an address without one.
	if len(found.Entries) == 0 || id == "" {
		return nil, nil, fault.NotFound.Errorf("%s %s", k.word, id)
	}
	return d, found.Entries[0], nil
}

// entity is a row as answers show it. A secret reads as null.
func (k kind) entity(e *record.Entry) map[string]any {
	out := map[string]any{"entity-type": k.word}
	for _, f := range k.fields {
		v := e.Values[f.column]
		switch {
		case f.many:
			out[f.name] = items(e.Text(f.column))
		case v == "":
			out[f.name] = nil
		default:
			out[f.name] = v
		}
	}
	return out
}

// values are the columns that an entity sets.
// Unknown members are ignored, since clients send back whole entities. Null leaves a field as it
// is: secrets read as null, and sending one back must not clear it.
func (k kind) values(entity map[string]any) (map[string]any, error) {
	if word, ok := entity["entity-type"].(string); ok && word != k.word {
		return nil, fault.Invalid.Errorf("entity-type: must be %s, not %q", k.word, word).In("entity-type")
	}
	out := map[string]any{}
	for _, f := range k.fields {
		v, given := entity[f.name]
		if !given || v == nil {
			continue
		}
		if f.many {
			if v = joined(v); v == nil {
				return nil, fault.Invalid.Errorf("%s: must be a list of strings", f.name).In(f.name)
			}
		}
		out[f.column] = v
	}
	return out, nil
}

func items(text string) []string {
	out := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// joined is a list as text with commas; nil if it is none.
func joined(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			// An item with a comma would be two when it is read again: one address to be sent back
			// to could smuggle in another.
			if !ok || strings.Contains(s, ",") {
				return nil
			}
			texts[i] = s
		}
		return strings.Join(texts, ",")
	}
	return nil
}

// owner is whose tokens are meant: the caller's unless others are named.
// Whether the caller may name another user is checked in storage/oauth.
func owner(c *engine.Ctx, user string) string { return cmp.Or(user, c.As.Name) }

// token is a row of a token as answers show it.
func token(e *record.Entry) map[string]any {
	out := map[string]any{"entity-type": "nuxeoOAuth2Token", "isShared": e.Values["isShared"] == true, "sharedWith": items(e.Text("sharedWith"))}
	for _, name := range []string{"serviceName", "nuxeoLogin", "serviceLogin", "clientId", "creationDate"} {
		out[name] = e.Values[name]
	}
	return out
}
