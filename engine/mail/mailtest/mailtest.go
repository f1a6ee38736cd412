// Package mailtest is a mail server for tests: it accepts messages on the loopback interface, keeps them in memory,
// and delivers none.
package mailtest

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Message is what the server was handed.
type Message struct {
	From string
	To   []string
	Data string // with line ends CR LF
}

// Sink is a running server.
type Sink struct {
	listener net.Listener
	mu       sync.Mutex
	messages []Message
	answer   string
	refused  int
	serving  sync.WaitGroup
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Sink {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Sink{listener: l}
	s.serving.Go(s.serve)
	t.Cleanup(func() {
		_ = l.Close()
		s.serving.Wait()
	})
	return s
}

// Address is where the server listens.
func (s *Sink) Address() (host string, port int) {
	a, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return "", 0
	}
	return a.IP.String(), a.Port
}

// Refuse has the server answer every message with a status and a text; "" takes them again.
func (s *Sink) Refuse(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Refused is how many messages were not taken.
func (s *Sink) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Messages are those taken, in order.
func (s *Sink) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

func (s *Sink) serve() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.serving.Go(func() {
			defer func() { _ = c.Close() }()
			s.talk(c)
		})
	}
}

// talk has one conversation.
func (s *Sink) talk(c net.Conn) {
	in := bufio.NewReader(c)
	say := func(line string) { fmt.Fprintf(c, "%s\r\n", line) }
	say("220 mailtest")
	var m Message
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb := strings.ToUpper(strings.TrimSpace(line))
		switch {
		case strings.HasPrefix(verb, "EHLO"):
			say("250-mailtest\r\n250 8BITMIME")
		case strings.HasPrefix(verb, "MAIL"):
			m = Message{From: addressIn(line)}
			say("250 ok")
		case strings.HasPrefix(verb, "RCPT"):
			m.To = append(m.To, addressIn(line))
			say("250 ok")
		case verb == "DATA":
			say("354 go on")
			if m.Data, err = data(in); err != nil {
				return
			}
			say(s.take(m))
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func addressIn(line string) string {
	_, a, _ := strings.Cut(line, "<")
	a, _, _ = strings.Cut(a, ">")
	return a
}

func data(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String(), err
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (s *Sink) take(m Message) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer != "" {
		s.refused++
		return s.answer
	}
	s.messages = append(s.messages, m)
	return "250 taken"
}
