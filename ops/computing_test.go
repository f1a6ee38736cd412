//go:build !race

package ops_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"catena/engine/scenario"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// crowdOf is what happens for each of many people of whom no scenario knows: for how many of them one time, the operation, the input, and
// the parameters, in which %d is the number of the person.
var crowdOf = []struct {
	every             int
	op, input, params string
}{
	{1, "User.CreateOrUpdate", ``, `{"username": "u%[1]d", "password": "correct horse", "email": "u%[1]d@example.org", "firstName": "f%[1]d"}`},
	{5, "Group.CreateOrUpdate", ``, `{"groupname": "g%[1]d", "members": ["u%[1]d"]}`},
	{1, "Document.Create", `"/default-domain/workspaces"`, `{"type": "Workspace", "name": "w%[1]d", "properties": {"dc:title": "W%[1]d"}}`},
	{1, "Document.Create", `"/default-domain/workspaces/w0"`, `{"type": "File", "name": "f%[1]d", "properties": {"dc:title": "Fill %[1]d", "dc:source": "crowd"}}`},
	{1, "Document.Create", `"/"`, `{"type": "File", "name": "r%[1]d", "properties": {"dc:title": "Root fill %[1]d"}}`},
	{1, "Document.Create", `"/default-domain/workspaces/w%[1]d"`, `{"type": "Note", "name": "n", "properties": {"dc:title": "Crowd %[1]d", "note:note": "zzhello"}}`},
	{1, "Services.TagDocument", `"/default-domain/workspaces/w0/f%[1]d"`, `{"tags": "fill%[1]d,zzcommon"}`},
	{5, "Document.AddPermission", `"/default-domain/workspaces/w%[1]d"`, `{"permission": "Read", "username": "u%[1]d"}`},
	{5, "Document.Lock", `"/default-domain/workspaces/w%[1]d/n"`, `{}`},
	{5, "Document.CheckIn", `"/default-domain/workspaces/w0/f%[1]d"`, `{"version": "minor"}`},
	{2, "Collection.Create", `"/default-domain/workspaces/w0"`, `{"name": "c%[1]d"}`},
	{2, "Document.AddToCollection", `"/default-domain/workspaces/w0/f%[1]d"`, `{"collection": "/default-domain/workspaces/w0/c%[1]d"}`},
	{2, "Document.AddToFavorites", `"/default-domain/workspaces/w0/f%[1]d"`, `{}`},
	{2, "Comment.Create", `"/default-domain/workspaces/w0/f%[1]d"`, `{"comment": {"text": "zzwell"}}`},
	{2, "Relations.CreateRelation", `"/default-domain/workspaces/w0/f%[1]d"`, `{"object": "/default-domain/workspaces/w0/f0", "predicate": "http://purl.org/dc/terms/References"}`},
	{2, "Document.Subscribe", `"/default-domain/workspaces/w0/f%[1]d"`, `{}`},
	{5, "Document.Create", `"/default-domain/workspaces/w%[1]d"`, `{"type": "File", "name": "t", "properties": {"dc:title": "Trash %[1]d"}}`},
	{5, "Document.Trash", `"/default-domain/workspaces/w%[1]d/t"`, `{}`},
	{5, "Document.PublishToSection", `"/default-domain/workspaces/w0/f%[1]d"`, `{"target": "/default-domain/sections"}`},
	{1, "Context.StartWorkflow", `"/default-domain/workspaces/w0/f%[1]d"`, `{"id": "SerialDocumentReview", "variables": {"participants": ["user:crowd"]}}`},
	{1, "Directory.CreateEntries", ``, `{"directoryName": "nature", "entries": "[{\"id\": \"nat%[1]d\", \"label\": \"N%[1]d\", \"obsolete\": 0, \"ordering\": 1}]"}`},
	{1, "Deck.Create", ``, `{"title": "Deck %[1]d"}`},
	{5, "Key.Create", ``, `{"name": "k%[1]d"}`},
}

// crowd returns the rows of a store in which there are so many people besides.
func crowd(t *testing.T, n int) (rows []kv.Mutation) {
	t.Helper()
	store := memory.New()
	s, _ := beside(t, store, "77777777")
	s.User("crowd", "administrators")
	for i := range n {
		for _, c := range crowdOf {
			if i%c.every > 0 {
				continue
			}
			command := scenario.Command{Op: c.op, Params: json.RawMessage(numbered(c.params, i))}
			if c.input != "" {
				command.Input = json.RawMessage(numbered(c.input, i))
			}
			if out := scenario.Engine(s.Engine).Run(t.Context(), "crowd", command); out.Failure != nil {
				t.Fatalf("%s %s: %s", c.op, command.Params, out.Failure.Message)
			}
		}
	}
	for more := true; more; {
		var err error
		if more, err = s.Repo.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := store.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Discard()
	all := snap.Scan(kv.Range{})
	defer all.Close()
	for all.Next() {
		value, err := all.Value()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, kv.Mutation{Key: all.Key(), Value: value})
	}
	return rows
}

