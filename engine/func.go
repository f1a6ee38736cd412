package engine

import (
	"reflect"
	"slices"

	"catena/storage"
)

// Func is what an operation runs: one function or several over different inputs.
//
// Operations are written as typed functions, and run by the engine without reflection: On and its relatives
// wrap each function once, when the operation is defined, into one that takes and returns any values. The
// type parameters P, I and O are the struct of the parameters, the input and the output.
type Func struct {
	variants []variant
	params   reflect.Type // struct of the parameters; nil if dynamic
	dynamic  []Param
	fresh    func(proto any) any // a copy of a struct of parameters
	mixed    bool                // functions with different parameter structs were joined
}

// variant is one function of an operation, over one type of input.
type variant struct {
	in, out         kind
	inType          reflect.Type
	outType         reflect.Type // nil: only the word is known
	inWord, outWord string
	each            bool // derived: runs once per element
	exact           bool // void means that nothing is returned, not even the input
	// call runs the function with parameters p: a pointer to the struct, or the map of a
	// dynamic operation. The input has the type asked for.
	call func(p any, c *Ctx, in any) (any, error)
}

// On makes an operation of one function over one type of input.
func On[P, I, O any](f func(P, *Ctx, I) (O, error)) Func {
	return Func{params: reflect.TypeFor[P](), fresh: fresh[P], variants: []variant{variantOf(f)}}
}

// Each makes an operation of a function and of the same over a list, which runs it once
// for each element: nils are dropped, lists flattened, and the result is a list.
func Each[P, I, O any](f func(P, *Ctx, I) (O, error)) Func {
	one := variantOf(f)
	list := variant{each: true, call: one.call}
	switch one.in {
	case kBlob:
		list.in, list.inType = kBlobs, reflect.TypeFor[storage.Blobs]()
	case kDoc:
		list.in, list.inType = kDocs, reflect.TypeFor[storage.Docs]()
	default:
		list.in, list.inType = kList, reflect.TypeFor[[]any]()
	}
	list.out, list.outType = listKind(one.out), nil
	list.inWord, list.outWord = words[list.in], words[list.out]
	return Func{params: reflect.TypeFor[P](), fresh: fresh[P], variants: []variant{one, list}}
}

// fresh copies parameters.
func fresh[P any](proto any) any {
	p := new(P)
	*p = *proto.(*P)
	return p
}

// listKind is the kind of a list of results.
func listKind(k kind) kind {
	switch k {
	case kDoc, kDocs, kPage:
		return kDocs
	case kBlob, kBlobs:
		return kBlobs
	case kVoid:
		return kVoid
	}
	return kList
}

// Overload joins functions over different inputs. All take the same parameters.
func Overload(fs ...Func) Func {
	joined := Func{}
	for i, f := range fs {
		if i == 0 {
			joined.params, joined.dynamic, joined.fresh = f.params, f.dynamic, f.fresh
		} else if f.params != joined.params {
			joined.mixed = true
		}
		joined.variants = append(joined.variants, f.variants...)
	}
	return joined
}

// Dynamic makes an operation whose parameters are declared at run time: a chain or a script.
// The signature is pairs of type words, in and out; without any, everything is accepted.
func Dynamic(params []Param, signature []string, f func(c *Ctx, in any, params map[string]any) (any, error)) Func {
	d := Func{dynamic: params}
	call := func(p any, c *Ctx, in any) (any, error) {
		m, _ := p.(map[string]any)
		return f(c, in, m)
	}
	if len(signature) == 0 {
		signature = []string{"object", "object"}
	}
	for i := 0; i+1 < len(signature); i += 2 {
		in, out := kindOfWord(signature[i]), kindOfWord(signature[i+1])
		d.variants = append(d.variants, variant{in: in, out: out, inWord: signature[i], outWord: signature[i+1], call: call})
	}
	for _, lists := range [][2]kind{{kDoc, kDocs}, {kBlob, kBlobs}} {
		d.variants = overList(d.variants, lists[0], lists[1])
	}
	return d
}

// overList adds a function that runs that over one input once for each of a list, unless there is one that takes the list.
func overList(variants []variant, one, list kind) []variant {
	for _, v := range variants {
		if v.in == list || v.in == kAny || v.in == kVoid {
			return variants
		}
	}
	for _, v := range variants {
		if v.in == one {
			v.in, v.out, v.each, v.outType = list, listKind(v.out), true, nil
			v.inWord, v.outWord = words[v.in], words[v.out]
			return append(variants, v)
		}
	}
	return variants
}

