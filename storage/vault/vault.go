// Package vault keeps credentials for other services: named, encrypted, and granted to chains and users. Their
// secrets are shown to nobody; what sends a request asks for one by name, and gets it only for the addresses that it
// is for.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// The kinds of credentials.
const (
	Basic  = "basic"  // user and password
	Bearer = "bearer" // a token
	Header = "header" // a header of its own, such as X-Api-Key
	OAuth2 = "oauth2" // client credentials: client id and secret, for a token of a short life
)

// Kinds are the kinds of credentials.
var Kinds = []string{Basic, Bearer, Header, OAuth2}

// Owner forgets what is granted to users who are gone.
var Owner = storage.Owner{Name: "vault", Leave: leave}

// Credential is what a service is signed in to with, without its secret.
type Credential struct {
	Name        string
	Description string `json:",omitempty"`
	Kind        string
	URL         string   // addresses that begin with it get the credential, no others
	User        string   `json:",omitempty"` // or the client id
	Header      string   `json:",omitempty"` // name of the header
	TokenURL    string   `json:",omitempty"`
	Scopes      []string `json:",omitempty"`
	Chains      []string `json:",omitempty"` // that may use it, regardless of who runs them
	Users       []string `json:",omitempty"` // and groups that may use it
	Created     time.Time
	Changed     time.Time
	By          string // who changed it last
	Revision    int64
}

// kept is the row of a credential.
type kept struct {
	Credential
	Sealed []byte
}

var table = row.Secret{Name: "vault"}

const (
	maxSecret = 16 << 10
	maxNames  = 200
)

// Put writes a credential, for administrators. An empty secret leaves the one that is kept, unless what the secret is sent
// to has changed.
func Put(tx *storage.Tx, c Credential, secret string) (Credential, error) {
	if err := mayManage(tx); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, err
	}
	if len(secret) > maxSecret {
		return c, fault.Limit.Errorf("secret: more than %d bytes", maxSecret).In("secret")
	}
	var before kept
	found, err := tx.Secret(table).Get(c.Name, &before)
	if err != nil {
		return c, err
	}
	c.Created, c.Changed, c.By, c.Revision = tx.Now(), tx.Now(), tx.Actor(), before.Revision+1
	if found {
		c.Created = before.Created
	}
	if secret == "" {
		if !found || c.bound() != before.bound() {
			return c, fault.Invalid.Errorf("secret: is missing").In("secret")
		}
		if secret, err = open(tx, &before); err != nil {
			return c, err
		}
	}
	w := kept{Credential: c}
	if w.Sealed, err = Seal(tx.Repo(), w.bound(), secret); err != nil {
		return c, err
	}
	return c, tx.Secret(table).Put(c.Name, w)
}

func mayManage(tx *storage.Tx) error {
	if !tx.Principal().Is() {
		return fault.Denied.Errorf("only administrators may manage credentials, not '%s'", tx.Principal().Name)
	}
	return nil
}

// check tells what is wrong with a credential.
func (c *Credential) check() error {
	switch {
	case c.Name == "" || len(c.Name) > 100 || strings.ContainsAny(c.Name, "/\\ \t\n@?#%"):
		return fault.Invalid.Errorf("name %q: must contain only letters, digits and . _ - ( ), at most 100 bytes", c.Name).In("name")
	case !slices.Contains(Kinds, c.Kind):
		return fault.Invalid.Errorf("kind %q: must be one of %s", c.Kind, strings.Join(Kinds, ", ")).In("kind")
	case len(c.Chains) > maxNames || len(c.Users) > maxNames:
		return fault.Limit.Errorf("more than %d chains or users", maxNames)
	}
	schemes := []string{"https", "http"}
	if c.Kind == Basic {
		schemes = append(schemes, "imaps", "imap")
	}
	if err := checkAddress("url", c.URL, schemes...); err != nil {
		return err
	}
	return c.checkKind()
}

// checkKind describes members that a credential of its kind lacks, or has none of.
func (c *Credential) checkKind() error {
	for _, m := range []struct {
		name, value string
		kinds       []string
	}{
		{"user", c.User, []string{Basic, OAuth2}},
		{"header", c.Header, []string{Header}},
		{"tokenUrl", c.TokenURL, []string{OAuth2}},
	} {
		switch of := slices.Contains(m.kinds, c.Kind); {
		case of && m.value == "":
			return fault.Invalid.Errorf("%s: is required for the kind %s", m.name, c.Kind).In(m.name)
		case !of && m.value != "":
			return fault.Invalid.Errorf("%s: must be empty for the kind %s", m.name, c.Kind).In(m.name)
		}
	}
	if len(c.Scopes) > 0 && c.Kind != OAuth2 {
		return fault.Invalid.Errorf("scopes: must be empty for the kind %s", c.Kind).In("scopes")
	}
	if c.Kind == OAuth2 {
		return checkAddress("tokenUrl", c.TokenURL, "https", "http")
	}
	return nil
}

func checkAddress(field, text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fault.Invalid.Errorf("%s %q: must be an address such as https://api.example.com/v1/", field, text).In(field)
	}
	return nil
}

