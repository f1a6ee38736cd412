// Package mailbox reads the messages that have arrived in an IMAP mailbox since the last time. It changes nothing
// there, not even that a message was seen.
//
// The connection is the caller's, which decides what may be reached. Where reading ended is a Mark, which the caller keeps:
// the number that a server gives to a message grows with each message, until the server numbers all of them again; the time
// of the newest message tells then which are new.
package mailbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/emersion/go-imap"
	"github.com/emersion/go-imap/client"

	"catena/storage/fault"
)

// MaxSize is the number of bytes of the largest message that is read; of a larger one only what its envelope says.
const MaxSize = 25 << 20

// maxRead is how many bytes of messages one look reads at most, unless the first is larger: they are in memory.
const maxRead = 2 * MaxSize

// maxNew bounds the messages that one look considers.
const maxNew = 100_000

// Mark is where reading ended.
type Mark struct {
	Validity uint32    `json:"validity"` // changes when the server numbers its messages again
	Last     uint32    `json:"last"`     // number of the last message read
	Newest   time.Time `json:"newest"`   // when the newest message read had arrived
}

// Query says what to read.
type Query struct {
	User, Password string
	Folder         string
	Mark           *Mark // nil: the mailbox was never looked at
	All            bool  // the first look reads what is there already
	Most           int   // messages
}

// Raw is a message as it was received.
type Raw struct {
	Number  uint32
	Arrived time.Time
	Size    int
	Subject string // of one that is too large to be read
	Body    []byte // nil if it is too large
}

// Fetch signs in and reads the messages that are new, oldest first, and the mark behind them. It closes the connection.
func Fetch(ctx context.Context, conn net.Conn, q Query) (out []Raw, next Mark, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	s := &session{query: q}
	if err := s.begin(conn); err != nil {
		return nil, next, failed(ctx, err)
	}
	out, next, err = s.read()
	if err != nil {
		return nil, next, failed(ctx, err)
	}
	_ = s.c.Logout() // everything was read
	return out, next, nil
}

// failed is the error of a conversation that did not go well.
func failed(ctx context.Context, err error) error {
	var known *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	}
	return fault.Unavailable.Errorf("mailbox: %w", err).WithCode(fault.CodeUnreachable)
}

// session is one conversation with a server.
type session struct {
	c     *client.Client
	query Query
	box   *imap.MailboxStatus
}

func (s *session) begin(conn net.Conn) (err error) {
	if s.c, err = client.New(conn); err != nil {
		return err
	}
	s.c.ErrorLog = silent{}
	if err := s.c.Login(s.query.User, s.query.Password); err != nil {
		return fault.Denied.Errorf("mailbox: sign-in failed: %w", err).In("credential")
	}
	if s.box, err = s.c.Select(s.query.Folder, true); err != nil {
		return fault.NotFound.Errorf("mailbox: folder %s: %w", s.query.Folder, err)
	}
	return nil
}

// read finds what is new and reads it.
func (s *session) read() ([]Raw, Mark, error) {
	q, next := s.query, Mark{Validity: s.box.UidValidity}
	if q.Mark != nil {
		next.Newest = q.Mark.Newest
		if q.Mark.Validity == next.Validity {
			next.Last = q.Mark.Last
		}
	}
	if q.Mark == nil && !q.All {
		next.Last = max(s.box.UidNext, 1) - 1
		return nil, next, nil
	}
	heads, err := s.heads(next)
	if err != nil {
		return nil, next, err
	}
	if len(heads) > q.Most {
		heads = heads[:q.Most]
	}
	var out []Raw
	total := 0
	for _, h := range heads {
		if h.Size <= MaxSize {
			total += int(h.Size)
		}
		if total > maxRead && len(out) > 0 {
			break // the next look goes on here
		}
		r := Raw{Number: h.Uid, Arrived: h.InternalDate, Size: int(h.Size)}
		switch {
		case h.Size > MaxSize:
			if h.Envelope != nil {
				r.Subject = h.Envelope.Subject
			}
		default:
			if r.Body, err = s.body(h.Uid); err != nil {
				return nil, next, err
			}
		}
		next.Last = h.Uid
		if h.InternalDate.After(next.Newest) {
			next.Newest = h.InternalDate
		}
		out = append(out, r)
	}
	return out, next, nil
}

// heads are the new messages in order, without their bodies.
func (s *session) heads(after Mark) ([]*imap.Message, error) {
	renumbered := after.Last == 0 && !after.Newest.IsZero()
	criteria := imap.NewSearchCriteria()
	criteria.Uid = new(imap.SeqSet)
	criteria.Uid.AddRange(after.Last+1, 0)
	if renumbered {
		criteria.Since = after.Newest.AddDate(0, 0, -1) // by days, in the server's time zone
	}
	numbers, err := s.c.UidSearch(criteria)
	if err != nil {
		return nil, err
	}
	numbers = slices.DeleteFunc(numbers, func(n uint32) bool { return n <= after.Last }) // the last message is in every range
	if len(numbers) == 0 {
		return nil, nil
	}
	if len(numbers) > maxNew {
		return nil, fault.Limit.Errorf("mailbox: more than %d new messages", maxNew)
	}
	slices.Sort(numbers)
	if !renumbered && len(numbers) > s.query.Most {
		numbers = numbers[:s.query.Most]
	}
	all, err := s.fetch(numbers, imap.FetchUid, imap.FetchRFC822Size, imap.FetchInternalDate, imap.FetchEnvelope)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *imap.Message) int { return int(int64(a.Uid) - int64(b.Uid)) })
	if renumbered {
		all = slices.DeleteFunc(all, func(m *imap.Message) bool { return !m.InternalDate.After(after.Newest) })
	}
	return all, nil
}

// body reads a message without marking it as seen.
func (s *session) body(number uint32) ([]byte, error) {
	whole := &imap.BodySectionName{Peek: true}
	all, err := s.fetch([]uint32{number}, imap.FetchUid, whole.FetchItem())
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Uid != number {
			continue
		}
		r := m.GetBody(whole)
		if r == nil {
			break
		}
		var b bytes.Buffer
		n, err := io.Copy(&b, io.LimitReader(r, MaxSize+1))
		if n > MaxSize {
			return nil, fault.Limit.Errorf("mailbox: message %d is larger than the server said", number)
		}
		return b.Bytes(), err
	}
	return nil, fmt.Errorf("message %d: the server did not send it", number)
}

func (s *session) fetch(numbers []uint32, items ...imap.FetchItem) (all []*imap.Message, err error) {
	set := new(imap.SeqSet)
	set.AddNum(numbers...)
	messages, done := make(chan *imap.Message, 16), make(chan error, 1)
	go func() { done <- s.c.UidFetch(set, items, messages) }()
	for m := range messages {
		if len(all) <= len(numbers) {
			all = append(all, m)
		}
	}
	return all, <-done
}

// silent drops what the library would log: errors are returned too.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