// Exact says of functions that void means that nothing is returned, not even the input, as chains do.
func (f Func) Exact() Func {
	f.variants = slices.Clone(f.variants)
	for i := range f.variants {
		f.variants[i].exact = true
	}
	return f
}

// Declared makes an operation whose parameters are those of a struct and others, declared at run time, which the
// function gets by name.
func Declared[P, I, O any](params []Param, f func(P, *Ctx, I, map[string]any) (O, error)) Func {
	t, err := tableOf(Func{params: reflect.TypeFor[P](), fresh: fresh[P]})
	if err != nil {
		panic(err) // a bug that every start meets
	}
	v := variantOf(func(P, *Ctx, I) (o O, err error) { return o, nil })
	v.call = func(p any, c *Ctx, in any) (any, error) {
		m, _ := p.(map[string]any)
		own, err := t.fromMap(c, m)
		if err != nil {
			return nil, err
		}
		i, _ := in.(I)
		return f(*own.(*P), c, i, m)
	}
	return Func{dynamic: append(t.ordered(), params...), variants: []variant{v}}
}

// As replaces the type words of the functions, in pairs of in and out.
func (f Func) As(words ...string) Func {
	variants := append([]variant(nil), f.variants...)
	for i := 0; i+1 < len(words) && i/2 < len(variants); i += 2 {
		variants[i/2].inWord, variants[i/2].outWord = words[i], words[i+1]
	}
	f.variants = variants
	return f
}

// Signature returns the type words of the functions: in, out, in, out.
func (f Func) Signature() []string {
	out := make([]string, 0, 2*len(f.variants))
pairs:
	for _, v := range f.variants {
		for i := 0; i < len(out); i += 2 {
			if out[i] == v.inWord && out[i+1] == v.outWord {
				continue pairs
			}
		}
		out = append(out, v.inWord, v.outWord)
	}
	return out
}

// Outcome is what a function of an operation returns.
type Outcome struct {
	Word   string
	Type   reflect.Type // nil: only the word is known
	Passes string       // the word of the input, if that is what comes out
	kind   kind
	each   bool // a list, of what the operation declares for one
}

// Outcomes returns what the functions return.
func (f Func) Outcomes() []Outcome {
	out := make([]Outcome, len(f.variants))
	for i, v := range f.variants {
		out[i] = Outcome{Word: v.outWord, Type: v.outType, kind: v.out, each: v.each}
		if v.out == kVoid && !v.exact {
			out[i].Passes = v.inWord
		}
	}
	return out
}

// variantOf wraps a typed function so that it takes and gives any values, without
// allocating anything beyond what the function itself does.
func variantOf[P, I, O any](f func(P, *Ctx, I) (O, error)) variant {
	in, out := reflect.TypeFor[I](), reflect.TypeFor[O]()
	v := variant{in: kindOfType(in), out: kindOfType(out), inType: in, outType: out}
	v.inWord, v.outWord = words[v.in], words[v.out]
	switch {
	case v.out == kVoid:
		v.call = func(p any, c *Ctx, in any) (any, error) {
			i, _ := in.(I)
			_, err := f(*p.(*P), c, i)
			return in, err
		}
	case v.in == kString && v.out == kString:
		v.call = func(p any, c *Ctx, in any) (any, error) {
			i, _ := in.(I)
			o, err := f(*p.(*P), c, i)
			if any(o) == in {
				return in, err // which is boxed already
			}
			return o, err
		}
	case v.out == kBlobs:
		v.call = func(p any, c *Ctx, in any) (any, error) {
			i, _ := in.(I)
			o, err := f(*p.(*P), c, i)
			if b, ok := any(o).(storage.Blobs); ok && b == nil {
				return nil, err // nothing, not a list without files
			}
			return any(o), err
		}
	case out.Kind() == reflect.Pointer:
		var none O
		v.call = func(p any, c *Ctx, in any) (any, error) {
			i, _ := in.(I)
			o, err := f(*p.(*P), c, i)
			if any(o) == any(none) {
				return nil, err
			}
			return o, err
		}
	default:
		v.call = func(p any, c *Ctx, in any) (any, error) {
			i, _ := in.(I)
			o, err := f(*p.(*P), c, i)
			return any(o), err
		}
	}
	return v
}
