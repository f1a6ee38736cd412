package find_test

import (
	"log/slog"
	"slices"
	"testing"

	"catena/decks"
	"catena/engine"
	"catena/engine/find"
	"catena/ops"
	"catena/storage/storagetest"
)

func finder(t testing.TB) *find.Finder {
	t.Helper()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), decks.Ops())...)
	if err != nil {
		t.Fatal(err)
	}
	return find.New(engine.New(engine.Config{Repo: storagetest.Open(t, nil), Set: set, Log: slog.New(slog.DiscardHandler)}))
}

func everything(string) bool { return true }

// TestSearch asks as people do; what they look for is among the first five.
func TestSearch(t *testing.T) {
	f := finder(t)
	for query, want := range map[string]string{
		"create a document":                    "Document.Create",
		"give a user permission to a document": "Document.AddPermission",
		"full text search":                     "Resource.Search",
		"convert to pdf":                       "Blob.ToPDF",
		"restore an old version":               "Document.RestoreVersion",
		"send an email":                        "Document.Mail",
		"search the audit log":                 "Audit.Query",
		"make slides":                          "Deck.Create",
		"delete forever":                       "Document.Delete",
		"lock a document":                      "Document.Lock",
		"publish to a section":                 "Document.PublishToSection",
		"rename folder":                        "Document.Move",
		"add tags":                             "Services.TagDocument",
		"share presentation with a password":   "Deck.CreateShareLink",
		"Document.SetProperty":                 "Document.SetProperty",
		"setproperty":                          "Document.SetProperty",
		"get a document":                       "Repository.GetDocument",
		"query documents":                      "Repository.Query",
		"read csv":                             "Data.Read",
		"set a variable":                       "Context.SetVar",
		"create a task":                        "Task.Create",
		"ask for approval":                     "Task.Create",
		"stamp a pdf":                          "PDF.WatermarkWithText",
		"call another service":                 "Http.Request",
		"make a file of a text":                "Data.ToFile",
		"move to the trash":                    "Document.Trash",
	} {
		var names []string
		for _, doc := range f.Search(query, everything) {
			names = append(names, doc.ID)
		}
		if at := slices.Index(names, want); at < 0 || at > 4 {
			t.Errorf("%q: %s at %d, first %v", query, want, at, names[:min(6, len(names))])
		}
	}
}

func TestSearchRights(t *testing.T) {
	f := finder(t)
	for _, query := range []string{"", "document"} {
		for _, doc := range f.Search(query, func(name string) bool { return name == "Document.Lock" }) {
			if doc.ID != "Document.Lock" {
				t.Errorf("%q: %s was not allowed", query, doc.ID)
			}
		}
	}
	if n := len(f.Search("", everything)); n < 300 {
		t.Errorf("no words: %d operations", n)
	}
	if n := len(f.Search("xyzzy", everything)); n != 0 {
		t.Errorf("a word that nothing has: %d operations", n)
	}
}

func BenchmarkSearch(b *testing.B) {
	f := finder(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Search("give a user permission to a document", everything)
	}
}
