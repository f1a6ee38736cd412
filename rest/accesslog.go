package rest

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// record counts a request, and tells it to the log of requests.
func (s *Handler) record(x *Request, took time.Duration, cut bool) {
	x.Route.observe(s.meters, x.Status, took)
	if s.Access != nil {
		s.Access.LogAttrs(x.HTTP.Context(), slog.LevelInfo, "request", x.accessAttrs(took, cut)...)
	}
}

// accessAttrs are the fields of the log of requests. All are always there; none holds a query, a header that
// may be a secret, or the part of a path that is one.
func (x *Request) accessAttrs(took time.Duration, cut bool) []slog.Attr {
	user, remote := "", hostname(x.HTTP.RemoteAddr)
	if from := x.client(); from.IsValid() {
		remote = from.String()
	}
	if x.As != nil {
		user = x.As.Name
	}
	return []slog.Attr{
		slog.String("remote", remote),
		slog.String("user", user), // "" if nobody signed in
		slog.String("method", x.HTTP.Method),
		slog.String("path", unsaid(x.HTTP.URL.Path)),
		slog.Int("status", x.Status),
		slog.Int64("bytes", x.out.n),                                    // of the body
		slog.Float64("seconds", took.Round(time.Microsecond).Seconds()), // until the last of it was handed over
		slog.Bool("cut", cut),                                           // the answer was interrupted
		slog.String("requestId", x.ID),
		slog.String("traceId", x.traceID()), // of the request's traceparent
		slog.String("agent", x.HTTP.UserAgent()),
	}
}

// secretPaths are what stands in addresses before something that opens an entry point to anyone who reads it: a private link,
// an invitation, the token of a device.
var secretPaths = []string{"/share/", "/enterpassword/", "/token/"}

// unsaid is a path without what is secret in it.
func unsaid(path string) string {
	for _, segment := range secretPaths {
		before, after, ok := strings.Cut(path, segment)
		if !ok || strings.HasSuffix(before, "/oauth2") { // tokens of clients have numbers and names there
			continue
		}
		_, rest, more := strings.Cut(after, "/")
		if more {
			rest = "/" + rest
		}
		path = before + segment + "…" + rest
	}
	return path
}

// counted knows how many bytes of a body went out.
type counted struct {
	http.ResponseWriter
	n int64
}

// Write sends bytes.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// ReadFrom sends what r holds, as the connection does it best.
func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, r)
	c.n += n
	return n, err
}

// Unwrap returns what bytes are sent by.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
