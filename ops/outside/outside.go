// Package outside holds operations that call other services, and those that manage the credentials for such calls.
// How they are reached, and which may be, is decided by engine/egress; credentials are kept by storage/vault.
package outside

import (
	"sync"

	"catena/engine"
	"catena/engine/egress"
	"catena/storage"
	"catena/storage/outbox"
)

// Config is what the operations need; the zero value reaches public addresses by https.
type Config struct {
	Client *egress.Client
	Blobs  func(storage.Blob) *storage.Blob // loads a file that a job names; nil: none is sent by jobs
}

// caller calls other services. One is made for the operations and one for the jobs; each keeps tokens of
// its own, in memory only.
type caller struct {
	Config
	mu     sync.Mutex
	tokens map[tokenKey]token
}

// Ops are the operations.
func Ops(client *egress.Client) []engine.Op {
	if client == nil {
		client, _ = egress.New(egress.Config{}) // which nothing is wrong with
	}
	c := &caller{Config: Config{Client: client}, tokens: map[tokenKey]token{}}
	return []engine.Op{
		deleteCredential,
		listCredentials,
		saveCredential,
		c.receiveOp(),
		c.requestOp(),
		c.sendOp(),
	}
}

// Jobs are the handlers of what the operations leave to the outbox of a repository.
func Jobs(repo *storage.Repo, config Config) outbox.Handlers {
	c := &caller{Config: config, tokens: map[tokenKey]token{}}
	// Four at once, so that a service that answers slowly does not hold up the requests to all
	// others.
	return outbox.Handlers{sendJob: {Do: c.job(repo), AtOnce: 4}}
}
