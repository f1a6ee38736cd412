//go:build !race

package html

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"catena/decks/decktest"
)

// TestViewerRandom shows Markdown put together at random: some thousands, or so many seconds' worth as CATENA_VIEWER says.
func TestViewerRandom(t *testing.T) {
	v := newViewer(t)
	seed := uint64(time.Now().UnixNano())
	until, _ := time.ParseDuration(os.Getenv("CATENA_VIEWER"))
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated
	end, n := time.Now().Add(until), 0
	for ; (n < 2000 || time.Now().Before(end)) && !t.Failed(); n++ {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		switch r.IntN(4) {
		case 0:
			v.harmless(t, `<section data-markdown>`+text+`</section>`)
		case 1:
			v.harmless(t, `<section><div data-markdown>`+strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)+`</div></section>`)
		default:
			v.harmless(t, `<section data-markdown`+[]string{"", ` data-separator="---"`, ` data-separator="^\n\n\n" data-separator-vertical="^\n\n"`}[r.IntN(3)]+`><script type="text/template">`+text+`</script></section>`)
		}
	}
	t.Logf("%d shown, seed %d", n, seed)
	for _, attack := range decktest.Some(decktest.Attacks()) {
		v.harmless(t, `<section data-markdown><script type="text/template">`+decktest.Arm(attack, "x", "http://canary.example")+`</script></section>`)
	}
}
