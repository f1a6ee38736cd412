package engine

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// kind is a type of value the engine knows, as input, result or parameter.
type kind uint8

const (
	kVoid kind = iota
	kAny
	kDoc
	kDocs
	kPage
	kBlob
	kBlobs
	kString
	kBool
	kInt
	kLong
	kFloat
	kDate
	kStrings
	kProps
	kMap
	kList
	kRef
	kRefs
	kRows
	kEntries
	kRaw
	kOther
	kinds
)

// words are the type words of the kinds; both a document and its reference are "document".
var words = [kinds]string{
	kVoid: "void", kAny: "object", kDoc: "document", kDocs: "documents", kPage: "documents",
	kBlob: "blob", kBlobs: "bloblist", kString: "string", kBool: "boolean", kInt: "integer",
	kLong: "long", kFloat: "float", kDate: "date", kStrings: "stringlist", kProps: "properties",
	kMap: "map", kList: "list", kRef: "document", kRefs: "documents", kRows: "recordset",
	kEntries: "paginable", kRaw: "object", kOther: "object",
}

// wordKinds are the kinds that type words stand for; further words stand for any value.
var wordKinds = map[string]kind{
	"void": kVoid, "": kAny, "object": kAny, "serializable": kAny, "document": kDoc, "documents": kDocs,
	"blob": kBlob, "bloblist": kBlobs, "blobs": kBlobs, "string": kString, "boolean": kBool,
	"int": kInt, "integer": kInt, "long": kLong, "float": kFloat, "double": kFloat, "date": kDate,
	"stringlist": kStrings, "properties": kProps, "map": kMap, "list": kList,
	"recordset": kRows, "paginable": kEntries, "resource": kString, "validationmethod": kString,
}

// CheckWord returns an error for what is no type word, with the one that was probably meant.
func CheckWord(word string) error {
	folded := strings.ToLower(word)
	if _, ok := wordKinds[folded]; ok && word == folded {
		return nil
	}
	return fault.Invalid.Errorf("unknown type %q%s", word, fault.Perhaps(folded, maps.Keys(wordKinds)))
}

// kindOfWord returns the kind a type word stands for.
func kindOfWord(word string) kind {
	if k, ok := wordKinds[word]; ok {
		return k
	}
	return kAny
}

var typeKinds = map[reflect.Type]kind{
	reflect.TypeFor[Void]():               kVoid,
	reflect.TypeFor[any]():                kAny,
	reflect.TypeFor[*storage.Doc]():       kDoc,
	reflect.TypeFor[storage.Docs]():       kDocs,
	reflect.TypeFor[*storage.Page]():      kPage,
	reflect.TypeFor[*storage.Blob]():      kBlob,
	reflect.TypeFor[storage.Blobs]():      kBlobs,
	reflect.TypeFor[string]():             kString,
	reflect.TypeFor[bool]():               kBool,
	reflect.TypeFor[int]():                kInt,
	reflect.TypeFor[*int]():               kInt, // nil: not given
	reflect.TypeFor[int64]():              kLong,
	reflect.TypeFor[float64]():            kFloat,
	reflect.TypeFor[time.Time]():          kDate,
	reflect.TypeFor[[]string]():           kStrings,
	reflect.TypeFor[storage.Props]():      kProps,
	reflect.TypeFor[map[string]any]():     kMap,
	reflect.TypeFor[[]any]():              kList,
	reflect.TypeFor[storage.Ref]():        kRef,
	reflect.TypeFor[storage.Refs]():       kRefs,
	reflect.TypeFor[*search.Rows]():       kRows,
	reflect.TypeFor[*storage.EntryPage](): kEntries,
	reflect.TypeFor[json.RawMessage]():    kRaw,
}

// kindOfType returns the kind of a Go type.
func kindOfType(t reflect.Type) kind {
	if k, ok := typeKinds[t]; ok {
		return k
	}
	return kOther
}

// kindOf returns the kind of a value.
func kindOf(v any) kind {
	switch v.(type) {
	case nil:
		return kVoid
	case *storage.Doc:
		return kDoc
	case string:
		return kString
	case storage.Docs:
		return kDocs
	case *storage.Page:
		return kPage
	case *storage.Blob:
		return kBlob
	case storage.Blobs:
		return kBlobs
	}
	return kindOfRare(v)
}

func kindOfRare(v any) kind {
	switch v.(type) {
	case Void:
		return kVoid
	case bool:
		return kBool
	case int:
		return kInt
	case int64:
		return kLong
	case float64:
		return kFloat
	case time.Time:
		return kDate
	case []string:
		return kStrings
	case storage.Props:
		return kProps
	case map[string]any:
		return kMap
	case []any:
		return kList
	case storage.Ref:
		return kRef
	case storage.Refs:
		return kRefs
	case *search.Rows:
		return kRows
	case *storage.EntryPage:
		return kEntries
	case json.RawMessage:
		return kRaw
	}
	return kOther
}

// wordOf returns the type word of a value.
func wordOf(v any) string {
	if v, ok := v.(Value); ok {
		return v.Word
	}
	return words[kindOf(v)]
}
