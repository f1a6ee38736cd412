package web

// Kind is a kind of error as the page about them shows it.
type Kind struct {
	Name, Meaning string
	Status        Status
	DeckStatus    Status // what the deck service answers, if that is another one
	Passes        bool   // trying again may help
}

// Code is a word that says more of an error than its kind.
type Code struct {
	Name         string
	Kinds        []string
	Statuses     []Status // that are answered: of each kind, and of the deck service where it is another one
	When, Remedy string
}

// Status is a status of HTTP.
type Status struct {
	Number int
	Text   string
}

// Problems describes the errors there are. The page is the same for everybody.
func (s Site) Problems(kinds []Kind, codes []Code) (*Page, error) {
	return (&view{Site: Site{Prefix: s.Prefix}, Title: "Errors", Kinds: kinds, Codes: codes}).render("problems.html", framePolicy)
}
