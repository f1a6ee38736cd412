package storage

import (
	"encoding/json"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// MailJob is the kind of the jobs that SendMail adds; their data is a Mail.
const MailJob = "mail"

// Mail is a message to be sent. Recipients are addresses ("Ada <ada@example.org>"), "user:NAME" or
// "group:NAME". The text comes from Text and HTML, or from a template that is filled in with
// Data when the message is sent; a template gives the subject too unless there is one.
type Mail struct {
	From     string         `json:"from,omitempty"` // "": the server's own address
	To       []string       `json:"to,omitempty"`
	Cc       []string       `json:"cc,omitempty"`
	Bcc      []string       `json:"bcc,omitempty"`
	ReplyTo  []string       `json:"replyTo,omitempty"`
	Subject  string         `json:"subject,omitempty"`
	Text     string         `json:"text,omitempty"`
	HTML     string         `json:"html,omitempty"`
	Template string         `json:"template,omitempty"`
	Data     map[string]any `json:"data,omitempty"` // plain values; "base" is the server's address
	Files    []*Blob        `json:"files,omitempty"`
	Doc      string         `json:"doc,omitempty"` // a document's id: recipients who may not read it get nothing
}

// Bounds of a message.
const (
	mailRecipients = 1000
	mailSubject    = 900
	mailText       = 1 << 20
	mailData       = 64 << 10
	mailFiles      = 20 << 20
)

// SendMail adds a message to the outbox: it is sent once the transaction is committed. A message
// without any recipient that has an address is none, and sent is false.
func (t *Tx) SendMail(m Mail) (sent bool, err error) {
	if err := t.MayWrite(); err != nil {
		return false, err
	}
	users := 0
	for _, list := range []*[]string{&m.To, &m.Cc, &m.Bcc, &m.ReplyTo} {
		if *list, err = t.addresses(*list, m.Doc); err != nil {
			return false, err
		}
		users += len(*list)
	}
	users -= len(m.ReplyTo)
	switch {
	case users == 0:
		return false, nil
	case users > mailRecipients:
		return false, fault.Limit.Errorf("mail: %d recipients, at most %d", users, mailRecipients).In("to")
	}
	if m.From != "" {
		if m.From, err = address(m.From); err != nil {
			return false, err
		}
	}
	if err := m.check(); err != nil {
		return false, err
	}
	for _, b := range m.Files {
		t.pin(b.Digest)
		if err := t.repo.blobs.Keep(b); err != nil {
			return false, err
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return false, fault.Invalid.Errorf("mail: %w", err)
	}
	return true, t.Enqueue(outbox.Job{Kind: MailJob, Data: data, As: t.Actor()})
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
		return fault.Invalid.Errorf("mail: the subject has control characters").In("subject")
	case len(m.Subject) > mailSubject:
		return fault.Limit.Errorf("mail: subject of %d bytes, at most %d", len(m.Subject), mailSubject).In("subject")
	case len(m.Text)+len(m.HTML) > mailText:
		return fault.Limit.Errorf("mail: text of %d bytes, at most %d", len(m.Text)+len(m.HTML), mailText).In("message")
	case len(data) > mailData:
		return fault.Limit.Errorf("mail: data of %d bytes, at most %d", len(data), mailData).In("data")
	case files > mailFiles:
		return fault.Limit.Errorf("mail: files of %d bytes, at most %d", files, mailFiles).In("files")
	case slices.ContainsFunc(m.Files, func(b *blob.Blob) bool { return !headerText(b.Name) }):
		return fault.Invalid.Errorf("mail: the name of a file has control characters").In("files")
	case m.Template == "" && m.Text == "" && m.HTML == "" && m.Subject == "":
		return fault.Invalid.Errorf("mail: neither text nor template").In("message")
	}
	return nil
}

// headerText reports whether a text can stand in a header.
func headerText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }) < 0
}

// address checks one address and returns it in its normal form.
func address(s string) (string, error) {
	if !headerText(s) || len(s) > 500 {
		return "", fault.Invalid.Errorf("mail: %q is no address", s).In("to")
	}
	a, err := mail.ParseAddress(strings.TrimSpace(s))
	if err != nil || !headerText(a.Name) || !headerText(a.Address) {
		return "", fault.Invalid.Errorf("mail: %q is no address", s).In("to")
	}
	if a.Name == "" {
		return a.Address, nil
	}
	return a.String(), nil
}

// addresses resolves recipients. Users without an address, and those who may not read the document that a
// message is about, are left out.
func (t *Tx) addresses(list []string, doc string) ([]string, error) {
	var out []string
	add := func(a string) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, s := range list {
		kind, name, _ := strings.Cut(s, ":")
		switch kind {
		case "user":
			a, err := t.addressOf(name, doc)
			if err != nil {
				return nil, err
			}
			add(a)
		case "group":
			names, err := t.usersOf(name)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				a, err := t.addressOf(name, doc)
				if err != nil {
					return nil, err
				}
				add(a)
			}
		default:
			a, err := address(s)
			if err != nil {
				return nil, err
			}
			add(a)
		}
	}
	return out, nil
}

// addressOf returns a user's address, "" if there is none to be used.
func (t *Tx) addressOf(name, doc string) (string, error) {
	if email, ok := strings.CutPrefix(name, "transient/"); ok {
		return address(email)
	}
	system := t.As(t.repo.System())
	u, err := system.User(name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil || u.Email == "" {
		return "", err
	}
	if doc != "" {
		p, err := system.PrincipalOf(name)
		if err != nil {
			return "", err
		}
		if _, err := t.As(p).Doc(Ref(doc)); err != nil {
			return "", errIfNot(errIfNot(err, fault.NotFound), fault.Denied)
		}
	}
	a, err := address(u.Email)
	if err != nil {
		return "", nil //nolint:nilerr // an address that was never one
	}
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" && headerText(name) && !strings.Contains(a, "<") {
		a = (&mail.Address{Name: name, Address: a}).String()
	}
	return a, nil
}

// usersOf returns the users of a group and of the groups in it, as many as a message may go to.
func (t *Tx) usersOf(group string) ([]string, error) {
	seen, users := []string{group}, []string(nil)
	for i := 0; i < len(seen) && len(users) <= mailRecipients; i++ {
		names, err := t.members(memberUser, seen[i])
		if err != nil {
			return nil, err
		}
		users = append(users, names...)
		below, err := t.members(subgroup, seen[i])
		if err != nil {
			return nil, err
		}
		for _, g := range below {
			if !slices.Contains(seen, g) {
				seen = append(seen, g)
			}
		}
	}
	return users, nil
}
