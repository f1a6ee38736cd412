// Package rfc822 reads messages of electronic mail: who wrote to whom, what, and which files are with it. Messages are written
// by strangers, so their texts, parts and files are bounded.
package rfc822

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"strings"
	"time"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // texts in other character sets than UTF-8
	"github.com/emersion/go-message/mail"

	"catena/storage/fault"
)

const (
	maxText  = 1 << 20 // bytes
	maxFiles = 100
	maxParts = 1000
)

// Message is what a message says.
type Message struct {
	ID         string
	From       string // address
	Name       string // of who sent it
	To, Cc     []string
	Subject    string
	Sent       time.Time
	Text, HTML string
}

// File is a file that a message brings along.
type File struct {
	Name, Type string
	Body       io.Reader
}

// Parse reads a message and calls file with each of its files, which ends with the call. What is malformed is read as far
// as it goes.
func Parse(body []byte, file func(File) error) (*Message, error) {
	r, err := mail.CreateReader(bytes.NewReader(body))
	if err != nil && !message.IsUnknownCharset(err) {
		return nil, fault.Invalid.Errorf("message: %w", err)
	}
	m := &Message{}
	m.readHead(&r.Header)
	files := 0
	for range maxParts {
		p, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return m, nil
		case err != nil && !message.IsUnknownCharset(err):
			return m, nil //nolint:nilerr // cut short: what was read counts
		}
		name, typ := nameOf(p)
		switch {
		case name == "" && typ == "text/plain":
			err = appendText(&m.Text, p.Body)
		case name == "" && typ == "text/html":
			err = appendText(&m.HTML, p.Body)
		case files == maxFiles:
			return nil, fault.Limit.Errorf("message: more than %d files", maxFiles)
		default:
			files++
			err = file(File{Name: name, Type: typ, Body: p.Body})
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fault.Limit.Errorf("message: more than %d parts", maxParts)
}

func (m *Message) readHead(h *mail.Header) {
	m.Subject, _ = h.Subject()
	m.Sent, _ = h.Date()
	m.ID, _ = h.MessageID()
	if from, err := h.AddressList("From"); err == nil && len(from) > 0 {
		m.From, m.Name = from[0].Address, from[0].Name
	}
	m.To, m.Cc = addresses(h, "To"), addresses(h, "Cc")
}

func addresses(h *mail.Header, field string) []string {
	out := []string{}
	list, _ := h.AddressList(field)
	for _, a := range list {
		out = append(out, a.Address)
	}
	return out
}

// nameOf is the name that a part has as a file, "" if it is text to be read, and its type.
func nameOf(p *mail.Part) (name, typ string) {
	var params map[string]string
	switch h := p.Header.(type) {
	case *mail.AttachmentHeader:
		typ, _, _ = h.ContentType()
		name, _ = h.Filename()
		if name == "" {
			name = "attachment"
		}
	case *mail.InlineHeader:
		typ, params, _ = h.ContentType()
		if name = params["name"]; name == "" {
			_, params, _ = h.ContentDisposition()
			name = params["filename"]
		}
	}
	if typ == "" {
		typ = "text/plain"
	}
	if decoded, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
		name = decoded
	}
	if name == "" {
		return "", typ
	}
	// A name of folders alone is one all the same: the part would be taken for the text of the message without it.
	name = strings.ToValidUTF8(name[strings.LastIndexAny(name, `/\`)+1:], "\uFFFD")
	return cmp.Or(name, "attachment"), typ
}

func appendText(to *string, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if len(*to)+len(b) > maxText {
		return fault.Limit.Errorf("message: text of more than %d bytes", maxText)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Invalid.Errorf("message: %w", err)
	}
	*to += strings.ToValidUTF8(string(b), "\uFFFD")
	return nil
}
