package mail

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
	"catena/storage/people"
)

// JobKind is the kind of the jobs that Send adds; their data is a Mail.
const JobKind = "mail"

// Mail is a message to be sent. Recipients are addresses ("Ada <ada@example.org>"), "user:NAME" or
// "group:NAME". The text comes from Text and HTML, or from a template that is filled in with
// Data when the message is sent; a template gives the subject too unless there is one.
type Mail struct {
	From     string          `json:"from,omitempty"` // "": the server's own address
	To       []string        `json:"to,omitempty"`
	Cc       []string        `json:"cc,omitempty"`
	Bcc      []string        `json:"bcc,omitempty"`
	ReplyTo  []string        `json:"replyTo,omitempty"`
	Subject  string          `json:"subject,omitempty"`
	Text     string          `json:"text,omitempty"`
	HTML     string          `json:"html,omitempty"`
	Template string          `json:"template,omitempty"`
	Data     map[string]any  `json:"data,omitempty"` // plain values; "base" is the server's address
	Files    []*storage.Blob `json:"files,omitempty"`
	Doc      string          `json:"doc,omitempty"` // a document's id: recipients who may not read it get nothing
}

// Bounds of a message.
const (
	maxRecipients = 1000
	maxSubject    = 900
	MaxText       = 1 << 20 // bytes
	maxData       = 64 << 10
	maxFiles      = 20 << 20
)

// Send adds a message to the outbox: it is sent once the transaction is committed. A message
// without any recipient that has an address is none, and sent is false.
func Send(tx *storage.Tx, m Mail) (sent bool, err error) {
	if err := tx.MayWrite(); err != nil {
		return false, err
	}
	users := 0
	for _, l := range []struct {
		field string
		of    *[]string
	}{{"to", &m.To}, {"cc", &m.Cc}, {"bcc", &m.Bcc}, {"replyto", &m.ReplyTo}} {
		if *l.of, err = addresses(tx, *l.of, m.Doc); err != nil {
			return false, about(err, l.field)
		}
		users += len(*l.of)
	}
	users -= len(m.ReplyTo)
	switch {
	case users == 0:
		return false, nil
	case users > maxRecipients:
		return false, fault.Limit.Errorf("mail: %d recipients, at most %d", users, maxRecipients).In("to")
	}
	if m.From != "" {
		if m.From, err = Address(m.From); err != nil {
			return false, about(err, "from")
		}
	}
	if err := m.check(); err != nil {
		return false, err
	}
	for _, b := range m.Files {
		if err := hold.Stage(tx, b); err != nil {
			return false, err
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return false, fault.Invalid.Errorf("mail: %w", err)
	}
	return true, outbox.Enqueue(tx, outbox.Job{Kind: JobKind, Data: data, As: tx.Actor()})
}

// about has an error name the field that it is about, which Address does not know.
func about(err error, field string) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) && e.Field != "" {
		e.Field = field
	}
	return err
}

// check refuses what is too large, and line ends where they would begin a header.
func (m *Mail) check() error {
	data, err := json.Marshal(m.Data)
	var files int64
	for _, b := range m.Files {
		files += b.Size
	}
	switch {
	case err != nil:
		return fault.Invalid.Errorf("mail: data: %w", err).In("data")
	case !headerText(m.Subject):
		return fault.Invalid.Errorf("mail: the subject contains control characters").In("subject")
	case len(m.Subject) > maxSubject:
		return fault.Limit.Errorf("mail: subject of %d bytes, at most %d", len(m.Subject), maxSubject).In("subject")
	case len(m.Text)+len(m.HTML) > MaxText:
		return fault.Limit.Errorf("mail: text of %d bytes, at most %d", len(m.Text)+len(m.HTML), MaxText).In("message")
	case len(data) > maxData:
		return fault.Limit.Errorf("mail: data of %d bytes, at most %d", len(data), maxData).In("data")
	case files > maxFiles:
		return fault.Limit.Errorf("mail: files of %d bytes, at most %d", files, maxFiles).In("files")
	case slices.ContainsFunc(m.Files, func(b *storage.Blob) bool { return !headerText(b.Name) }):
		return fault.Invalid.Errorf("mail: a file name contains control characters").In("files")
	case m.Template == "" && m.Text == "" && m.HTML == "" && m.Subject == "":
		return fault.Invalid.Errorf("mail: text or template is required").In("message")
	}
	return nil
}

// headerText reports whether a text can stand in a header.
func headerText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }) < 0
}

// Address checks one address and returns it in its normal form.
func Address(s string) (string, error) {
	if !headerText(s) || len(s) > 500 {
		return "", fault.Invalid.Errorf("mail: %q is not an email address", s).In("to")
	}
	a, err := mail.ParseAddress(strings.TrimSpace(s))
	if err != nil || !headerText(a.Name) || !headerText(a.Address) {
		return "", fault.Invalid.Errorf("mail: %q is not an email address", s).In("to")
	}
	if a.Name == "" {
		return a.Address, nil
	}
	return a.String(), nil
}

// addresses resolves recipients, which are bounded before all of a group are looked at. Users without an
// address, and those who may not read the document that a message is about, are left out.
func addresses(tx *storage.Tx, list []string, doc string) ([]string, error) {
	var out []string
	seen := map[string]bool{"": true}
	add := func(a string) error {
		if seen[a] {
			return nil
		}
		if len(out) == maxRecipients {
			return fault.Limit.Errorf("mail: more than %d recipients", maxRecipients).In("to")
		}
		seen[a], out = true, append(out, a)
		return nil
	}
	for _, s := range list {
		kind, name, _ := strings.Cut(s, ":")
		switch kind {
		case "user":
			a, err := addressOf(tx, name, doc)
			if err = cmp.Or(err, add(a)); err != nil {
				return nil, err
			}
		case "group":
			names, err := people.UsersWithin(tx.As(tx.Repo().System()), name, true)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				a, err := addressOf(tx, name, doc)
				if err = cmp.Or(err, add(a)); err != nil {
					return nil, err
				}
			}
		default:
			a, err := Address(s)
			if err = cmp.Or(err, add(a)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// addressOf returns a user's address, "" if there is none to be used.
func addressOf(tx *storage.Tx, name, doc string) (string, error) {
	if email, ok := strings.CutPrefix(name, "transient/"); ok {
		return Address(email)
	}
	system := tx.As(tx.Repo().System())
	u, err := people.Lookup(system, name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil || u.Email == "" {
		return "", err
	}
	if doc != "" {
		p, err := storage.PrincipalOf(system, name)
		if err != nil {
			return "", err
		}
		_, err = tx.As(p).Doc(storage.Ref(doc))
		switch {
		case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied):
			return "", nil
		case err != nil:
			return "", err
		}
	}
	a, err := Address(u.Email)
	if err != nil {
		return "", nil //nolint:nilerr // an address that was never one
	}
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" && headerText(name) && !strings.Contains(a, "<") {
		a = (&mail.Address{Name: name, Address: a}).String()
	}
	return a, nil
}
