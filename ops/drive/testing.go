package drive

import (
	"fmt"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/people"
)

// forTests makes a function of an operation that is refused unless the server is one for tests. The
// operations create users and change settings, so they are refused unless the operator has asked for
// them, even for administrators.
func forTests[P, I, O any](tests bool, f func(P, *engine.Ctx, I) (O, error)) engine.Func {
	return engine.On(func(p P, c *engine.Ctx, in I) (out O, err error) {
		if !tests {
			return out, fault.Conflict.Errorf("tests of the synchronizer: the server was not started with --drive-tests")
		}
		return f(p, c, in)
	})
}

const onlyForTests = " Only for administrators, on a server started with --drive-tests."

func setUpTests(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.SetupIntegrationTests", Aliases: former("SetupIntegrationTests"),
		Label:    "Setup integration tests",
		Category: services,
		Doc: "Creates users with passwords, and a workspace where they have a permission, replacing those of the previous call. Returns " +
			"name:password pairs, separated by commas." + onlyForTests,
		Callers: engine.Admins.From(engine.Direct),
		Secret:  true,
		Run:     forTests(tests, setUpParams.run),
	}
}

type setUpParams struct {
	Users      string `json:"userNames" doc:"Names, separated by commas; the users' names get the prefix drive."`
	Permission string `json:"permission" names:"permission" doc:"Permission of the users."`
	Members    bool   `json:"useMembersGroup" default:"false" doc:"Whether to add them to the group members, which contains everyone who has signed in."`
}

const (
	testFolder    = "/default-domain/workspaces"
	testWorkspace = "nuxeo-drive-test-workspace"
	testTable     = "sync test users"
	// Hashing a password is slow on purpose, and all users are created in one call.
	mostTestUsers = 100
)

func (p setUpParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	if err := tearDown(c); err != nil {
		return nil, err
	}
	names := strings.Split(p.Users, ",")
	if len(names) > mostTestUsers {
		return nil, fault.Limit.Errorf("userNames: %d names, at most %d are allowed", len(names), mostTestUsers).In("userNames")
	}
	var told []string
	var entries []storage.ACE
	for _, name := range names {
		name = "drive" + strings.TrimSpace(name)
		if _, err := people.Lookup(c.Tx, name); !fault.Is(err, fault.NotFound) {
			if err == nil {
				err = fault.Exists.Errorf("user %s: already exists", name)
			}
			return nil, err
		}
		u, password := &people.User{Username: name}, c.NewID()
		if p.Members {
			u.Groups = []string{"members"}
		}
		if err := people.SaveUser(c.Tx, u, password); err != nil {
			return nil, err
		}
		if err := c.Tx.Table(testTable).Put(name, true); err != nil {
			return nil, err
		}
		told = append(told, name+":"+password)
		entries = append(entries, storage.ACE{User: name, Permission: p.Permission, Granted: true, Creator: c.As.Name})
	}
	in, err := c.Tx.Doc(testFolder)
	if err != nil {
		return nil, err
	}
	d, err := c.Tx.Create(in, "Workspace", testWorkspace, storage.Props{"dc:title": "Nuxeo Drive Test Workspace"})
	if err != nil {
		return nil, err
	}
	if _, err := c.Tx.SetACL(d, "local", entries); err != nil {
		return nil, err
	}
	return engine.NewBlob("users.txt", "text/plain", []byte(strings.Join(told, ","))), nil
}

func tearDownTests(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.TearDownIntegrationTests", Aliases: former("TearDownIntegrationTests"),
		Label:    "Tear down integration tests",
		Category: services,
		Doc:      "Removes the users and the workspace that SetupIntegrationTests made, and returns the input." + onlyForTests,
		Callers:  engine.Admins.From(engine.Direct),
		Run: forTests(tests, func(_ noParams, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
			return engine.Void{}, tearDown(c)
		}),
	}
}

// tearDown removes the users of the last set-up and their workspace. Only names that the set-up has recorded are deleted.
func tearDown(c *engine.Ctx) error {
	var names []string
	for name := range c.Tx.Table(testTable).Scan("", "", false, 0) {
		names = append(names, name)
	}
	for _, name := range names {
		if err := c.Tx.Table(testTable).Delete(name); err != nil {
			return err
		}
		if _, err := people.Lookup(c.Tx, name); fault.Is(err, fault.NotFound) {
			continue
		}
		if _, err := c.Call("User.Delete", nil, map[string]any{"username": name}); err != nil {
			return err
		}
	}
	d, err := c.Tx.Doc(testFolder + "/" + testWorkspace)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.Tx.Delete(d)
}

func createTestDocuments(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.CreateTestDocuments", Aliases: former("CreateTestDocuments"),
		Label:    "Create test documents",
		Category: services,
		Doc:      "Creates files in the input folder and returns their number, as text." + onlyForTests,
		Callers:  engine.Admins.From(engine.Direct),
		Run:      forTests(tests, testDocumentsParams.run),
	}
}

