package rest

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"catena/storage/fault"
)

// Header values every answer carries, made once.
var (
	noSniff   = []string{"nosniff"}
	noFrames  = []string{"SAMEORIGIN"}
	noRefer   = []string{"no-referrer"}
	NoScripts = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}
	NoCache   = []string{"no-cache, private"}
)

// identify gives the request the trace it belongs to, and its id: the caller's, if it is short and harmless.
func (x *Request) identify() {
	parent := ""
	if named := x.HTTP.Header["Traceparent"]; len(named) == 1 {
		parent = named[0]
	}
	if ctx, ok := x.Server.Engine.Joined(x.HTTP.Context(), parent); ok {
		x.HTTP = x.HTTP.WithContext(ctx)
	}
	if ids := x.HTTP.Header["X-Request-Id"]; len(ids) == 1 && harmless(ids[0]) {
		x.ID = ids[0]
		x.Writer.Header()["X-Request-Id"] = ids
		return
	}
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	hex.Encode(x.idText[:], raw[:])
	x.ID = string(x.idText[:])
	x.Writer.Header()["X-Request-Id"] = []string{x.ID}
}

// harmless reports whether a request id may go into headers and logs as it is.
func harmless(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-_.:/+=", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// guard refuses what no route may see: a host that is not ours (a name rebound to this
// address), a web page of another origin, a compressed body.
func (x *Request) guard() error {
	h := x.Writer.Header()
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = noFrames
	h["Referrer-Policy"] = noRefer
	r := x.HTTP
	if !x.Server.serves(r.Host) {
		return fault.Denied.Errorf("host %q is not served here", r.Host).WithCode(fault.CodeHostNotAllowed)
	}
	if origin := r.Header["Origin"]; len(origin) > 0 {
		x.allowOrigin(origin[0])
	}
	if err := x.Server.cross.Check(r); err != nil {
		return fault.Denied.Errorf("request comes from another website").WithCode(fault.CodeCrossOrigin)
	}
	if enc := r.Header["Content-Encoding"]; len(enc) > 0 && !strings.EqualFold(enc[0], "identity") {
		return fault.Invalid.Errorf("content encoding %q is not accepted", enc[0]).WithCode(fault.CodeUnsupportedMediaType)
	}
	return nil
}

// serves reports whether a Host header names this server. Addresses always do: only names
// can be made to point here by somebody else.
func (s *Handler) serves(host string) bool {
	if s.anyHost {
		return true
	}
	name := hostname(host)
	if s.hosts[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// hostname takes the port and the brackets off a host, in lower case.
func hostname(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// allowOrigin lets pages of a listed origin read the answer.
func (x *Request) allowOrigin(origin string) {
	if !x.Server.origins[origin] {
		return
	}
	h := x.Writer.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "ETag, Location, X-Request-Id, Idempotency-Key, Idempotency-Replayed, "+
		"Content-Disposition, Deck-Revision, Deprecation, Link, RateLimit, RateLimit-Policy, Retry-After")
	if x.HTTP.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		if asked := x.HTTP.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
		}
		h.Set("Access-Control-Max-Age", "600")
	}
}