// numbered puts a number into a text, if there is a place for it.
func numbered(text string, n int) string {
	if !strings.Contains(text, "%[1]d") {
		return text
	}
	return fmt.Sprintf(text, n)
}

// beside starts a server on a store, whose identifiers begin with a text.
func beside(t *testing.T, store kv.Store, ids string) (*resttest.Server, *scenario.Clock) {
	t.Helper()
	clock := scenario.NewClock()
	return serverOf(t, world{single: true, change: func(c *storage.Config) {
		c.DB = kv.New(store, kv.Options{})
		c.NewID = func() string { return ids + clock.NewID()[len(ids):] }
	}})
}

// spent is what a command read.
type spent struct {
	command string
	answer  int // the length of what it returned
	rows    int64
}

// countedEntryPoint notes what commands read.
type countedEntryPoint struct {
	s     *resttest.Server
	store *storagetest.Counted
	all   *[]spent
}

func (e countedEntryPoint) Run(ctx context.Context, user string, c scenario.Command) scenario.Outcome {
	e.store.Reset()
	out := scenario.Engine(e.s.Engine).Run(ctx, user, c)
	var failure string
	if out.Failure != nil {
		failure = out.Failure.Message
	}
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Op, c.Input, c.Params))
	*e.all = append(*e.all, spent{text, len(fmt.Sprint(out.Wire, failure, len(out.Files))), e.store.Keys.Load() + e.store.Rows.Load()})
	return out
}

// playBeside plays a scenario beside a crowd and returns what its commands read.
func playBeside(t *testing.T, file string, rows []kv.Mutation) (all []spent) {
	t.Helper()
	store := &storagetest.Counted{Store: memory.New()}
	first, err := store.Store.Begin(t.Context(), true)
	if err == nil {
		err = first.Commit(t.Context(), &kv.Batch{Writes: rows})
		first.Discard()
	}
	if err != nil {
		t.Fatal(err)
	}
	script, err := scenario.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	s, clock := beside(t, store, "00000000")
	// In a large repository, too, the planner looks at some rows to compare plans; here they are to be few beside the crowd.
	search.SetCosts(s.Repo, search.Costs{Sorted: 100, Few: 20, Subtree: 50, Known: 200, Loads: 50, Factor: 10})
	_ = scenario.Play(t.Context(), script, scenario.World{
		EntryPoint: countedEntryPoint{s, store, &all}, Spare: engineEntryPoint{s}, Tick: clock.Tick,
		User: func(name string, groups ...string) error { s.User(name, groups...); return nil },
	}, true) // what differs because of the crowd is no failure
	return all
}

// grows are commands, by what they contain, that read more the more there is, although their answer is the same.
var grows = map[string]string{
	"BulkRestartInstances":           "all running instances of the model are restarted, or asked whether they wait at the node",
	"Directory.Page":                 "no index has the field that is asked for",
	"Directory.SuggestEntries":       "labels are translated before they are compared",
	"Document.EmptyTrash":            "every document in the trash below the folder is deleted, or found not to be the caller's to delete",
	"LogEntry":                       "the latest records of the audit log have no zone maps yet",
	"UserGroup.Latest":               "the same",
	`"field":"docType"`:              "the same",
	"ORDER BY dc:title":              "the results are counted up to a bound",
	"Repository.Verify":              "it reads everything",
	"SavedSearch.Execute":            "the results that may be read are counted up to a bound",
	"User.List":                      "the text may be anywhere in the name",
	"default_document_suggestion":    "the text may be anywhere in the title",
	"ecm:acl/*1/principal":           "the index by grantee has only the entries that grant",
	`"providerName":"tree_children"`: "the folder has many children",
}

// TestCostsDoNotGrow plays scenarios in a repository with many documents, users, workflows and so on that have nothing to do with them:
// commands that answer the same read about as much as in one with few.
func TestCostsDoNotGrow(t *testing.T) {
	const few, many, most = 10, 400, 300
	small, large := crowd(t, few), crowd(t, many)
	for _, file := range scenarios(t) {
		t.Run(nameOf(file), func(t *testing.T) {
			beside := playBeside(t, file, large)
			if slices.MaxFunc(append(beside, spent{}), func(a, b spent) int { return cmp.Compare(a.rows, b.rows) }).rows <= most {
				return
			}
			for i, alone := range playBeside(t, file, small) {
				if i >= len(beside) || beside[i].answer != alone.answer || beside[i].rows <= alone.rows+most {
					continue
				}
				known := func(part string) bool { return strings.Contains(beside[i].command, part) }
				if !slices.ContainsFunc(slices.Collect(maps.Keys(grows)), known) {
					t.Errorf("%s: %d rows beside %d, %d beside %d", beside[i].command, beside[i].rows, many, alone.rows, few)
				}
			}
		})
	}
}
