package password

import (
	"context"
	"net/netip"
)

// Client says where a password comes from.
type Client struct {
	Address string // network that counts as one: an address, of 64 bits in IPv6; "": not known
	Device  string // what the device was given when somebody signed in there; "": nothing
}

type clientKey struct{}

// asked is a client as a context holds it.
type asked struct {
	from   netip.Addr
	device string
}

// WithClient returns a context for what a client asks.
func WithClient(ctx context.Context, from netip.Addr, device string) context.Context {
	return context.WithValue(ctx, clientKey{}, asked{from, device})
}

// ClientOf returns whose request a context is for.
func ClientOf(ctx context.Context) Client {
	a, _ := ctx.Value(clientKey{}).(asked)
	c := Client{Device: a.device}
	if a.from.IsValid() {
		c.Address = Network(a.from).String()
	}
	return c
}

// Network is what counts as one client: an address, or in IPv6 the network of 64 bits that one household has.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}
