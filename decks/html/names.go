package html

import "strings"

// trait is what is known of the name of an element or an attribute.
type trait uint16

const (
	allowed   trait = 1 << iota
	swallowed       // of elements: the content is text to a browser, and goes with them
	dangerous       // of elements: may not even stand in a template
	address         // of attributes: a browser or the framework follows it
	drawn           // of elements: stands in drawings alone
	formula         // of elements: stands in formulas alone
	empty           // of elements: has no content and no end
	careful         // of elements: its start may end others
	closing         // of elements: its end is also that of paragraphs and items in it
)

// names are the traits of names.
type names map[string]trait

// are gives the names in texts, separated by blanks, a trait.
func (n names) are(t trait, texts ...string) names {
	for _, text := range texts {
		for name := range strings.FieldsSeq(text) {
			n[name] |= t
		}
	}
	return n
}

// effects are the elements of filters of drawings; feImage, which loads a picture, is none of them.
const effects = `feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting fedisplacementmap
	fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur femerge femergenode femorphology feoffset
	fepointlight fespecularlighting fespotlight fetile feturbulence filter`

// elements are those a deck may use. What is not allowed loses its tags, and with some its
// content.
var elements = names{}.are(allowed,
	`a abbr acronym address area article aside audio b bdi bdo big blockquote br button canvas caption center cite code col colgroup
	data dd del details dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img
	ins kbd label legend li main map mark menu meter nav ol output p picture pre progress q rp rt ruby s samp script section small
	source span strike strong style sub summary sup table tbody td tfoot th thead time title tr track tt u ul var video wbr`,
	`circle clippath defs desc ellipse g image line lineargradient marker mask metadata mpath path pattern polygon polyline
	radialgradient rect stop svg switch symbol text textpath tspan use view animate animatemotion animatetransform foreignobject set`,
	effects,
	`math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms
	mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics`,
).are(swallowed, `iframe noembed noframes noscript plaintext script style textarea title xmp`).are(dangerous,
	`applet base embed form frame frameset link meta noembed noframes noscript object plaintext portal script template
	textarea xmp animate animatemotion animatetransform set foreignobject annotation-xml handler listener`,
).are(drawn, `circle clippath defs ellipse g line lineargradient marker mask metadata mpath path pattern polygon polyline
	radialgradient rect stop svg switch symbol text textpath tspan use view animate animatemotion animatetransform foreignobject set`,
	effects,
).are(formula, `maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms
	mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics`,
).are(empty, `area br col hr img source track wbr`).are(careful, `a button caption colgroup dd dt h1 h2 h3 h4 h5 h6 li p rp rt tbody td tfoot th thead tr`).are(closing, `address article aside blockquote button center dd details dir div dl dt fieldset figcaption figure footer header hgroup li main
	menu nav ol pre section summary table tbody td tfoot th thead tr ul`,
)

// reserved are the attributes that scripts of the presentation framework leave behind, and by which they pass over an element.
var reserved = map[string]bool{"data-markdown-parsed": true}

// attributes are what elements may say about themselves, besides aria-* and other data-*, which mean something to scripts alone.
var attributes = names{}.are(allowed,
	`abbr align allow allowfullscreen alt autoplay axis bgcolor border cellpadding cellspacing char charoff cite class color cols
	colspan contenteditable coords controls crossorigin datetime decoding default dir disabled face frameborder headers height high hspace id ismap
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
	`amplitude azimuth basefrequency bias diffuseconstant divisor edgemode elevation exponent filter filterunits flood-color flood-opacity
	in in2 intercept k1 k2 k3 k4 kernelmatrix lighting-color limitingconeangle mode numoctaves operator order pointsatx pointsaty
	pointsatz primitiveunits radius result scale seed slope specularconstant specularexponent stddeviation stitchtiles surfacescale
	systemlanguage tablevalues targetx targety xchannelselector ychannelselector z`,
	`accumulate additive attributename attributetype begin by calcmode dur end from keypoints keysplines keytimes origin
	repeatcount repeatdur restart to values`,
	`accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form
	framespacing linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation
	rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset`,
	// data-* of the presentation framework and of its editor
	`data-animation-type data-attributes data-auto-animate data-auto-animate-delay data-auto-animate-duration data-auto-animate-easing
	data-auto-animate-id data-auto-animate-restart data-auto-animate-unmatched data-auto-slide data-autoplay
	data-autoslide data-background data-background-color data-background-gradient data-background-hash
	data-background-iframe data-background-image data-background-interactive data-background-opacity
	data-background-position data-background-repeat data-background-size data-background-transition data-background-video
	data-background-video-loop data-background-video-muted data-block-anim data-block-id data-block-lock data-block-type
	data-charset data-code-frame data-crop-height data-crop-width data-crop-x data-crop-y data-element-attributes
	data-exclude-media-controls data-fragment-index data-has-letter-spacing data-has-line-height data-highlight-theme
	data-id data-ignore data-inline-svg data-lang data-language data-layout-method data-lazy-loaded data-line-color
	data-line-end-type data-line-height data-line-numbers data-line-start-type data-line-style data-line-width
	data-line-x1 data-line-x2 data-line-y1 data-line-y2 data-ln-start-from data-loaded data-markdown data-menu-title
	data-muted data-name data-natural-height data-natural-width data-noescape data-notes data-placeholder-tag
	data-placeholder-text data-prevent-swipe data-preview-fit data-preview-image data-preview-link data-preview-video
	data-preload data-separator data-separator-notes data-separator-vertical data-shape-corner-radius
	data-shape-fill-color data-shape-stretch data-shape-stroke-color data-shape-stroke-width data-shape-type
	data-slide-name data-src data-state data-table-border-color data-table-border-width data-table-cols
	data-table-has-header data-table-padding data-table-rows data-template data-text-content data-timing data-transition
	data-transition-speed data-trim data-uncounted data-viewbox data-visibility`,
).are(address,
	`href xlink:href src poster cite srcset data-src data-background data-background-image data-background-video
	data-background-iframe data-preview-link data-preview-image data-preview-video data-markdown`,
)
