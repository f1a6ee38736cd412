package frontend

import (
	"bytes"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"strings"

	"catena/storage/fault"
)

// settingsFile is where an administrator changes the settings of a build, beside mainFile.
const settingsFile = "catena.json"

// settings are what the platform's server tells its front end.
type settings struct {
	// Product is the name in the titles of pages.
	Product string `json:"product"`
	// Bundles are the addons that the front end loads: names of scripts without .bundle.js, or of pages with .html.
	Bundles []string `json:"bundles"`
	// Config are the platform's own settings, those whose names begin with "org.nuxeo.web.ui" there.
	Config map[string]any `json:"config"`
}

// standard are the settings if nothing is configured.
func standard() settings {
	text := func(name, value string) map[string]any { return map[string]any{name: value} }
	return settings{Product: "catena", Bundles: []string{}, Config: map[string]any{
		"enrichers": map[string]any{
			"document": []string{
				"hasContent", "firstAccessibleAncestor", "permissions", "breadcrumb", "preview", "favorites", "subscribedNotifications", "thumbnail",
				"renditions", "pendingTasks", "runnableWorkflows", "runningWorkflows", "collections", "audit", "subtypes", "tags", "publications",
			},
			"blob": []string{"appLinks", "preview"},
		},
		"fetch": map[string]any{"document": []string{"properties"}}, "dateFormat": "LL", "dateTimeFormat": "LLL", "firstDayOfWeek": "",
		"s3": text("useDirectUpload", "false"), "url": text("followRedirect", "false"), "listingMaxItems": "10000",
		"analytics": map[string]any{"documentDistribution": text("disableThreshold", "")}, "selection": text("selectAllEnabled", "false"),
		"user":       map[string]any{"management": map[string]any{"fetch": map[string]any{"document": []string{}}}},
		"pagination": map[string]any{"nuxeoSelectOptions": text("listingMaxItems", "1000")}, "trustedDomains": "",
	}}
}

// readSettings returns the standard settings with what the settings file of a build changes.
func readSettings(files fs.FS) (settings, error) {
	s := standard()
	body, err := fs.ReadFile(files, settingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var own settings
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&own); err != nil {
		return s, fault.Invalid.Errorf("%s: %w", settingsFile, err)
	}
	for _, name := range own.Bundles {
		file := name
		if path.Ext(name) != ".html" {
			file += ".bundle.js"
		}
		if _, err := fs.Stat(files, file); err != nil {
			return s, fault.Invalid.Errorf("%s: bundles: no file %s in the build", settingsFile, file)
		}
		s.Bundles = append(s.Bundles, name)
	}
	if own.Product != "" {
		s.Product = own.Product
	}
	merge(s.Config, own.Config)
	return s, nil
}

// merge puts the values of from into to, within objects that both have.
func merge(to, from map[string]any) {
	for name, v := range from {
		inner, ok := v.(map[string]any)
		if have, both := to[name].(map[string]any); ok && both {
			have = maps.Clone(have)
			merge(have, inner)
			v = have
		}
		to[name] = v
	}
}

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang=""><head><meta charset="utf-8"><title>{{.Product}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="shortcut icon" href="favicon.ico">
<link rel="stylesheet" href="index.css"></head>
<body>
<nuxeo-connection url="{{.Context}}" repository-name="{{.Repository}}" method="form"></nuxeo-connection>
<nuxeo-app base-url="{{.Base}}" product-name="{{.Product}}" unresolved>
<div id="sidebar"></div><div id="container"><div id="toolbar"></div><span id="loading"></span></div></nuxeo-app>
<script src="vendor/webcomponentsjs/webcomponents-loader.js"></script>
<script src="vendor/html-imports/html-imports.min.js"></script>
<script src="vendor/web-animations/web-animations-next-lite.min.js"></script>
<script src="config.jsp"></script>
<script src="main.bundle.js"></script>
</body></html>
`))

// page is the page that starts the front end on a repository.
func (h *handler) page(repository, base string) []byte {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, struct{ Context, Base, Repository, Product string }{h.context, base, repository, h.settings.Product}); err != nil {
		panic(err) // the template is a constant
	}
	return b.Bytes()
}

// configuration is the script that tells the front end its settings.
func (h *handler) configuration() []byte {
	type repository struct {
		Name    string `json:"name"`
		Label   string `json:"label"`
		Href    string `json:"href"`
		Default bool   `json:"isDefault"`
	}
	bundles, repositories := []string{}, []repository{}
	for _, name := range h.settings.Bundles {
		if strings.HasSuffix(name, ".html") {
			name = h.context + "/ui/" + name
		}
		bundles = append(bundles, name)
	}
	for i, name := range h.repositories {
		repositories = append(repositories, repository{name, "label." + name + ".repository", h.context + "/repo/" + name + "/ui/", i == 0})
	}
	var b bytes.Buffer
	b.WriteString("var Nuxeo = Nuxeo || {};\nNuxeo.UI = Nuxeo.UI || {};\n")
	for _, part := range []struct {
		name  string
		value any
	}{{"config", h.settings.Config}, {"bundles", bundles}, {"repositories", repositories}} {
		text, err := json.Marshal(part.value)
		if err != nil {
			panic(err) // it was JSON before
		}
		b.WriteString("Nuxeo.UI." + part.name + " = " + string(text) + ";\n")
	}
	return b.Bytes()
}
