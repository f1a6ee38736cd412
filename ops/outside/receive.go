package outside

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/mailbox"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/text/rfc822"
)

// mailboxTable keeps where readers of mailboxes have got to. It is written by the transaction that reads, so that a message
// is read once: if the transaction does not commit, it is read again.
const mailboxTable = "mailbox"

func (k *caller) receiveOp() engine.Op {
	return engine.Op{
		Name: "Mail.Receive", Label: "Read new mail", Category: "Services", Callers: engine.Admins.OrStored(), Effect: engine.Writes,
		Doc: "Reads the messages that have arrived in a mailbox since the operation last read it, oldest first, by IMAP. Nothing is changed in the mailbox. " +
			"Returns a list of maps: id, number, from, name, to, cc, subject, sent, arrived, size, text, html and files. A message that is too large or malformed " +
			"has a problem instead of its content. A message counts as read once the call is committed. " +
			"Only public addresses are reached, with TLS, unless the server is configured otherwise.",
		Result: openapi.List(openapi.Fixed("number:integer arrived:moment size:integer subject files:array", "id from name to:array cc:array text html sent:moment problem message:object")),
		Run:    engine.On(func(p receiveParams, c *engine.Ctx, _ engine.Void) ([]any, error) { return k.receive(c, &p) }),
	}
}

type receiveParams struct {
	URL        string `json:"url" doc:"The mailbox: imaps://HOST/FOLDER; without a folder, INBOX."`
	Credential string `json:"credential" doc:"Name of a credential of the kind basic that is granted to the chain or to the user."`
	Reader     string `json:"reader,omitzero" doc:"A name for who reads, if several read the same mailbox independently of each other."`
	Start      string `json:"start" default:"new" enum:"new,all" doc:"What the first call reads: nothing, so that those after it read what is new, or all that is there."`
	Most       int    `json:"most" default:"20" min:"1" max:"100" doc:"Messages that one call reads at most, of 50 MiB together; the next call goes on behind them."`
	Whole      bool   `json:"whole" default:"false" doc:"Whether each message is also returned as a file of type message/rfc822, as message."`
}

// receive reads what is new, and writes down where reading ended. A reading that is undone by a failure
// leaves the mark as it was; nothing was changed in the mailbox, so the same messages come again.
func (k *caller) receive(c *engine.Ctx, p *receiveParams) ([]any, error) {
	u, folder, err := p.address()
	if err != nil {
		return nil, err
	}
	with, err := use(c.Tx, p.Credential, c.ChainName(), u)
	switch {
	case err != nil:
		return nil, err
	case with == nil:
		return nil, fault.Invalid.Errorf("credential: is missing").In("credential")
	}
	q := mailbox.Query{User: with.User, Password: with.secret, Folder: folder, All: p.Start == "all", Most: p.Most}
	key := p.key(u)
	states := c.Tx.As(c.Tx.Repo().System()).Table(mailboxTable)
	var mark mailbox.Mark
	found, err := states.Get(key, &mark)
	if err != nil {
		return nil, err
	}
	if found {
		q.Mark = &mark
	}
	var raw []mailbox.Raw
	var next mailbox.Mark
	// The connection is made within the transaction, which may be run again: reading twice is
	// harmless, as IMAP is used without setting flags.
	if err := c.Outside(func() (err error) {
		raw, next, err = k.fetch(c, u, q)
		return err
	}); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(raw))
	for i := range raw {
		m, err := p.message(c, &raw[i])
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	// Nothing new, so nothing is written: polling an empty mailbox must not cause a commit each
	// time.
	if found && next == mark {
		return out, nil
	}
	return out, states.Put(key, next)
}

// address reads the address of the mailbox.
func (p *receiveParams) address() (u *url.URL, folder string, err error) {
	u, err = url.Parse(p.URL)
	// A password in the address is refused: addresses appear in logs, the secrets of credentials
	// never do.
	if err != nil || u.Scheme != "imaps" && u.Scheme != "imap" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fault.Invalid.Errorf("url: must be an address such as imaps://imap.example.org/INBOX").In("url")
	}
	if len(p.Reader) > 100 {
		return nil, "", fault.Limit.Errorf("reader: more than 100 bytes").In("reader")
	}
	return u, cmp.Or(strings.Trim(u.Path, "/"), "INBOX"), nil
}

// key names who reads which mailbox. It is hashed because the parts may be longer than a key of a table.
// The credential is a part of it, since different users may see different messages at the same address.
func (p *receiveParams) key(u *url.URL) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{u.Scheme, strings.ToLower(u.Host), u.Path, p.Credential, p.Reader}, "\n")))
	return hex.EncodeToString(sum[:])
}

// fetch connects and reads.
func (k *caller) fetch(ctx context.Context, u *url.URL, q mailbox.Query) ([]mailbox.Raw, mailbox.Mark, error) {
	secure := u.Scheme == "imaps"
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "993", false: "143"}[secure]
	}
	// Egress decides whether the host may be reached, and without TLS only where the server is
	// configured to allow it.
	conn, err := k.Client.Dial(ctx, u.Hostname(), port, secure)
	if err != nil {
		return nil, mailbox.Mark{}, err
	}
	return mailbox.Fetch(ctx, conn, q)
}

// message is what the operation returns of a message.
func (p *receiveParams) message(c *engine.Ctx, raw *mailbox.Raw) (map[string]any, error) {
	out := map[string]any{"number": int64(raw.Number), "arrived": raw.Arrived.UTC(), "size": int64(raw.Size), "subject": raw.Subject, "files": []any{}}
	// It was too large to be fetched. It is returned all the same, so that the mark moves past it
	// and it is not tried for ever.
	if raw.Body == nil {
		out["problem"] = fault.Limit.Errorf("message: %d bytes, limit %d", raw.Size, mailbox.MaxSize).Error()
		return out, nil
	}
	files := []any{}
	var failed error // which is the server's, not the message's
	m, err := rfc822.Parse(raw.Body, func(f rfc822.File) error {
		var b *storage.Blob
		b, failed = c.Tx.NewBlob(f.Name, f.Type, c.Reader(f.Body))
		files = append(files, b)
		return failed
	})
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		out["problem"] = err.Error()
	default:
		describe(out, m)
		out["files"] = files
	}
	// A message that could not be taken apart is always returned as a file, since nothing else of
	// it would remain.
	if !p.Whole && err == nil {
		return out, nil
	}
	out["message"], err = c.Tx.NewBlob("message.eml", "message/rfc822", bytes.NewReader(raw.Body))
	return out, err
}

// describe puts what a message says into a map.
func describe(out map[string]any, m *rfc822.Message) {
	for name, v := range map[string]any{
		"id": m.ID, "from": m.From, "name": m.Name, "to": list(m.To), "cc": list(m.Cc), "subject": m.Subject, "text": m.Text, "html": m.HTML,
	} {
		out[name] = v
	}
	// The date is the sender's claim and may be missing.
	if out["sent"] = m.Sent.UTC(); m.Sent.IsZero() {
		out["sent"] = out["arrived"].(time.Time)
	}
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}
