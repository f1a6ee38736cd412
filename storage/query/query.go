// Package query parses the query language: SELECT columns FROM types WHERE condition ORDER BY fields. It parses text
// to a tree with positions, binds parameters as values, checks the tree against the registry of types, prints it, and
// decides whether one document matches. It does not know where documents live, which index answers a condition, or
// who may see a result: package storage plans and runs queries.
//
// Comparison follows SQL: with a value that is not set it is neither true nor false, and
// only what is true is selected. Text is equal if every letter is, its order (<, BETWEEN,
// ORDER BY) ignores case. On a list, a condition holds if one item meets it; the
// negated forms (<>, NOT IN, NOT LIKE) hold if no item meets the positive one.
//
// Parsing, checking and binding are separate steps, because a query is parsed once and cached (cache.go),
// checked against types that may have changed since, and bound for each execution. Match is the definition of
// what a query means: plans may find results by any index, and the tests compare them with it.
package query

import (
	"slices"
	"time"

	"catena/storage/schema"
)

// Limits of a query.
const (
	// MaxDepth bounds the recursion of the parser, of Walk and of Match; the other bounds limit
	// what one query can cost, since its text comes from any caller who may read.
	MaxLength     = 64 << 10 // bytes of its text, and of a pattern or search once bound
	MaxDepth      = 64       // levels of parentheses and NOTs
	MaxColumns    = 200      // columns after SELECT
	MaxTypes      = 1000     // types after FROM
	MaxConditions = 2000     // comparisons after WHERE
	MaxOrder      = 32       // fields after ORDER BY
	MaxList       = 10_000   // values of one IN once bound
	MaxValues     = 20_000   // values of all comparisons once bound
	MaxTerms      = 500      // words and phrases of a fulltext search
)

// Pos is a position in the query's text, counted from 1; zero in what was not parsed.
type Pos struct{ Line, Column int }

// Select is a parsed query. A value of it is shared by everyone who runs the same text:
// Bind, At and Sorted return changed copies.
type Select struct {
	Distinct bool
	Columns  []Column // none: whole documents (*)
	From     []Name   // types, any of them
	Where    Expr     // nil: everything
	Order    []Order
	Limit    int64 // -1: none
	Offset   int64

	// Set by Parse and shared by all clones, so it must not be appended to later.
	correlated []string // wildcards with a number, which stand for one position everywhere
}

// Name is a type after FROM.
type Name struct {
	Pos
	Text string
}

// Column is what a query returns of each document.
type Column struct {
	Pos
	Aggregate string // "", or COUNT, MIN, MAX, SUM, AVG over all results
	Distinct  bool   // COUNT(DISTINCT x)
	Field     *Field // nil: COUNT(*)
}

// Order is an item of ORDER BY.
type Order struct {
	Field *Field
	Desc  bool
}

// Field is a property or a system field ("ecm:uuid"). Check fills what follows Name.
// Before Check only Name is set. System decides first: Prop and Rest mean something only for a
// Property, Prop also for a full text search in one field, and Rest for the access lists.
type Field struct {
	Pos
	Name string

	System System        // what a field of the document itself means, or Property
	Kind   schema.Kind   // of the value compared, of an item if there are many
	Many   bool          // has any number of values
	Prop   *schema.Field // the property the path starts with
	Rest   schema.Path   // what remains of the path inside Prop
}

// Expr is a condition: *Logic, *Not or *Predicate.
type Expr interface{ expr() }

// Logic joins two or more conditions.
type Logic struct {
	Or    bool
	Parts []Expr
}

// Not turns a condition round.
type Not struct{ X Expr }

// Predicate compares a field with values.
type Predicate struct {
	Pos
	Field  *Field
	Op     Op
	Not    bool // NOT IN, NOT LIKE, NOT BETWEEN, IS NOT NULL
	Values []Value

	match *pattern // of LIKE and ILIKE, made by Check
	words words    // of a fulltext search, made by Check
}

// Value is an operand. V is a string, int64, float64, bool, time.Time, Day, Now or Param,
// and after Bind no Param.
type Value struct {
	Pos
	V any
}

// Day is a date without a time: midnight UTC in comparisons.
type Day struct{ time.Time }

// Now is the instant of the query moved by a period.
type Now struct{ Period Period }

// Param is a placeholder for a value: ? in the order of the text, or :name.
type Param struct {
	Index int // from 0
	Name  string
}

// Op is a comparison.
type Op uint8

// The comparisons.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	In
	Like
	ILike
	Between
	IsNull
	StartsWith
)

var opNames = [...]string{"=", "<>", "<", "<=", ">", ">=", "IN", "LIKE", "ILIKE", "BETWEEN", "IS NULL", "STARTSWITH"}

// String returns the operator as queries spell it.
func (o Op) String() string { return opNames[o] }

// Only this package makes conditions, so a switch over these three types is complete.
func (*Logic) expr()     {}
func (*Not) expr()       {}
func (*Predicate) expr() {}

// Conjuncts returns the conditions that all have to hold.
func (s *Select) Conjuncts() []Expr { return conjuncts(nil, s.Where) }

func conjuncts(dst []Expr, e Expr) []Expr {
	l, ok := e.(*Logic)
	if e == nil || ok && l.Or || !ok {
		if e == nil {
			return dst
		}
		return append(dst, e)
	}
	for _, part := range l.Parts {
		dst = conjuncts(dst, part)
	}
	return dst
}

// Correlated reports whether conditions share a numbered wildcard, so that none of them
// can be decided alone.
func (s *Select) Correlated() bool { return len(s.correlated) > 0 }

// Walk calls visit for every predicate of the condition.
func Walk(e Expr, visit func(*Predicate)) {
	switch e := e.(type) {
	case *Logic:
		for _, part := range e.Parts {
			Walk(part, visit)
		}
	case *Not:
		Walk(e.X, visit)
	case *Predicate:
		visit(e)
	}
}

// clone copies all that Bind and Check change.
func (s *Select) clone() *Select {
	c := *s
	c.Columns = slices.Clone(s.Columns)
	for i := range c.Columns {
		c.Columns[i].Field = c.Columns[i].Field.clone()
	}
	c.Order = slices.Clone(s.Order)
	for i := range c.Order {
		c.Order[i].Field = c.Order[i].Field.clone()
	}
	c.Where = cloneExpr(s.Where)
	return &c
}

func (f *Field) clone() *Field {
	if f == nil {
		return nil
	}
	c := *f
	return &c
}

func cloneExpr(e Expr) Expr {
	switch e := e.(type) {
	case *Logic:
		c := &Logic{Or: e.Or, Parts: make([]Expr, len(e.Parts))}
		for i, part := range e.Parts {
			c.Parts[i] = cloneExpr(part)
		}
		return c
	case *Not:
		return &Not{X: cloneExpr(e.X)}
	case *Predicate:
		c := *e
		c.Field, c.Values = e.Field.clone(), slices.Clone(e.Values)
		return &c
	}
	return nil
}
