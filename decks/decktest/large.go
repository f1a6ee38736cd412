package decktest

import (
	"fmt"
	"strings"
)

// Many is the HTML of a deck with so many slides.
func Many(slides int) string {
	var b strings.Builder
	for i := range slides {
		fmt.Fprintf(&b, "<section><h2>Slide %d</h2><ul><li>one</li><li class=\"fragment\">two</li></ul></section>\n", i+1)
	}
	return b.String()
}

// Heavy is the HTML of a deck of so many bytes, on 200 slides.
func Heavy(size int) string {
	const slides, head, foot, word = 200, "<section><h2>Heavy</h2><p>", "</p></section>\n", "plenty of text to read "
	text := strings.Repeat(word, size/slides/len(word)+1)[:size/slides-len(head)-len(foot)]
	return strings.Repeat(head+text+foot, slides)
}
