package render

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const maxWarnings = 20

// Missing says what a file does not show because it lies elsewhere: nothing is fetched.
func (d *Deck) Missing() []string {
	count := map[string]int{}
	z := html.NewTokenizer(strings.NewReader(d.HTML))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		for _, a := range t.Attr {
			if host, ok := remote(t.Data, a); ok {
				count[host]++
			}
		}
	}
	var out []string
	for host, n := range count {
		out = append(out, fmt.Sprintf("%d from %s: not fetched", n, host))
	}
	slices.Sort(out)
	if len(out) > maxWarnings {
		out = append(out[:maxWarnings], fmt.Sprintf("and from %d more", len(out)-maxWarnings))
	}
	return out
}

// remote returns the host of an attribute that has a browser load something.
func remote(element string, a html.Attribute) (host string, ok bool) {
	switch a.Key {
	case "src", "data-src", "poster", "data-background-image", "data-background-video", "data-background-iframe", "data-background", "data-markdown":
	default:
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(a.Val))
	if err != nil || u.Host == "" || element == "a" {
		return "", false
	}
	return u.Host, true
}
