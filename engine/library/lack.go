package library

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage/schema"
)

// Lack is a deployed text that does not work on this server: it names an operation, a type or something else that the server
// does not have, for example because its version or its declarations are not those of the server where the text was saved.
type Lack struct {
	Text string // the kind, the name and the version
	Err  error
}

func (l Lack) String() string { return fmt.Sprintf("%s: %v", l.Text, l.Err) }

// Lacks finds the deployed texts that do not work on this server. While nothing changes, it does nothing, and while only texts change,
// it looks at those.
func (k *Kind) Lacks(e *engine.Engine) []Lack {
	k.mu.Lock()
	defer k.mu.Unlock()
	set, types := e.Set(), e.Repo().Types()
	names := maps.Keys(k.unchecked)
	if k.checked != set || k.types != types {
		k.lacks, k.checked, k.types = map[string]Lack{}, set, types
		names = maps.Keys(k.deployed)
	}
	for name := range names {
		delete(k.lacks, name)
		v, ok := k.deployed[name]
		if !ok {
			continue
		}
		if err := k.lack(set, types, v); err != nil {
			k.lacks[name] = Lack{fmt.Sprintf("%s %s version %d", k.Noun, v.Name, v.Version), err}
		}
	}
	k.unchecked = nil
	return slices.SortedFunc(maps.Values(k.lacks), func(a, b Lack) int { return cmp.Compare(a.Text, b.Text) })
}

// lack is why a text does not work.
func (k *Kind) lack(set *engine.Set, types *schema.Registry, v Version) error {
	if k.Works != nil {
		if problems := k.Works(set, types, v.File, v.Source); len(problems) > 0 {
			return problems[0]
		}
	}
	if k.Compile == nil || !slices.ContainsFunc(k.left, func(left Version) bool { return left.Name == v.Name && left.Version == v.Version }) {
		return nil
	}
	op, err := k.compile(set, &v)
	if err == nil {
		_, err = set.With([]engine.Op{op})
	}
	return err
}

// Lacks finds the texts of all kinds that do not work on this server.
func (ds Deployments) Lacks(e *engine.Engine) (all []Lack) {
	for _, d := range ds {
		if of, ok := d.(interface{ Lacks(e *engine.Engine) []Lack }); ok { // it consists of texts
			all = append(all, of.Lacks(e)...)
		}
	}
	slices.SortFunc(all, func(a, b Lack) int { return cmp.Compare(a.Text, b.Text) })
	return all
}

// texts are those of lacks.
func texts(all []Lack) []string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.Text
	}
	return names
}

// maxListed is how many texts a message lists.
const maxListed = 10

// listed is a list of texts for a message.
func listed(all []string) string {
	if more := len(all) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxListed], ", "), more)
	}
	return strings.Join(all, ", ")
}
