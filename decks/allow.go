package decks

import "strings"

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

// dangerous are the elements that may not even stand in a template.
var dangerous = words(
	`applet base embed form frame frameset link meta noembed noframes noscript object plaintext portal script template
	textarea xmp animate animatemotion animatetransform set foreignobject annotation-xml handler listener`,
)
