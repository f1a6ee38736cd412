package questions

import (
	"encoding/json"
	"fmt"
	"time"
)

// declared are the types as a user would declare them: an index for each property that people filter by, and a few over
// several fields for the lists that everybody opens.
const declared = `
schemas:
  invoice:
    fields:
      number: {type: string, index: true}
      supplier: {type: string, index: true}
      status: {type: string, index: true}
      priority: {type: long, index: true}
      rank: {type: long, index: true}
      amount: {type: double, index: true}
      currency: string
      due: {type: date, index: true}
      paid: date
  photo:
    fields:
      taken: {type: date, index: true}
      camera: {type: string, index: true}
      rating: {type: long, index: true}
      tags: {type: "string[]", index: true}
      place: {type: complex, fields: {country: {type: string, index: true}, city: string}}
  contract:
    fields:
      party: {type: string, index: true}
      kind: string
      owner: {type: string, index: true}
      value: {type: double, index: true}
      begin: date
      end: {type: date, index: true}
  wiki:
    fields:
      labels: {type: "string[]", index: true}
      summary: string
types:
  Invoice:
    parent: File
    schemas: [invoice]
    indexes: [[invoice:status, invoice:due]]
  Photo:
    parent: File
    schemas: [photo]
    indexes: [[photo:tags, photo:taken desc], [dc:title], [ecm:parentId, dc:title]]
  Contract: {parent: File, schemas: [contract]}
  WikiPage: {parent: Note, schemas: [wiki]}
`

// answer is how many documents a folder has, and how many have the same value where values are many: so many that the
// answers are as large in every repository.
const answer = 60

// An area is a quarter of a repository.
type area struct{ folder, typ, schema string }

var areas = []area{{"invoices", "Invoice", "invoice"}, {"photos", "Photo", "photo"}, {"contracts", "Contract", "contract"}, {"wiki", "WikiPage", "wiki"}}

// tops is how many folders an area has below its own. The folders of documents are in these.
const tops = 5

// sized is the content of a repository with a number of documents.
type sized int

// leaves is how many folders with documents an area has.
func (n sized) leaves() int { return max(tops, int(n)/len(areas)/answer) }

// path returns the folder of the documents of an area.
func (a area) path(leaf int) string { return fmt.Sprintf("%s/top%d/f%d", a.top(), leaf%tops, leaf) }

func (a area) top() string { return "/default-domain/workspaces/" + a.folder }

// blocked reports whether only one group may read a folder, and which.
func blocked(leaf int) (group string, ok bool) { return groupName(leaf / 5), leaf%5 == 4 }

// Users are in a few of the groups.
const (
	users  = 500
	groups = 50
)

func groupName(i int) string { return fmt.Sprint("g", i%groups) }

// groupsOf returns the groups of a user.
func groupsOf(user int) []string {
	return []string{"members", groupName(user), groupName(user * 7), groupName(user*11 + 3), groupName(user*13 + 5), groupName(user*17 + 8)}
}

// mix spreads numbers; each salt gives another property.
func mix(i, salt int) int {
	x := uint64(i)*0x9E3779B97F4A7C15 + uint64(salt)*0xD1B54A32D192ED03
	x ^= x >> 29
	x *= 0xBF58476D1CE4E5B9
	return int((x ^ x>>32) >> 1)
}

var (
	firstDay  = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	statuses  = []string{"draft", "open", "open", "open", "approved", "approved", "paid", "paid", "paid", "paid"}
	tags      = []string{"beach", "city", "family", "food", "forest", "mountain", "night", "party", "sunset", "winter"}
	cameras   = []string{"Canon EOS 5", "Canon R6", "Nikon Z6", "Pixel 9", "Sony A7"}
	countries = []string{"AT", "CH", "DE", "FR", "IT"}
	labels    = []string{"build", "design", "howto", "ops", "people"}
	parties   = []string{"Acme", "Borealis", "Cygnus", "Dorado", "Equuleus"}
	starts    = []string{"How to", "Notes on", "Minutes of", "Plan for", "Why we have", "Review of", "Design of", "Guide to", "History of", "List of"}
)

