// Package mail puts messages into the outbox and sends them from there. A message is checked, and its recipients are
// found, in the transaction that causes it; users who may not read the document that it is about are left out. It is
// sent once the transaction is committed: templates, which are files, are filled in, and one SMTP server is spoken to.
//
// Recipients and rights are checked when a message is put into the outbox. A mail server that does not answer delays messages and
// never fails a call.
package mail

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// Config names the server that messages are handed to.
type Config struct {
	Host           string // "": nothing is sent, messages are only noted in the log
	Port           int    // 0: 465 for ssl, 587 otherwise
	User, Password string
	Security       string                            // starttls (the default), ssl, or none
	From           string                            // sender of messages that name none
	Base           string                            // public address of the server, for links in templates
	Templates      func() *Templates                 // nil: those that every server has
	Blobs          func(*storage.Blob) *storage.Blob // finds the content of attachments; nil: there are none
	Log            *slog.Logger
	TLS            *tls.Config // nil: the system's certificates
}

// timeout bounds the whole conversation about one message.
const timeout = time.Minute

// Sender sends messages.
type Sender struct {
	Config
	options []gomail.Option
}

// New checks a configuration and makes its sender.
func New(c Config) (*Sender, error) {
	s := &Sender{Config: c}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	if s.Templates == nil {
		s.Templates = Defaults
	}
	s.Base = strings.TrimSuffix(s.Base, "/")
	if c.Host == "" {
		return s, nil
	}
	if c.From == "" {
		return nil, fault.Invalid.Errorf("smtp-from: is required with smtp-host")
	}
	s.options = []gomail.Option{gomail.WithTimeout(timeout / 2)}
	port := c.Port
	switch c.Security {
	case "", "starttls":
		port = orPort(port, 587)
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case "ssl":
		port = orPort(port, 465)
		s.options = append(s.options, gomail.WithSSL())
	case "none":
		port = orPort(port, 25)
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, fault.Invalid.Errorf("smtp-security: %q is not starttls, ssl or none", c.Security)
	}
	s.options = append(s.options, gomail.WithPort(port))
	if c.TLS != nil {
		s.options = append(s.options, gomail.WithTLSConfig(c.TLS))
	}
	if c.User != "" {
		auth := gomail.SMTPAuthAutoDiscover
		if c.Security == "none" {
			auth = gomail.SMTPAuthPlainNoEnc
		}
		s.options = append(s.options, gomail.WithSMTPAuth(auth), gomail.WithUsername(c.User), gomail.WithPassword(c.Password))
	}
	_, err := gomail.NewClient(c.Host, s.options...)
	return s, err
}

func orPort(port, otherwise int) int {
	if port == 0 {
		return otherwise
	}
	return port
}

// Ping reports whether the server can be spoken and signed in to; there is nothing to tell where there is none.
func (s *Sender) Ping(ctx context.Context) error {
	if s.Host == "" {
		return nil
	}
	client, err := gomail.NewClient(s.Host, s.options...)
	if err != nil {
		return err
	}
	if err := client.DialWithContext(ctx); err != nil {
		return err
	}
	return client.Close()
}

// Job sends the message of a job. Its identifier is the job's, so that somebody who gets it twice,
// because the server stopped in between, can tell.
func (s *Sender) Job(ctx context.Context, j outbox.Job) error {
	var m Mail
	if err := json.Unmarshal(j.Data, &m); err != nil {
		return &outbox.GaveUp{Err: fault.Invalid.Errorf("mail: %w", err)}
	}
	msg, err := s.message(ctx, &m, j)
	if err != nil {
		return &outbox.GaveUp{Err: err}
	}
	if s.Host == "" {
		s.Log.Info("mail is not sent: smtp-host is not set", "subject", m.Subject, "template", m.Template, "recipients", len(m.To)+len(m.Cc)+len(m.Bcc))
		return nil
	}
	client, err := gomail.NewClient(s.Host, s.options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = client.DialAndSendWithContext(ctx, msg)
	var refused *gomail.SendError
	if errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500 {
		return &outbox.GaveUp{Err: err}
	}
	return err
}

// message builds what is sent.
func (s *Sender) message(ctx context.Context, m *Mail, j outbox.Job) (*gomail.Msg, error) {
	if m.Template != "" {
		if err := s.Templates().fill(ctx, m, s.Base); err != nil {
			return nil, err
		}
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	from := m.From
	if from == "" {
		from = s.From
	}
	if from == "" {
		from = "catena@localhost"
	}
	msg.SetMessageIDWithValue(j.ID + "@" + domainOf(from))
	msg.SetDateWithValue(j.Created)
	msg.Subject(m.Subject)
	errs := []error{msg.From(from), msg.To(m.To...), msg.Cc(m.Cc...), msg.Bcc(m.Bcc...)}
	if len(m.ReplyTo) > 0 {
		errs = append(errs, msg.SetAddrHeader("Reply-To", m.ReplyTo...))
	}
	switch {
	case m.HTML == "":
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	case m.Text == "":
		msg.SetBodyString(gomail.TypeTextHTML, m.HTML)
	default:
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	for _, b := range m.Files {
		errs = append(errs, s.attach(msg, b))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fault.Invalid.Errorf("mail: %w", err)
	}
	return msg, nil
}

// attach adds a file; its content is read while it is sent.
func (s *Sender) attach(msg *gomail.Msg, b *storage.Blob) error {
	if s.Blobs == nil {
		return fmt.Errorf("file %s: there is no file store", b.Name)
	}
	r, err := s.Blobs(b).Open()
	if err != nil {
		return err
	}
	defer r.Close()
	name := b.Name
	if name == "" {
		name = "file"
	}
	typ := b.Type
	if typ == "" {
		typ = "application/octet-stream"
	}
	return msg.AttachReader(name, r, gomail.WithFileContentType(gomail.ContentType(typ)))
}

func domainOf(address string) string {
	_, domain, _ := strings.Cut(strings.TrimSuffix(address, ">"), "@")
	if domain == "" {
		return "localhost"
	}
	return domain
}
