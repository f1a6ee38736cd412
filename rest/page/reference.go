package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/rest/web"
)

// Reference is the page that tells people of every operation they may run, by category.
func Reference(x *rest.Request) error {
	if x.Guest() {
		return x.See("/ui/login?next=" + url.QueryEscape(x.Site().Page))
	}
	set := x.Engine.Set()
	docs := set.Describe(func(name string) bool { return set.Allowed(name, x.As, x.EntryPoint()) })
	families := map[string]*web.Family{}
	var all []*web.Family
	for _, d := range slices.Concat(docs.Operations, docs.Chains) {
		if d.AliasOf != "" {
			continue
		}
		f := families[d.Category]
		if f == nil {
			f = &web.Family{Name: d.Category}
			families[d.Category] = f
			all = append(all, f)
		}
		f.Operations = append(f.Operations, told(&d))
	}
	slices.SortFunc(all, func(a, b *web.Family) int { return strings.Compare(a.Name, b.Name) })
	list := make([]web.Family, len(all))
	for i, f := range all {
		slices.SortFunc(f.Operations, func(a, b web.Operation) int { return strings.Compare(a.ID, b.ID) })
		list[i] = *f
	}
	p, err := x.Site().Reference(list)
	return x.Show(http.StatusOK, p, err)
}

func told(d *engine.OpDoc) web.Operation {
	o := web.Operation{ID: d.ID, Label: d.Label, Description: d.Description, Aliases: d.Aliases, Deprecated: d.Deprecated.Since, Instead: d.Deprecated.Instead}
	for i := 0; i+1 < len(d.Signature); i += 2 {
		o.Signature = append(o.Signature, web.Step{In: d.Signature[i], Out: d.Signature[i+1]})
	}
	for _, p := range d.Params {
		o.Params = append(o.Params, web.Parameter{Name: p.Name, Type: p.Type, Description: p.Description, Required: p.Required, Secret: p.Secret, Values: p.Values})
	}
	return o
}

// seeIcon leads to the icon of all types and renditions: entities name one for each.
func seeIcon(x *rest.Request) error { return x.See(web.Assets() + "icon.svg") }
