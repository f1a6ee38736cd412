package decks

import (
	"regexp"
	"strings"
)

// words makes a set of what stands in the texts, separated by blanks.
func words(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, w := range strings.Fields(text) {
			set[w] = true
		}
	}
	return set
}

// elements are the elements a deck may use. What is not among them loses its tags, and
// with some (see swallowed) its content.
var elements = words(
	`a abbr address article aside audio b bdi bdo blockquote br button caption center cite code col colgroup data dd del
	details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img ins kbd label li
	main mark nav ol p picture pre q rp rt ruby s samp script section small source span strike strong style sub summary sup
	table tbody td tfoot th thead time title tr track tt u ul var video wbr`,
	`circle clippath defs desc ellipse g image line lineargradient marker mask path pattern polygon polyline radialgradient
	rect stop svg symbol text textpath tspan use`,
	`math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms
	mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics`,
)

// swallowed are the elements whose content is text to a browser: they go with it.
var swallowed = words(`iframe noembed noframes noscript plaintext script style textarea title xmp`)

// attributes are what elements may say about themselves, besides aria-*.
var attributes = words(
	`abbr align allow allowfullscreen alt autoplay axis bgcolor border cellpadding cellspacing char charoff cite class color cols
	colspan contenteditable controls crossorigin datetime decoding default dir disabled face frameborder headers height high hspace id ismap
	kind label lang loading loop low marginheight marginwidth max media min muted name noshade nowrap open optimum playsinline poster preload rel
	reversed role rowspan rules sandbox scope scrolling shape size sizes span src srclang srcset start style summary tabindex target title
	translate type usemap valign value volume vspace width xmlns xmlns:xlink xml:lang xml:space href xlink:href`,
	`alignment-baseline baseline-shift clip-path clip-rule clippathunits cx cy d dominant-baseline dx dy fill fill-opacity
	fill-rule font-family font-size font-style font-variant font-weight fx fy gradienttransform gradientunits
	letter-spacing marker-end marker-mid marker-start markerheight markerunits markerwidth mask maskcontentunits maskunits
	offset opacity orient overflow paint-order pathlength patterncontentunits patterntransform patternunits points
	preserveaspectratio r refx refy rotate rx ry spreadmethod stop-color stop-opacity stroke stroke-dasharray
	stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor
	text-decoration textlength transform transform-origin vector-effect version viewbox visibility word-spacing
	writing-mode x x1 x2 y y1 y2`,
	`accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form
	framespacing linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation
	rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset`,
)

// dataNames are the data-* attributes of the presentation framework and of its editor.
var dataNames = words(
	`animation-type auto-animate auto-animate-delay auto-animate-duration auto-animate-easing auto-animate-id
	auto-animate-restart auto-animate-unmatched auto-slide autoplay autoslide background background-color
	background-gradient background-hash background-iframe background-image background-interactive background-opacity
	background-position background-repeat background-size background-transition background-video background-video-loop
	background-video-muted block-anim block-id block-lock block-type charset code-frame crop-height crop-width crop-x
	crop-y element-attributes exclude-media-controls fragment-index has-letter-spacing has-line-height highlight-theme id
	ignore inline-svg lang language layout-method lazy-loaded line-color line-end-type line-height line-numbers
	line-start-type line-style line-width line-x1 line-x2 line-y1 line-y2 ln-start-from loaded markdown menu-title muted
	name natural-height natural-width noescape notes placeholder-tag placeholder-text prevent-swipe preview-fit
	preview-image preview-link preview-video preload separator separator-notes separator-vertical shape-corner-radius
	shape-fill-color shape-stretch shape-stroke-color shape-stroke-width shape-type slide-name src state
	table-border-color table-border-width table-cols table-has-header table-padding table-rows template text-content
	timing transition transition-speed trim uncounted viewbox visibility`,
)

// addresses are the attributes that a browser or the framework follows.
var addresses = words(
	`href xlink:href src poster cite srcset data-src data-background data-background-image data-background-video
	data-background-iframe data-preview-link data-preview-image data-preview-video data-markdown`,
)

// schemes are what addresses may begin with; images may also carry their data.
var schemes = words(`http https mailto tel`)

var (
	imageData = regexp.MustCompile(`^data:image/(?:png|jpe?g|gif|webp|avif|bmp|x-icon)[;,]`)
	mediaData = regexp.MustCompile(`^data:(?:audio|video)/[a-z0-9.+-]+[;,]`)
	cssDanger = regexp.MustCompile(`expression\s*\(|javascript:|vbscript:|-moz-binding|behavior\s*:|@import|<`)
	cssURL    = regexp.MustCompile(`url\s*\(\s*["']?\s*([^"')]*)`)
	cssEscape = regexp.MustCompile(`\\[0-9a-f]{1,6}\s?|\\|/\*.*?\*/`)
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
	if imageData.MatchString(s) || mediaData.MatchString(s) {
		return true
	}
	i := strings.IndexAny(s, ":/?#")
	return i < 0 || s[i] != ':' || schemes[s[:i]]
}

// harmlessURLs is harmlessURL for attributes that may list several.
func harmlessURLs(s string) bool {
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

// harmlessCSS reports whether a style sheet or declaration loads and runs nothing but
// harmless addresses.
func harmlessCSS(s string) bool {
	plain := strings.ToLower(s)
	if bare := cssEscape.ReplaceAllString(plain, ""); cssDanger.MatchString(plain) || cssDanger.MatchString(bare) ||
		cssEscape.MatchString(plain) && strings.Contains(bare, "url") {
		return false
	}
	for _, m := range cssURL.FindAllStringSubmatch(plain, -1) {
		if !harmlessURL(m[1]) {
			return false
		}
	}
	return true
}

// allowedAttribute reports whether an element may carry an attribute with a value, both as
// a browser understands them.
func allowedAttribute(element, name, value string) bool {
	data, isData := strings.CutPrefix(name, "data-")
	switch {
	case isData && !dataNames[data]:
		return false
	case !isData && !attributes[name] && !strings.HasPrefix(name, "aria-"):
		return false
	case name == "style":
		return harmlessCSS(value)
	case strings.HasPrefix(name, "xmlns"):
		return value == "http://www.w3.org/2000/svg" || value == "http://www.w3.org/1999/xlink" || value == "http://www.w3.org/1998/Math/MathML"
	case name == "type" && element == "script":
		return strings.EqualFold(strings.TrimSpace(value), templateType)
	case element == "use" && (name == "href" || name == "xlink:href"):
		return !strings.Contains(squeezed(value), ":")
	case element == "iframe" && name == "src", name == "data-background-iframe":
		u := squeezed(value)
		return strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://")
	case addresses[name]:
		return harmlessURLs(value)
	}
	return !strings.Contains(squeezed(value), "url(javascript:")
}
