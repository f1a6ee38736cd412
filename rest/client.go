package rest

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"catena/storage/credential"
)

// client is the address of the caller: of the peer, or, where that is a proxy that is trusted, of the client that the proxy names
// it asks for. It is the zero value if there is none.
func (x *Request) client() netip.Addr {
	if !x.from.IsValid() {
		x.from = x.findClient()
	}
	return x.from
}

func (x *Request) findClient() netip.Addr {
	var peer netip.Addr
	if at, err := netip.ParseAddrPort(x.HTTP.RemoteAddr); err == nil { // as net/http has it
		peer = at.Addr().Unmap().WithZone("")
	} else {
		peer = addressOf(x.HTTP.RemoteAddr)
	}
	if !x.Server.proxy(peer) {
		return peer
	}
	for hop := range hops(x.HTTP.Header) {
		if !hop.IsValid() {
			break // who is behind does not say
		}
		if peer = hop; !x.Server.proxy(hop) {
			break // whatever stands before is what the client says of itself
		}
	}
	return peer
}

// FromClient is the request's context with the client that wrong passwords are counted by.
func (x *Request) FromClient() context.Context {
	return credential.WithClient(x.arriving(), x.client(), x.Cookie(DeviceCookie))
}

// proxy reports whether an address is that of a proxy that is trusted.
func (s *Handler) proxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// hops yields whom proxies say they ask for, the nearest first: the entries of X-Forwarded-For, which nearly every proxy
// writes, or without it those of Forwarded (RFC 7239). Proxies add at the end, so only as much of the end is read as
// is asked for. What is no address is the zero value.
func hops(h http.Header) func(yield func(netip.Addr) bool) {
	name, of := "X-Forwarded-For", strings.TrimSpace
	if len(h[name]) == 0 {
		name, of = "Forwarded", forwardedFor
	}
	return func(yield func(netip.Addr) bool) {
		for _, line := range slices.Backward(h[name]) {
			for more := true; more; {
				var last string
				if line, last, more = cutLast(line, ','); !yield(addressOf(of(last))) {
					return
				}
			}
		}
	}
}

// forwardedFor is the node that the parameter for of an element of Forwarded names; "" if there is none.
func forwardedFor(element string) string {
	for more := true; more; {
		var pair string
		element, pair, more = cutLast(element, ';')
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(name), "for") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// cutLast cuts a list at the last separator that is not quoted. It reads from the end, so that what was written
// before, by somebody else, has no say in what is quoted there.
func cutLast(list string, separator byte) (before, last string, found bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"' && (i == 0 || list[i-1] != '\\'):
			quoted = !quoted
		case list[i] == separator && !quoted:
			return list[:i], list[i+1:], true
		}
	}
	return "", list, false
}

// addressOf reads an address, with or without a port; the zero value if it is none.
func addressOf(text string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		at, _ := netip.ParseAddrPort(text)
		a = at.Addr()
	}
	return a.Unmap().WithZone("")
}
