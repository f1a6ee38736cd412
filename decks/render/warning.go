package render

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	decks "catena/decks/html"
	"catena/storage/fault"

	"golang.org/x/net/html"
)

// maxWarnings bounds what is kept in the row of an export: a deck may name thousands of addresses.
const maxWarnings = 20

// Warnings say what anyone who gets a file should know, once it is made: how, if not as usual, and
// what it does not show. That is what lies elsewhere, since nothing is fetched, and what seems to
// be kept here but is not, or not for the caller.
func (d *Deck) Warnings() []string {
	count := map[string]int{}
	var lost []string
	z := html.NewTokenizer(strings.NewReader(d.HTML))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		for _, a := range t.Attr {
			address := strings.TrimSpace(a.Val)
			err, asked := d.asked[address]
			if !decks.Loads(t.Data, a) && a.Key != "data-background-iframe" && a.Key != "data-markdown" || asked && err == nil {
				continue
			}
			if host := hostOf(address); host != "" {
				count[host]++
			} else if asked {
				lost = append(lost, fmt.Sprintf("%.100s: %s", address, whyNot(err)))
			}
		}
	}
	var out []string
	for host, n := range count {
		out = append(out, fmt.Sprintf("%d from %s: not fetched", n, host))
	}
	slices.Sort(out)
	slices.Sort(lost)
	out = append(out, slices.Compact(lost)...)
	if len(out) > maxWarnings {
		out = append(out[:maxWarnings], fmt.Sprintf("and %d more", len(out)-maxWarnings))
	}
	return append(slices.Clone(d.notes), out...)
}

// whyNot says why a file is not shown. That it may not be read is not told from its absence.
func whyNot(err error) string {
	switch {
	case fault.CodeOf(err) == fault.CodeContentDamaged:
		return "its content is damaged"
	case fault.Is(err, fault.Unavailable):
		return "cannot be read at present"
	default:
		return "not found"
	}
}

// hostOf returns where an address leads to; "" is here.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
