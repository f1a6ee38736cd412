package scripts

import (
	ring "container/list"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"

	"catena/storage/fault"
	"catena/storage/lazy"
)

// program is a compiled script. It is never changed and may run in many machines at once.
type program struct {
	file     string
	code     *goja.Program
	hasRun   bool                // declares run(input, params)
	awaits   bool                // gives a promise, of run when that is declared
	unused   map[position]string // calls whose value nobody uses, by the name that is called; see unused.go
	texts    [][]any             // lists of texts written in the source; see ahead.go
	escaped  map[string]string   // sources of the regular expressions whose property escapes were replaced; see regexp.go
	extended []int               // extensions that it needs; see builtin.go
	roots    []string            // globals of the language whose members it names; see scope.go
	literals literals            // calls whose parameters are arguments; see literal.go
	text     *moduleText         // its imports
	modules  []*linked           // that it imports, itself or by way of others, in the order in which they run
	size     int
}

// runName reads the binding called run, whichever way it was declared.
var runName = goja.MustCompile("", "run", true)

// parse reads source into a tree; it never reads anything but source.
func parse(file, source string) (*syntax, error) {
	if err := prescan(source); err != nil {
		return nil, err
	}
	text, err := splitModule(source)
	if err == nil && len(text.exports) > 0 {
		err = fault.Invalid.New("export: only modules export").At(text.first.line, text.first.column).WithCode(fault.CodeScriptSyntax)
	}
	if err != nil {
		return nil, located(err, file, lineOf(err), columnOf(err))
	}
	source = text.code
	awaiting, mistake := parseAwaiting(file, source)
	if awaiting != nil {
		awaiting.text = text
		return awaiting, nil
	}
	tree, err := parser.ParseFile(nil, file, source, 0, parser.WithDisableSourceMaps)
	switch {
	case err != nil && mistake != nil:
		return nil, syntaxFault(mistake, file, source)
	case err != nil:
		return nil, syntaxFault(err, file, source)
	}
	return &syntax{Program: tree, text: text}, nil
}

// compile compiles a script that calls some of these operations; ops is nil if they are not known.
func compile(file, source string, strict bool, ops *names) (*program, error) {
	tree, err := parse(file, source)
	if err != nil {
		return nil, err
	}
	if err := tree.clash(file); err != nil {
		return nil, err
	}
	return compileTree(tree, file, source, strict, ops)
}

func compileTree(tree *syntax, file, source string, strict bool, ops *names) (*program, error) {
	if err := constants(tree.Program, source); err != nil {
		return nil, located(err, file, lineOf(err), 0)
	}
	hasRun := declaresRun(tree.Program)
	escaped, err := replaceProperties(tree.Program)
	if err != nil {
		return nil, located(err, file, lineOf(err), columnOf(err))
	}
	passed := spread(tree, ops)
	code, err := goja.CompileAST(tree.program(), strict)
	if err != nil {
		return nil, syntaxFault(err, file, source)
	}
	needs := extended(source)
	if len(escaped) > 0 && !slices.Contains(needs, 0) {
		needs = append(needs, 0)
	}
	return &program{
		file: file, code: code, hasRun: hasRun, awaits: tree.async != nil, unused: unusedCalls(tree), texts: textLists(tree.Program), escaped: escaped,
		extended: needs, roots: globalRoots(tree.Program), literals: passed, text: tree.text, size: len(source),
	}, nil
}

// maxPower is the largest literal exponent of a power, or distance of a shift, of integers
// without bound: the compiler works out constant expressions itself.
const maxPower = 100_000

// constants refuses constant expressions that would take the compiler long to work out.
func constants(tree *ast.Program, source string) error {
	if !hasBigLiteral(source) {
		return nil
	}
	var err error
	walk(reflect.ValueOf(tree.Body), func(node any) {
		n, ok := node.(*ast.BinaryExpression)
		if !ok || n.Operator != token.EXPONENT && n.Operator != token.SHIFT_LEFT {
			return
		}
		right, plain := n.Right.(*ast.NumberLiteral)
		big, isBig := bigValue(right)
		if plain && !isBig || !plain && !anyBig(n.Right) {
			return
		}
		inner := false
		walk(reflect.ValueOf(n.Left), func(x any) {
			if b, ok := x.(*ast.BinaryExpression); ok && (b.Operator == token.EXPONENT || b.Operator == token.SHIFT_LEFT) {
				inner = true
			}
		})
		if inner || !plain || big.CmpAbs(largestPower) > 0 {
			line := tree.File.Position(int(n.Idx0()) - tree.File.Base()).Line
			err = breach(fault.CodeScriptSource, "script: a power or shift by more than %d", maxPower).At(line, 0)
		}
	})
	return err
}