const prose = "The text that people write below the title, with what was agreed, who was asked, and where the papers are. "

func instant(i, salt, days int) time.Time {
	return firstDay.Add(time.Duration(mix(i, salt)%(days*24*60)) * time.Minute)
}

// record is the i-th document of a repository.
type record struct {
	area  int
	leaf  int
	name  string
	props map[string]any
}

// record makes the i-th document.
func (n sized) record(i int) record {
	a, j := i%len(areas), i/len(areas)
	many := n.leaves() // values of which each has answer documents
	r := record{area: a, leaf: mix(j, 1) % many, name: fmt.Sprintf("d%07d", j)}
	day := func(salt, days int) string { return instant(j, salt, days).Format(time.RFC3339) }
	switch areas[a].folder {
	case "invoices":
		status := statuses[mix(j, 2)%len(statuses)]
		r.props = map[string]any{
			"dc:title": fmt.Sprintf("Invoice %07d", mix(j, 3)%1e7), "dc:description": prose,
			"invoice:number": number(j), "invoice:supplier": supplier(mix(j, 4) % many), "invoice:status": status,
			"invoice:priority": mix(j, 5) % 10, "invoice:rank": mix(j, 6) % 1e9, "invoice:amount": float64(mix(j, 7)%1e6) / 100,
			"invoice:currency": []string{"CHF", "EUR", "USD"}[mix(j, 8)%3], "invoice:due": day(9, 1000),
		}
		if status == "paid" {
			r.props["invoice:paid"] = day(10, 1000)
		}
	case "photos":
		t := mix(j, 2)
		r.props = map[string]any{
			"dc:title": fmt.Sprintf("Photo %07d", mix(j, 3)%1e7), "dc:description": prose, "photo:taken": day(4, 3000),
			"photo:camera": cameras[mix(j, 5)%len(cameras)], "photo:rating": mix(j, 6) % 6,
			"photo:tags":  []string{tags[t%10], tags[(t+1+t/10%3)%10], tags[(t+5)%10]},
			"photo:place": map[string]any{"country": countries[mix(j, 7)%len(countries)], "city": fmt.Sprint("city ", mix(j, 8)%100)},
		}
	case "contracts":
		r.props = map[string]any{
			"dc:title": fmt.Sprintf("Contract %07d", mix(j, 3)%1e7), "dc:description": prose, "contract:begin": day(2, 500),
			"contract:party": fmt.Sprint(parties[mix(j, 4)%len(parties)], " ", mix(j, 5)%40), "contract:kind": []string{"lease", "sale", "service"}[mix(j, 6)%3],
			"contract:owner": owner(mix(j, 7) % many), "contract:value": float64(mix(j, 8)%1e8) / 100,
		}
		if mix(j, 9)%10 > 2 {
			r.props["contract:end"] = day(10, 3000)
		}
	default:
		l := mix(j, 2)
		r.props = map[string]any{
			"dc:title": fmt.Sprintf("%s %07d", starts[mix(j, 3)%len(starts)], mix(j, 4)%1e7), "dc:description": prose, "note:note": prose + prose,
			"wiki:labels": []string{labels[l%5], labels[(l+1+l/5%4)%5]}, "wiki:summary": prose[:40],
		}
	}
	return r
}

func number(j int) string   { return fmt.Sprintf("INV-%07d", j) }
func supplier(i int) string { return fmt.Sprint("supplier ", i) }
func owner(i int) string    { return fmt.Sprint("owner", i) }

// line is a record as the bulk loader takes it.
func (r record) line() []byte {
	a := areas[r.area]
	b, err := json.Marshal(map[string]any{"type": a.typ, "parent": a.path(r.leaf), "name": r.name, "properties": r.props})
	if err != nil {
		panic(err) // a map of texts and numbers
	}
	return append(b, '\n')
}
