// Package route is the table of the deck service's addresses. The server routes by it and makes calls and answers of it;
// the descriptions of the service describe it.
//
// A row names method, path, operation, parameters, body and status. rest/server turns rows into routes and
// rest/deck runs them, so a new address of the service needs no code outside of this table unless its answer
// is not JSON.
package route

import (
	"strings"

	"catena/decks/field"
)

// Route is an address of the deck service with the operation that it runs.
type Route struct {
	In               field.Revision // of the specification; 0: in neither
	Method, Path, ID string         // parts of the path in braces vary, and are parameters of the operation
	Op, Summary      string

	Sends    string // further parameters that the operation takes from the request: base, revision, ifMatch, ifNoneMatch
	Query    string // parameters of the query, which are the operation's as well
	Body     string // schema of a JSON body; "": there is none
	Members  string // of the body that become parameters, "name" or "name:parameter"; "": all of it is the parameter fields
	Texts    string // media types of bodies besides JSON
	Pictures bool   // the body is a picture

	Result   string // schema of the data in the answer; "": none
	List     bool   // the data is a list of them
	Files    string // media types of answers that are not JSON
	Status   int    // of the answer
	Location string // address of what was made; members of the data in braces
	Errors   string // statuses of errors besides 401, 404 and 429
	Open     bool   // nobody need sign in
}

// Exports stands for the media types of all formats to which decks are exported.
const Exports = "exports"

// Segment is a part of a path that varies.
type Segment struct {
	Name  string
	Param string // parameter of the operation
	Text  bool   // it is not a number
}

// texts are the segments that are not numbers, and the parameters that they become.
var texts = map[string]string{"delivery": "delivery", "username": "username", "version": "version", "webhook": "id"}

// Segments are the parts of the path that vary.
func (r *Route) Segments() (all []Segment) {
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			s := Segment{Name: strings.TrimSuffix(name, "}")}
			if s.Param, s.Text = texts[s.Name]; !s.Text {
				s.Param = s.Name
			}
			all = append(all, s)
		}
	}
	return all
}
