package web

// Family is a part of the reference of operations: those of one category.
type Family struct {
	Name       string
	Operations []Operation
}

// Operation is an operation as its reference shows it.
type Operation struct {
	ID, Label, Description string
	Aliases                []string
	Deprecated, Instead    string // the day since when, and the operation to use; "": it is not, and there is none
	Signature              []Step
	Params                 []Parameter
}

// Step is one function of an operation: what goes in, what comes out.
type Step struct{ In, Out string }

// Parameter is a parameter as the reference shows it.
type Parameter struct {
	Name, Type, Description string
	Required, Secret        bool
	Values                  []string
}

// Reference describes all operations.
func (s Site) Reference(all []Family) (*Page, error) {
	return (&view{Site: s, Title: "Reference of operations", Families: all}).render("reference.html", framePolicy)
}
