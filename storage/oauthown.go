package storage

import (
	"maps"
	"slices"

	"catena/storage/fault"
)

// OAuthTokens returns the rows of the tokens that act for a user, newest first and without the
// tokens themselves: everybody's own, for administrators anybody's. An empty client is any.
func (t *Tx) OAuthTokens(user, client string) ([]*DirectoryEntry, error) {
	rows, err := t.oauthOf(user, client)
	if err != nil {
		return nil, err
	}
	out := make([]*DirectoryEntry, len(rows))
	for i, e := range rows {
		out[i] = withoutTokens(e)
	}
	slices.Reverse(out)
	return out, nil
}

// oauthOf finds the rows of a user whom the principal may look after.
func (t *Tx) oauthOf(user, client string) ([]*DirectoryEntry, error) {
	if t.as.Name == "" {
		return nil, ErrNobody
	}
	if user != t.as.Name && !t.rights.admin {
		return nil, fault.Denied.Errorf("tokens of %s: are not for '%s'", user, t.as.Name)
	}
	d, err := t.oauthDirectory(oauthTokens)
	if err != nil {
		return nil, err
	}
	q := DirectoryQuery{Equal: map[string]any{"nuxeoLogin": user}, PageOptions: PageOptions{CountLimit: -1}}
	if client != "" {
		q.Equal["clientId"] = client
	}
	found, err := d.Find(q)
	if err != nil {
		return nil, err
	}
	return found.Entries, nil
}

func withoutTokens(e *DirectoryEntry) *DirectoryEntry {
	values := maps.Clone(e.Values)
	delete(values, "accessToken")
	delete(values, "refreshToken")
	return &DirectoryEntry{e.Directory, e.ID, values}
}

// oauthOne finds the one token of a client that acts for a user.
func (t *Tx) oauthOne(user, client string) (*Directory, *DirectoryEntry, error) {
	if err := t.MayWrite(); err != nil {
		return nil, nil, err
	}
	rows, err := t.oauthOf(user, client)
	if err == nil && (len(rows) == 0 || client == "") {
		err = fault.NotFound.Errorf("token of client %s for %s", client, user)
	}
	if err != nil {
		return nil, nil, err
	}
	d, err := t.oauthDirectory(oauthTokens)
	return d, rows[len(rows)-1], err
}

// ShareOAuthToken says with whom a token is shared.
func (t *Tx) ShareOAuthToken(user, client string, shared bool, with string) (*DirectoryEntry, error) {
	d, e, err := t.oauthOne(user, client)
	if err != nil {
		return nil, err
	}
	if e, err = d.Update(e.ID, map[string]any{"isShared": shared, "sharedWith": with}); err != nil {
		return nil, err
	}
	return withoutTokens(e), nil
}

// EndOAuthToken ends a token at once.
func (t *Tx) EndOAuthToken(user, client string) error {
	d, e, err := t.oauthOne(user, client)
	if err != nil {
		return err
	}
	return d.Delete(e.ID)
}