var largestPower = big.NewInt(maxPower)

func bigValue(n *ast.NumberLiteral) (*big.Int, bool) {
	if n == nil {
		return nil, false
	}
	v, ok := n.Value.(*big.Int)
	return v, ok
}

func anyBig(e ast.Expression) bool {
	found := false
	walk(reflect.ValueOf(e), func(x any) {
		if n, ok := x.(*ast.NumberLiteral); ok {
			_, isBig := bigValue(n)
			found = found || isBig
		}
	})
	return found
}

// hasBigLiteral reports whether source may hold a literal like 7n.
func hasBigLiteral(source string) bool {
	for i := strings.IndexByte(source, 'n'); i >= 0; {
		if i > 0 && (source[i-1] >= '0' && source[i-1] <= '9' || source[i-1]|0x20 >= 'a' && source[i-1]|0x20 <= 'f') {
			return true
		}
		next := strings.IndexByte(source[i+1:], 'n')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// syntaxFault turns what goja says about a source into a fault with its place.
func syntaxFault(err error, file, source string) error {
	line, column, text := 0, 0, err.Error()
	var list parser.ErrorList
	var one *parser.Error
	var ce *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		line, column, text = list[0].Position.Line, list[0].Position.Column, list[0].Message
	case errors.As(err, &one):
		line, column, text = one.Position.Line, one.Position.Column, one.Message
	case errors.As(err, &ce):
		text = ce.Message
		if ce.File != nil {
			p := ce.File.Position(ce.Offset)
			line, column = p.Line, p.Column
		}
	}
	return located(fault.Invalid.New(lacking(text, source, line)).WithCode(fault.CodeScriptSyntax), file, line, column)
}

// forAwait is the loop whose await the parser does not expect.
var forAwait = lazy.Regexp(`\bfor\s+await\b`)

// lacking is what goja says about a part of the language that it does not have, in words that say what to write instead.
func lacking(text, source string, line int) string {
	lines := strings.Split(source, "\n")
	switch {
	case strings.HasPrefix(text, "Async generators"):
		return "asynchronous generators are not supported: return a list"
	case strings.HasSuffix(text, "token await") && 1 <= line && line <= len(lines) && forAwait().MatchString(lines[line-1]):
		return "for await is not supported: use for with await in its body"
	}
	return text
}

// declaresRun reports whether the top level of a script declares run.
func declaresRun(tree *ast.Program) bool {
	isRun := func(b []*ast.Binding) bool {
		for _, x := range b {
			if id, ok := x.Target.(*ast.Identifier); ok && id.Name == "run" {
				return true
			}
		}
		return false
	}
	for _, s := range tree.Body {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			if s.Function.Name != nil && s.Function.Name.Name == "run" {
				return true
			}
		case *ast.VariableStatement:
			if isRun(s.List) {
				return true
			}
		case *ast.LexicalDeclaration:
			if isRun(s.List) {
				return true
			}
		}
	}
	return false
}

// programs keeps compiled programs by the hash of their source, the most recently used
// ones, within a number of bytes of source.
type programs struct {
	max   int
	size  int
	order *ring.List // of *kept, most recent first
	byKey map[programKey]*ring.Element
}

type programKey [sha256.Size]byte

// keyOf is the key of a script's program.
func keyOf(file, source string, strict bool) programKey {
	return sha256.Sum256(fmt.Appendf(nil, "%t %q %s", strict, file, source))
}

type kept struct {
	key programKey
	p   *program
}

func newPrograms(max int) *programs {
	return &programs{max: max, order: ring.New(), byKey: map[programKey]*ring.Element{}}
}

// add keeps a program.
func (c *programs) add(key programKey, p *program) {
	// The caller has looked: a key that is there already would stay in the order twice.
	c.byKey[key] = c.order.PushFront(&kept{key, p})
	c.size += p.size
	// The newest stays even if it alone is too large, since it is about to run.
	for c.size > c.max && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*kept)
		delete(c.byKey, last.key)
		c.size -= last.p.size
	}
}

func (c *programs) find(key programKey) *program {
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept).p
}
