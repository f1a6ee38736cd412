package directory

import (
	"encoding/json"
	"strings"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
)

// TestSuggest checks the tree that widgets get.
func TestSuggest(t *testing.T) {
	type item struct {
		Label    string `json:"displayLabel"`
		ID       string `json:"id"`
		Computed string `json:"computedId"`
		Absolute string `json:"absoluteLabel"`
		Children []item `json:"children"`
	}
	var write func([]item) string
	write = func(list []item) string {
		var out []string
		for _, i := range list {
			s := i.Label
			if i.ID != "" {
				s += "=" + i.Computed + "=" + i.Absolute
			}
			if i.Children != nil {
				s += "(" + write(i.Children) + ")"
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	w := opstest.New(t)
	for _, x := range []struct {
		p    suggestEntriesParams
		want string
	}{
		{suggestEntriesParams{Directory: "nature", Term: "pre", Localize: true}, "Press review=pressReview=Press review"},
		{suggestEntriesParams{Directory: "nature", Term: "MÉ", Localize: true, Lang: "fr"}, "Mémo=memo=Mémo"},
		{suggestEntriesParams{Directory: "nature", Term: "MÉ", Localize: true, Lang: "fr", Case: true}, ""},
		{suggestEntriesParams{Directory: "l10nsubjects", Term: "arch", Columns: true}, "Art(Architecture=art/architecture=Art/Architecture)"},
		{suggestEntriesParams{Directory: "l10nsubjects", Term: "gastro", Columns: true}, "Daily life(Gastronomy=daily life/gastronomy=Daily life/Gastronomy)"},
		{suggestEntriesParams{Directory: "l10nsubjects", Term: "medi", Columns: true}, "Science(Medicine=sciences/medicine=Science/Medicine)"},
		{
			suggestEntriesParams{Directory: "l10ncoverage", Term: "allem", Columns: true, Lang: "fr", Parents: true, Key: ":", Separator: " > "},
			"Europe=europe=Europe(Allemagne=europe:Germany=Europe > Allemagne)",
		},
		{suggestEntriesParams{Directory: "country", Term: "zealand", Contains: true, Localize: true}, "Oceania(New Zealand=oceania/New_Zealand=Oceania/New Zealand)"},
		{suggestEntriesParams{Directory: "l10nsubjects", Term: "society", Columns: true, Above: true, Field: "label_{lang}", Limit: 1}, "Society=society=Society"},
		{suggestEntriesParams{Directory: "l10nsubjects", Term: "tech", Columns: true}, "Technology=technology=Technology"},
	} {
		p := x.p
		if p.Field == "" {
			p.Field = "label"
		}
		if p.Key == "" {
			p.Key, p.Separator = "/", "/"
		}
		if p.Limit == 0 {
			p.Limit = -1
		}
		w.Do("bob", func(c *engine.Ctx) error {
			b, err := p.run(c, engine.Void{})
			if err != nil {
				return err
			}
			body, err := b.Bytes(1 << 20)
			if err != nil {
				return err
			}
			var list []item
			if err := json.Unmarshal(body, &list); err != nil {
				return err
			}
			if got := write(list); got != x.want {
				t.Errorf("%s %q: %s, want %s", p.Directory, p.Term, got, x.want)
			}
			return nil
		})
	}
}
