package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// listed returns the packages of this module with their types.
func listed(t *testing.T) []*packages.Package {
	t.Helper()
	own, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
		Dir:  filepath.Join("..", ".."),
		Env:  append(os.Environ(), "CGO_ENABLED=0"), // what make build compiled
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range own {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
	}
	return own
}

// largeDeferred names the functions of a package that defer a call and take a parameter on the stack.
func largeDeferred(p *packages.Package) (found []string) {
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			var sig *types.Signature
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.FuncDecl:
				sig, body = p.TypesInfo.Defs[n.Name].Type().(*types.Signature), n.Body
			case *ast.FuncLit:
				sig, body = p.TypesInfo.TypeOf(n).(*types.Signature), n.Body
			}
			if sig == nil || body == nil || !defers(body) {
				return true
			}
			if v := spilled(sig); v != nil && addressed(p.TypesInfo, body, v) {
				found = append(found, p.Fset.Position(n.Pos()).String())
			}
			return true
		})
	}
	return found
}

// defers reports whether a body defers a call itself.
func defers(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		}
		return true
	})
	return found
}

// registers are those that amd64 passes parameters in: for integers and pointers, and for floats.
type registers struct{ ints, floats int }

// spilled returns the first parameter of a function, or its receiver, that is passed on the stack; nil if none is.
func spilled(sig *types.Signature) *types.Var {
	left := registers{9, 15}
	var params []*types.Var
	if r := sig.Recv(); r != nil {
		params = append(params, r)
	}
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	for _, v := range params {
		need, ok := fits(v.Type())
		if !ok || need.ints > left.ints || need.floats > left.floats {
			return v
		}
		left.ints, left.floats = left.ints-need.ints, left.floats-need.floats
	}
	return nil
}

// captured is the size in bytes up to which functions capture a variable by value, if nobody assigns to it.
const captured = 128

// addressed reports whether the address of a variable may be taken in a body: by &, by a method of its pointer, by
// slicing an array, or by a function within that captures it by reference.
func addressed(info *types.Info, body *ast.BlockStmt, v *types.Var) (found bool) {
	within := func(e ast.Expr) bool { return root(info, e) == v }
	large := types.SizesFor("gc", "amd64").Sizeof(v.Type()) > captured
	var used, assigned bool
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && info.Uses[id] == v {
					used = true
				}
				return true
			})
		case *ast.AssignStmt:
			assigned = assigned || slices.ContainsFunc(n.Lhs, within)
		case *ast.IncDecStmt:
			assigned = assigned || within(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && within(n.X)
		case *ast.SliceExpr:
			_, array := info.TypeOf(n.X).Underlying().(*types.Array)
			found = found || array && within(n.X)
		case *ast.SelectorExpr:
			sel := info.Selections[n]
			if sel != nil && sel.Kind() == types.MethodVal && within(n.X) {
				_, pointer := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				_, held := info.TypeOf(n.X).Underlying().(*types.Pointer)
				found = found || pointer && !held
			}
		}
		return true
	})
	return found || used && (large || assigned)
}

// root returns the variable that an expression is, or is a part of.
func root(info *types.Info, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return info.Uses[e]
	case *ast.SelectorExpr:
		if s := info.Selections[e]; s != nil && !s.Indirect() {
			return root(info, e.X)
		}
	case *ast.IndexExpr:
		if _, array := info.TypeOf(e.X).Underlying().(*types.Array); array {
			return root(info, e.X)
		}
	}
	return nil
}

// fits returns the registers that a value needs; not ok if it is never in registers.
func fits(typ types.Type) (need registers, ok bool) {
	switch u := typ.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsComplex != 0:
			return registers{0, 2}, true
		case u.Info()&types.IsFloat != 0:
			return registers{0, 1}, true
		case u.Info()&types.IsString != 0:
			return registers{2, 0}, true
		}
		return registers{1, 0}, true
	case *types.Interface:
		return registers{2, 0}, true
	case *types.Slice:
		return registers{3, 0}, true
	case *types.Array:
		if u.Len() == 0 {
			return registers{}, true
		}
		if u.Len() > 1 {
			return need, false
		}
		return fits(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			n, ok := fits(f.Type())
			if !ok {
				return need, false
			}
			need.ints, need.floats = need.ints+n.ints, need.floats+n.floats
		}
		return need, true
	}
	return registers{1, 0}, true
}
