package decks

import (
	"catena/storage/fault"
)

// templateType is that of the one kind of script that stays: text for Markdown and code.
const templateType = "text/template"

const (
	maxHTML    = 10 << 20
	maxSlides  = 1000
	maxNotes   = 10_000
	maxRemoved = 100 // reported
	maxPasses  = 8
	maxText    = 32 << 10 // bytes of the text that queries find a deck by
)

// cleanRules changes with the rules of what may stay, so that kept HTML is made harmless
// again by new ones.
const cleanRules = "1"

// sanitize returns HTML with everything taken out that could act, and says what that was.
// What stays keeps its bytes. Anything but sections at the top level is refused, with its
// place. Cleaning what came out changes nothing.
func sanitize(src string) (clean string, removed []string, err error) {
	if len(src) > maxHTML {
		return "", nil, fault.Limit.Errorf("HTML: %d bytes, limit %d", len(src), maxHTML).WithCode("too_long")
	}
	clean = src
	for pass := range maxPasses {
		f := newFilter(clean)
		if err := f.run(); err != nil {
			return "", nil, err
		}
		if pass == 0 {
			removed = f.removed
		}
		out := f.out.String()
		if out == clean {
			return clean, removed, nil
		}
		clean = out
	}
	return "", nil, fault.Invalid.Errorf("HTML: cannot be made harmless").WithCode("invalid_html").At(1, 1)
}
