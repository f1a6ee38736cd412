package oauth

import (
	"maps"
	"slices"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

// Tokens returns the rows of the tokens that act for a user, newest first and without the
// tokens themselves: everybody's own, for administrators anybody's. An empty client is any.
func Tokens(tx *storage.Tx, user, client string) ([]*record.Entry, error) {
	_, rows, err := own(tx, user, client)
	if err != nil {
		return nil, err
	}
	out := make([]*record.Entry, len(rows))
	for i, e := range rows {
		out[i] = withoutTokens(e)
	}
	slices.Reverse(out)
	return out, nil
}

// own finds the rows of a user whom the principal may look after.
func own(tx *storage.Tx, user, client string) (*record.Directory, []*record.Entry, error) {
	as := tx.Principal()
	if as.Name == "" {
		return nil, nil, storage.ErrNobody
	}
	if user != as.Name && !as.Admin {
		return nil, nil, fault.Denied.Errorf("tokens of %s: not visible to '%s'", user, as.Name)
	}
	return rowsOf(tx, user, client)
}

// rowsOf returns the tokens that act for a user, expired ones too. An empty client is any.
func rowsOf(tx *storage.Tx, user, client string) (*record.Directory, []*record.Entry, error) {
	d, err := kept(tx, tokens)
	if err != nil {
		return nil, nil, err
	}
	q := record.Query{Equal: map[string]any{"nuxeoLogin": user}, PageOptions: storage.PageOptions{CountLimit: -1}}
	if client != "" {
		q.Equal["clientId"] = client
	}
	found, err := d.Find(q)
	if err != nil {
		return nil, nil, err
	}
	return d, found.Entries, nil
}

func withoutTokens(e *record.Entry) *record.Entry {
	values := maps.Clone(e.Values)
	delete(values, "accessToken")
	delete(values, "refreshToken")
	return &record.Entry{Directory: e.Directory, ID: e.ID, Values: values}
}

// last finds the newest token of a client that acts for a user.
func last(tx *storage.Tx, user, client string) (*record.Directory, *record.Entry, error) {
	if err := tx.MayWrite(); err != nil {
		return nil, nil, err
	}
	d, rows, err := own(tx, user, client)
	if err == nil && (len(rows) == 0 || client == "") {
		err = fault.NotFound.Errorf("token of client %s for %s", client, user)
	}
	if err != nil {
		return nil, nil, err
	}
	return d, rows[len(rows)-1], nil
}

// Share says with whom a token is shared.
func Share(tx *storage.Tx, user, client string, shared bool, with string) (*record.Entry, error) {
	d, e, err := last(tx, user, client)
	if err != nil {
		return nil, err
	}
	if e, err = d.Update(e.ID, map[string]any{"isShared": shared, "sharedWith": with}); err != nil {
		return nil, err
	}
	return withoutTokens(e), nil
}

// End ends a token at once.
func End(tx *storage.Tx, user, client string) error {
	d, e, err := last(tx, user, client)
	if err != nil {
		return err
	}
	storage.Ends(tx)
	return d.Delete(e.ID)
}

// EndReceived ends the tokens that a provider gave this server to act for a user.
func EndReceived(tx *storage.Tx, user, provider string) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	d, rows, err := own(tx, user, "")
	if err != nil {
		return err
	}
	ended := false
	for _, e := range rows {
		if provider == "" || e.Text("serviceName") != provider || e.Text("clientId") != "" {
			continue
		}
		if err := d.Delete(e.ID); err != nil {
			return err
		}
		ended = true
	}
	if !ended {
		return fault.NotFound.Errorf("token of provider %s for %s", provider, user)
	}
	return nil
}

// EndAll ends all tokens that act for a user: the caller's own, by administrators anybody's.
func EndAll(tx *storage.Tx, user string) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	storage.Ends(tx)
	for {
		d, rows, err := own(tx, user, "")
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, e := range rows {
			if err := d.Delete(e.ID); err != nil {
				return err
			}
		}
	}
}
