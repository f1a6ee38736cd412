package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/internal/password"
)

// Client is a program that users let act for them.
type Client struct {
	Name, ID     string
	RedirectURIs []string
	AutoGrant    bool
	secret       string        // how its secret is kept; "": it has none
	rows         storage.Asked // what it is found by
}

// clientOf finds a client that is enabled.
func clientOf(tx *storage.Tx, id string) (*Client, error) {
	if id == "" {
		return nil, refused(fault.CodeInvalidRequest, "client_id is missing")
	}
	d, e, err := one(tx, clients, "clientId", id)
	if err != nil {
		return nil, err
	}
	if e == nil || e.Values["enabled"] == false {
		return nil, refused(fault.CodeInvalidClient, "there is no client with this id")
	}
	c := &Client{Name: e.Text("name"), ID: id, AutoGrant: e.Values["autoGrant"] == true, secret: e.Text("clientSecret")}
	c.rows = d.IndexRows("clientId", id).And(d.Row(e.ID))
	for uri := range strings.SplitSeq(e.Text("redirectURIs"), ",") {
		if uri = strings.TrimSpace(uri); uri != "" {
			c.RedirectURIs = append(c.RedirectURIs, uri)
		}
	}
	return c, nil
}

// one finds the entry of a directory that has a value, nil if none has.
func one(tx *storage.Tx, directory, field, value string) (*record.Directory, *record.Entry, error) {
	d, err := kept(tx, directory)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.Find(record.Query{Equal: map[string]any{field: value}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil || len(found.Entries) == 0 {
		return d, nil, err
	}
	return d, found.Entries[0], nil
}

// redirectURI returns the address to go back to: the one asked for, if it is registered.
func (c *Client) redirectURI(asked string) (string, error) {
	if asked == "" && len(c.RedirectURIs) > 0 {
		asked = c.RedirectURIs[0]
	}
	if !slices.Contains(c.RedirectURIs, asked) || !safeRedirect(asked) {
		return "", refused(fault.CodeInvalidRequest, "redirect_uri is not registered for the client")
	}
	return asked, nil
}

// safeRedirect reports whether codes may be sent to an address: encrypted, on the same
// machine, or to a program that has a scheme of its own.
func safeRedirect(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Fragment != "" {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Host != ""
	case "http":
		return u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1"
	case "", "javascript", "data", "vbscript", "file", "blob", "about":
		return false
	}
	return true
}

// checkSecret checks the secret of a client that has one, as passwords are checked.
func checkSecret(ctx context.Context, repo *storage.Repo, g Grant) error {
	var c *Client
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		c, err = clientOf(tx, g.Client)
		return err
	})
	if err != nil || c.secret == "" {
		return err
	}
	a := password.Of(repo.Memory()).Attempt("oauth2 client "+c.ID, c.secret+g.Secret)
	defer a.Done()
	if _, ok, err := a.Known(ctx); ok || err != nil {
		return err
	}
	at := password.ClientOf(ctx).Address
	if err := a.Admit(password.Origin{Source: at, Address: at}); err != nil {
		return err
	}
	if len(g.Secret) > password.MaxLength {
		return refused(fault.CodeInvalidClient, "client_secret is wrong")
	}
	ok, err := a.Matches(ctx, c.secret, g.Secret)
	if err != nil {
		return err
	}
	if !ok {
		return refused(fault.CodeInvalidClient, "client_secret is wrong")
	}
	a.Settle(nil)
	return nil
}
