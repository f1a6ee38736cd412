package notification

import (
	"html"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// sendMail makes the operation that sends mail.
func sendMail(cfg Config) engine.Op {
	return engine.Op{
		Name:     "Document.Mail",
		Aliases:  []string{"Notification.SendMail"},
		Label:    "Send E-Mail",
		Category: "Notification",
		Doc: "Sends a message about the document after the call is committed, and returns the document. The message is text with placeholders such as ${Document.title} or ${docUrl}, " +
			"or template:NAME. With rollbackOnError false, the call continues if the message cannot be created; the jobs show whether the mail server accepted it.",
		Callers: engine.Admins.OrStored(),
		Run: engine.Each(func(p mailParams, c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
			err := p.send(c, d, cfg)
			if err != nil && !p.Rollback && !engine.Ends(err) {
				c.Log.Warn("mail is not sent", "document", d.ID(), "error", err)
				err = nil
			}
			return d, err
		}),
	}
}

type mailParams struct {
	From     string   `json:"from,omitzero" doc:"Address of the sender; without it, that of the server."`
	Message  string   `json:"message" widget:"MailTemplate" doc:"The text, or template: followed by the name of a template."`
	Subject  string   `json:"subject" doc:"The subject."`
	HTML     bool     `json:"HTML" default:"false" values:"false" doc:"Whether the text is HTML."`
	Strict   bool     `json:"Strict User Resolution" default:"true" doc:"Recipients must be addresses or user: followed by a name; otherwise plain names of users and groups are accepted too."`
	Bcc      []string `json:"bcc,omitzero" doc:"Blind-copy recipients."`
	Cc       []string `json:"cc,omitzero" doc:"Copy recipients."`
	Files    []string `json:"files,omitzero" doc:"Xpaths of the files to attach."`
	ReplyTo  []string `json:"replyto,omitzero" doc:"Address for replies."`
	Rollback bool     `json:"rollbackOnError" default:"true" values:"true" doc:"Whether to fail if the message cannot be created."`
	To       []string `json:"to,omitzero" doc:"Recipients."`
	View     string   `json:"viewId" default:"view_documents" values:"view_documents" doc:"View in the document's address."`
}

// maxAttached is how many xpaths a message takes files from.
const maxAttached = 100

func (p mailParams) send(c *engine.Ctx, d *storage.Doc, cfg Config) error {
	switch {
	case len(p.Files) > maxAttached:
		return fault.Limit.Errorf("files: %d xpaths, limit %d", len(p.Files), maxAttached).In("files")
	case len(p.Message) > mail.MaxText:
		return fault.Limit.Errorf("message: %d bytes, limit %d", len(p.Message), mail.MaxText).In("message")
	}
	m := mail.Mail{From: p.From, Subject: p.Subject, Files: p.files(c, d)}
	for _, l := range []struct {
		field string
		names []string
		into  *[]string
	}{{"to", p.To, &m.To}, {"cc", p.Cc, &m.Cc}, {"bcc", p.Bcc, &m.Bcc}, {"replyto", p.ReplyTo, &m.ReplyTo}} {
		var err error
		if *l.into, err = p.recipients(c, l.field, l.names); err != nil {
			return err
		}
	}
	vars := map[string]any{
		"docUrl": cfg.Base + "/ui/#!/doc/" + d.ID(), "subject": p.Subject, "to": strings.Join(p.To, ", "),
		"toResolved": strings.Join(m.To, ", "), "baseUrl": cfg.Base, "viewId": p.View,
	}
	name, isTemplate := strings.CutPrefix(p.Message, "template:")
	var err error
	switch {
	case isTemplate && !cfg.Templates().Has(name):
		return cfg.Templates().Missing(name).In("message")
	case isTemplate:
		m.Template, m.Data = name, templateData(c, d, vars)
	case p.HTML:
		m.HTML, err = fill(c, d, html.UnescapeString(p.Message), vars, html.EscapeString)
	default:
		m.Text, err = fill(c, d, html.UnescapeString(p.Message), vars, func(s string) string { return s })
	}
	if err != nil {
		return err
	}
	_, err = mail.Send(c.Tx, m)
	return err
}

// files are what is attached. What cannot be read is left out.
func (p mailParams) files(c *engine.Ctx, d *storage.Doc) (files []*storage.Blob) {
	for _, xpath := range p.Files {
		v, err := d.Get(strings.TrimSpace(xpath))
		if err != nil {
			c.Log.Warn("file is not attached", "document", d.ID(), "xpath", xpath, "error", err)
			continue
		}
		files = appendFiles(files, v)
	}
	return files
}

func appendFiles(files []*storage.Blob, v any) []*storage.Blob {
	switch v := v.(type) {
	case *storage.Blob:
		if v != nil {
			files = append(files, v)
		}
	case []any:
		for _, item := range v {
			files = appendFiles(files, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			files = appendFiles(files, v[name])
		}
	}
	return files
}

// recipients turns the names of a field into what storage resolves.
func (p mailParams) recipients(c *engine.Ctx, field string, list []string) ([]string, error) {
	var out []string
	for _, item := range list {
		for s := range strings.SplitSeq(item, ",") {
			switch s = strings.TrimSpace(s); {
			case s == "":
			case p.Strict || strings.Contains(s, "@") || strings.HasPrefix(s, "user:") || strings.HasPrefix(s, "group:"):
				out = append(out, s)
			default:
				_, err := people.Lookup(c.Tx, s)
				kind := "user:"
				if fault.Is(err, fault.NotFound) {
					_, err = people.LookupGroup(c.Tx, s)
					kind = "group:"
				}
				if fault.Is(err, fault.NotFound) {
					return nil, fault.NotFound.Errorf("%s: no user or group %q", field, s).In(field)
				}
				if err != nil {
					return nil, err
				}
				out = append(out, kind+s)
			}
		}
	}
	return out, nil
}