// bound is all that the secret is for: it cannot be sent elsewhere without being given again.
func (c *Credential) bound() string {
	text, _ := json.Marshal([]string{c.Name, c.Kind, c.URL, c.User, c.Header, c.TokenURL})
	return string(text)
}

// Covers reports whether a request to an address gets the credential.
func (c *Credential) Covers(address *url.URL) bool {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != address.Scheme || !strings.EqualFold(u.Host, address.Host) {
		return false
	}
	if strings.Contains(address.Path, "..") || strings.Contains(strings.ToLower(address.EscapedPath()), "%2f") {
		return false
	}
	below := strings.TrimSuffix(path.Clean("/"+u.Path), "/")
	at := path.Clean("/" + address.Path)
	return at == below || strings.HasPrefix(at, below+"/")
}

// Get returns a credential without its secret, for administrators.
func Get(tx *storage.Tx, name string) (Credential, error) {
	if err := mayManage(tx); err != nil {
		return Credential{}, err
	}
	w, err := read(tx, name)
	return w.Credential, err
}

func read(tx *storage.Tx, name string) (w kept, err error) {
	if name == "" {
		return w, fault.Invalid.Errorf("credential: the name is missing").In("name")
	}
	found, err := tx.Secret(table).Get(name, &w)
	if err == nil && !found {
		err = fault.NotFound.Errorf("credential %s", name)
	}
	return w, err
}

// List returns all credentials by name, for administrators.
func List(tx *storage.Tx) ([]Credential, error) {
	if err := mayManage(tx); err != nil {
		return nil, err
	}
	out := []Credential{}
	for w, err := range storage.Records[kept](tx.Secret(table), "", "", 0) {
		if err != nil {
			return nil, err
		}
		out = append(out, w.Credential)
	}
	return out, nil
}

// Delete removes a credential, for administrators.
func Delete(tx *storage.Tx, name string) error {
	if err := mayManage(tx); err != nil {
		return err
	}
	if _, err := read(tx, name); err != nil {
		return err
	}
	return tx.Secret(table).Delete(name)
}

// Use returns a credential with its secret for a request to an address, if it is granted to the chain that makes the
// request, or to anyone who acts. Who it is not granted to is not told whether there is one.
func Use(tx *storage.Tx, name, chain string, address *url.URL) (Credential, string, error) {
	w, err := read(tx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return w.Credential, "", err
	}
	p := tx.Principal()
	if err != nil && p.Is() {
		return w.Credential, "", err
	}
	if err != nil || !w.grantedTo(p, chain) {
		return Credential{}, "", fault.Denied.Errorf("credential %s: is not granted here", name).In("credential")
	}
	if !w.Covers(address) {
		return Credential{}, "", fault.Denied.Errorf("credential %s: is not for %s://%s%s", name, address.Scheme, address.Host, address.Path).In("credential")
	}
	secret, err := open(tx, &w)
	return w.Credential, secret, err
}

func (c *Credential) grantedTo(p *storage.Principal, chain string) bool {
	return chain != "" && slices.Contains(c.Chains, chain) || p.Is(c.Users...)
}

// Seal encrypts a text that a record must not show. What it is about is needed to read it again, so that it cannot be
// moved to another record.
func Seal(r *storage.Repo, about, text string) ([]byte, error) {
	aead, err := cipherOf(r)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	rand.Read(nonce)
	return aead.Seal(nonce, nonce, []byte(text), []byte(about)), nil
}

// Unseal decrypts what Seal has made.
func Unseal(r *storage.Repo, about string, sealed []byte) (string, error) {
	aead, err := cipherOf(r)
	if err != nil {
		return "", err
	}
	n := aead.NonceSize()
	if len(sealed) < n {
		return "", fault.Internal.Errorf("sealed text: is damaged")
	}
	text, err := aead.Open(nil, sealed[:n], sealed[n:], []byte(about))
	if err != nil {
		return "", fault.Internal.Errorf("sealed text: cannot be decrypted")
	}
	return string(text), nil
}

// cipherOf is what the secrets of a repository are encrypted with.
func cipherOf(r *storage.Repo) (cipher.AEAD, error) {
	block, err := aes.NewCipher(r.Secret("vault"))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// open decrypts the secret of a credential.
func open(tx *storage.Tx, w *kept) (string, error) {
	text, err := Unseal(tx.Repo(), w.bound(), w.Sealed)
	if err != nil {
		return "", fault.Internal.Errorf("credential %s: cannot be decrypted; set its secret again", w.Name)
	}
	return text, nil
}

// leave takes what is granted to a user away.
func leave(tx *storage.Tx, user string) error {
	for w, err := range storage.Records[kept](tx.Secret(table), "", "", 0) {
		if err != nil {
			return err
		}
		if at := slices.Index(w.Users, user); at >= 0 {
			w.Users = slices.Delete(w.Users, at, at+1)
			if err := tx.Secret(table).Put(w.Name, w); err != nil {
				return err
			}
		}
	}
	return nil
}
