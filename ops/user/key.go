package user

import (
	"catena/storage/credential"
)

// keyObject is a key as operations show it; its secret is not part of it.
// keyMore are the members of keyObject that a key need not have.
const keyMore = "revision expires:moment lastUsed:moment revoked:moment"

func keyObject(k credential.Key) map[string]any {
	m := map[string]any{"id": k.ID, "user": k.User, "scope": k.Scope, "name": k.Name}
	// Without a revision the key serves programs of both.
	if k.Revision != "" {
		m["revision"] = k.Revision
	}
	put(m, "created", k.Created)
	put(m, "expires", k.Expires)
	put(m, "lastUsed", k.LastUsed)
	put(m, "revoked", k.Revoked)
	return m
}
