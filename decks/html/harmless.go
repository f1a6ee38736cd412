package html

import (
	"slices"
	"strings"

	"catena/storage/lazy"
)

// schemes are what addresses may begin with; images may also carry their data.
var schemes = names{}.are(allowed, `http https mailto tel`)

var (
	imageData = lazy.Regexp(`^data:image/(?:png|jpe?g|gif|webp|avif|bmp|x-icon)[;,]`)
	mediaData = lazy.Regexp(`^data:(?:audio|video)/[a-z0-9.+-]+[;,]`)
)

// squeezed is text as a browser reads a scheme: without blanks and controls, in lower case.
func squeezed(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r >= 0x80 && r <= 0xa0 || r == 0xad || r >= 0x200b && r <= 0x200f || r == 0xfeff {
			return -1
		}
		return r
	}, s))
}

// harmlessURL reports whether following an address can run nothing.
func harmlessURL(s string) bool {
	s = squeezed(s)
	if imageData().MatchString(s) || mediaData().MatchString(s) {
		return true
	}
	i := strings.IndexAny(s, ":/?#")
	return i < 0 || s[i] != ':' || schemes[s[:i]] != 0
}

// harmlessURLs is harmlessURL for attributes that may list several.
func harmlessURLs(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || (scheme == "https" || scheme == "http") && strings.IndexByte(rest, ':') < 0 {
		return true // in this server, or one plain address somewhere else
	}
	if strings.Contains(squeezed(s), "data:") {
		s = strings.TrimSpace(s)
		return harmlessURL(s) && !strings.Contains(squeezed(s), "script:")
	}
	for item := range strings.SplitSeq(s, ",") {
		if !harmlessURL(item) {
			return false
		}
	}
	return true
}

// namespaces are the values that an xmlns attribute may have.
var namespaces = []string{"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/1998/Math/MathML"}

// allowedAttribute reports whether an element may carry an attribute with a value. Both names are
// in the form in which a browser understands them.
func allowedAttribute(element, name, value string) bool {
	traits := attributes[name]
	switch {
	case traits == 0 && strings.HasPrefix(name, "data-"):
		return !reserved[name] && strings.Trim(name, letters+"_.") == "" && !scripted(value)
	case traits&allowed == 0 && !strings.HasPrefix(name, "aria-"):
		return false
	case name == "style":
		return HarmlessCSS(value)
	case strings.HasPrefix(name, "xmlns"):
		return slices.Contains(namespaces, value)
	case name == "type" && element == "script":
		return isTemplateType(value) || texType().MatchString(value)
	case name == "attributename":
		return animated(value)
	case (element == "use" || element == "mpath" || motions[element]) && (name == "href" || name == "xlink:href"):
		return strings.IndexByte(value, ':') < 0
	case element == "iframe" && name == "src", name == "data-background-iframe":
		u := squeezed(value)
		return strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://")
	case traits&address != 0:
		return harmlessURLs(value)
	}
	return strings.IndexByte(value, '(') < 0 || !strings.Contains(squeezed(value), "url(javascript:")
}

// motions are the elements that change attributes of others in time.
var motions = map[string]bool{"animate": true, "animatemotion": true, "animatetransform": true, "set": true}

// animated reports whether an attribute may change in time: not one that leads somewhere or has a syntax of its own.
func animated(name string) bool {
	traits := attributes[strings.ToLower(strings.TrimSpace(name))]
	return traits&allowed != 0 && traits&address == 0 && !strings.EqualFold(strings.TrimSpace(name), "style")
}

// harmlessAnywhere reports whether an attribute of any element cannot act.
func harmlessAnywhere(a attribute) bool {
	switch {
	case strings.HasPrefix(a.name, "on"), a.name == "srcdoc", a.name == "formaction", a.name == "action", a.name == "ping",
		strings.Trim(a.name, letters+"_.") != "":
		return false
	case a.name == "style":
		return HarmlessCSS(a.value)
	}
	return fenceIn(a.value) < 0 && !scripted(a.value)
}

// scripted reports whether an address that may run something stands anywhere in a value.
func scripted(value string) bool {
	v := strings.ReplaceAll(squeezed(value), `\`, "")
	return slices.ContainsFunc([]string{"javascript:", "vbscript:", "data:text/html", "data:image/svg", "data:application"},
		func(scheme string) bool { return strings.Contains(v, scheme) })
}