type testDocumentsParams struct {
	Content string `json:"contentPattern" default:"Content for file_%03d.txt" doc:"Content of the files, with a placeholder for their number."`
	Delay   int64  `json:"delay" default:"1000" unused:"true" doc:"Accepted but ignored: all files are created in one transaction."`
	Name    string `json:"namePattern" default:"file_%03d.txt" doc:"Name of the files, with a placeholder for their number."`
	Number  int    `json:"number" default:"10" doc:"Number of files, up to 1,000."`
}

func (p testDocumentsParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Blob, error) {
	if p.Number < 0 || p.Number > 1000 {
		return nil, fault.Invalid.Errorf("number %d: must be at most 1000", p.Number).In("number")
	}
	for i := range p.Number {
		// The patterns are formats that an administrator sends; a wrong one only gives an odd name.
		b := engine.NewBlob(fmt.Sprintf(p.Name, i), "text/plain", fmt.Appendf(nil, p.Content, i))
		if _, err := Create(c, folder, b, false); err != nil {
			return nil, err
		}
	}
	return engine.NewBlob("number.txt", "text/plain", fmt.Append(nil, p.Number)), nil
}

func setVersioning(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.SetVersioningOptions", Aliases: former("SetVersioningOptions"),
		Label:    "Set versioning options",
		Category: services,
		Doc:      "Sets when UpdateFile keeps the old state of a file as a version, and returns the input." + onlyForTests,
		Callers:  engine.Admins.From(engine.Direct),
		Run:      forTests(tests, versioningParams.run),
	}
}

type versioningParams struct {
	Delay  string `json:"delay,omitzero" doc:"Seconds since the last change."`
	Option string `json:"option,omitzero" doc:"NONE, MINOR or MAJOR."`
}

func (p versioningParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, SetVersioning(c.Tx, p.Delay, p.Option)
}

func setActiveFactories(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.SetActiveFactories", Aliases: former("SetActiveFactories"),
		Label:    "Activate or deactivate file system item factories",
		Category: services,
		Doc: "Has the synchronized folders of all users be shown by a profile, or no longer. By permission, the folder My Docs has those that the user made, " +
			"and Other Docs those of others. Returns whether they are shown as asked: there is no userworkspace profile, which can only be switched off." + onlyForTests,
		Callers: engine.Admins.From(engine.Direct),
		Run:     forTests(tests, profileParams.run),
	}
}

type profileParams struct {
	Profile string `json:"profile" doc:"permission or userworkspace."`
	Enable  bool   `json:"enable" default:"true" doc:"Whether to activate it."`
}

func (p profileParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	switch {
	case p.Profile == byPermission && p.Enable:
		return true, SetProfile(c.Tx, byPermission)
	case p.Profile == byPermission:
		return true, SetProfile(c.Tx, "")
	}
	return !p.Enable && p.Profile == "userworkspace", nil
}

func waitForAsync(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.WaitForAsyncCompletion", Aliases: former("WaitForAsyncCompletion"),
		Label:    "Wait for async completion",
		Category: services,
		Doc:      "Waits until no job is due or running, for at most 20 seconds, and returns the input." + onlyForTests,
		Effect:   engine.Pure,
		Callers:  engine.Admins.From(engine.Direct),
		Run:      forTests(tests, noParams.wait),
	}
}

// It has to end before the call does.
const longestWait = 20 * time.Second

func (noParams) wait(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if c.Engine() == nil {
		return engine.Void{}, fault.Internal.Errorf("jobs: cannot wait outside the engine")
	}
	repo, late := c.Engine().Repo(), time.After(longestWait)
	settled, stop := outbox.Watch(repo)
	defer stop()
	for {
		b, err := outbox.Count(c, repo)
		if err != nil || b.Jobs[outbox.Waits]+b.Jobs[outbox.Runs] == 0 {
			return engine.Void{}, err
		}
		select {
		case <-c.Done():
			return engine.Void{}, c.Err()
		case <-late:
			return engine.Void{}, fault.Unavailable.Errorf("jobs: some are not finished after %s", longestWait)
		case <-settled:
		}
	}
}

func waitForAudit(tests bool) engine.Op {
	return engine.Op{
		Name: "PlatformDrive.WaitForElasticsearchCompletion", Aliases: former("WaitForElasticsearchCompletion"),
		Label:    "Wait for Elasticsearch audit completion",
		Category: services,
		Doc:      "Returns the input: everything that is committed is in the audit log." + onlyForTests,
		Effect:   engine.Pure,
		Callers:  engine.Admins.From(engine.Direct),
		Run: forTests(tests, func(noParams, *engine.Ctx, engine.Void) (engine.Void, error) {
			return engine.Void{}, nil
		}),
	}
}
