package render

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const maxWarnings = 20

// Warnings say what whoever gets a file should know, once it is made: how, if not as usual, and
// what it does not show. That is what lies elsewhere, since nothing is fetched, and what seems to
// be kept here but is not, or not for who asks.
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
			if found, asked := d.asked[address]; !loads(t.Data, a) && a.Key != "data-background-iframe" && a.Key != "data-markdown" || asked && found {
				continue
			}
			if host := hostOf(address); host != "" {
				count[host]++
			} else if _, asked := d.asked[address]; asked {
				lost = append(lost, fmt.Sprintf("%.100s: not found", address))
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

// hostOf returns where an address leads to; "" is here.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
