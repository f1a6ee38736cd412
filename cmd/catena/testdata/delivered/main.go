// Command delivered checks what catena is delivered with by the code of the programs that read it: manifests by the types of the API of
// Kubernetes, which refuse fields that they do not have, by its pod security standards, and by what they say of each other; and the
// Dockerfile by the parser and the rules of BuildKit. It is a module of its own, so that the program depends on none of this.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: delivered FILE…")
		os.Exit(2)
	}
	code := 0
	for _, name := range os.Args[1:] {
		check := manifests
		if strings.Contains(name, "Dockerfile") {
			check = dockerfile
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = check(text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			code = 1
		}
	}
	os.Exit(code)
}

// manifests decodes each document by the type that it names.
func manifests(text []byte) error {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, policy.AddToScheme} {
		if err := add(types); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	buffer := make([]byte, len(text)+1)
	var all error
	var objects []runtime.Object
	for n := 0; ; n++ {
		size, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			fmt.Printf("%d manifests\n", n)
			return errors.Join(all, together(objects))
		} else if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(buffer[:size], nil, nil)
		if err != nil {
			all = errors.Join(all, fmt.Errorf("document %d (%v): %w", n+1, kind, err))
			continue
		}
		objects = append(objects, object)
	}
}

// dockerfile parses the instructions, and has every rule be an error.
func dockerfile(text []byte) error {
	file, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var all error
	rules := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		all = errors.Join(all, fmt.Errorf("%s: %s, at %v", rule, message, at))
	}})
	stages, _, err := instructions.Parse(file.AST, rules)
	fmt.Printf("%d stages\n", len(stages))
	return errors.Join(all, err)
}
