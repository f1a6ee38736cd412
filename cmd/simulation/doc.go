// Package simulation holds tests that run a whole server in a simulated world: one seed determines scheduling, the
// clock, disk faults, crashes, and what eight clients do. Afterwards an independent model of documents, people and
// permissions says what every call should have answered and what the store should contain.
//
// A run lives in a bubble of testing/synctest, so that time passes only when everybody waits. Every
// transaction begins and commits through a store that hands the goroutine to the scheduler, which lets one
// go on at a time. A crash cuts a server off from its store and opens another one on what was committed.
// Most seeds run on a store in memory, where the faults of the disk are simulated as well; their histories are the
// same whenever they are run. Some run on the real store, on a file system with faults (TestBadger says what is left
// to chance there).
//
// In TestNodes, two servers share a store across a simulated network (node, network). Messages to the store and from it,
// heartbeats and leases among them, are lost or late; wake-ups between the servers are lost, late or doubled; a server is cut
// off for a while; their clocks differ. The same model judges what they answer, and no duty or job is carried out
// by both at the same time.
//
// CATENA_SEED=n replays a run and prints its history; CATENA_SEEDS=n runs so many seeds, CATENA_FIRST_SEED=n from
// that one on.
package simulation
