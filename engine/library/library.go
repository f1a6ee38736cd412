// Package library keeps the sources of chains and scripts that are deployed while the server runs: in immutable
// versions with author, time and note, checked before they are stored, and added to the set of operations after the
// commit without disturbing running calls. What a text means is for the package that owns the kind.
//
// The text is the truth and the operation is derived: at each start, and whenever another process deploys
// something, the texts are compiled again. A text that no longer compiles, because an operation that it names
// is gone, stays stored and is reported; it never keeps the server from starting.
package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"catena/engine"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Problem is something wrong in a text, with its position, counted from 1.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Step    int    `json:"step,omitempty"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`
	Nearest string `json:"nearest,omitempty"` // the name that was probably meant
	Warning bool   `json:"warning,omitempty"` // the text may be right and is saved all the same
}

// Error is the problem on one line, as compilers write it.
func (p Problem) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.said())
	if p.Nearest != "" {
		s += ", perhaps " + p.Nearest
	}
	return s
}

// said is the message, and whether it only warns.
func (p Problem) said() string {
	if p.Warning {
		return "warning: " + p.Message
	}
	return p.Message
}

// Wrong are the problems for which a text is refused.
func Wrong(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Warning })
}

// Version is one kept text.
type Version struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"`
	Author  string    `json:"author"`
	Time    time.Time `json:"time"`
	Note    string    `json:"note"`
	File    string    `json:"file,omitempty"` // the file it was applied from
	Source  string    `json:"source,omitempty"`
	Deleted bool      `json:"deleted,omitempty"`
	// ChangeToken is for the caller who reads the version, and not kept.
	ChangeToken string `json:"changeToken,omitempty"`

	repo string // the repository that keeps it, once it is deployed
}

// Kind is a kind of text. One belongs to one engine.
type Kind struct {
	Family string // "Chain": operations are Chain.Save, Chain.List …
	Noun   string // "chain"
	Nouns  string // several of them; "": with an s
	Ext    []string
	// Check returns the name a text declares and what is wrong with it.
	Check func(c *engine.Ctx, file, source string) (name string, problems []Problem, err error)
	// Compile makes the operation of a checked text. The set may lack other texts' operations.
	Compile func(set *engine.Set, file, source string) (engine.Op, error)
	// Put takes what is deployed from here on, of a kind whose texts are no operations and that
	// has no Compile.
	Put func(all []Version) error
	// Works finds what of a deployed text does not work on this server: with its operations, and its types of documents. What other
	// servers find must follow from the same alone. May be nil: a text that compiles works.
	Works func(set *engine.Set, types *schema.Registry, file, source string) []Problem
	// Keep writes what else belongs to a version, or to one that is removed (Deleted), in the transaction that keeps it. May be nil.
	Keep func(tx *storage.Tx, v Version) error

	mu        sync.Mutex
	deployed  map[string]Version
	withdrawn map[string]int64 // the last version that was taken out of use, by place
	left      []Version        // deployed texts that did not compile
	lacking   *engine.Set      // in which they did not
	lacks     map[string]Lack  // by name
	unchecked map[string]bool  // names of texts deployed since lacks was found
	checked   *engine.Set      // the operations that lacks was found with
	types     *schema.Registry // with which it was found
}

func (k *Kind) currentTable() string { return "library." + k.Noun }

func (k *Kind) versionTable() string { return "library." + k.Noun + ".version" }

func versionKey(name string, version int64) string { return fmt.Sprintf("%s/%012d", name, version) }

// current returns the deployed version without its text; nil if nothing of the name was
// ever kept.
func (k *Kind) current(c *engine.Ctx, name string) (*Version, error) {
	var v Version
	ok, err := c.Tx.Table(k.currentTable()).Get(name, &v)
	if err != nil || !ok {
		return nil, err
	}
	return &v, nil
}

// version returns one kept version with its text; 0 is the deployed one.
func (k *Kind) version(c *engine.Ctx, name string, version int64) (*Version, error) {
	cur, err := k.current(c, name)
	if err != nil {
		return nil, err
	}
	if cur == nil || version == 0 && cur.Deleted {
		return nil, fault.NotFound.Errorf("%s %s", k.Noun, name)
	}
	if version == 0 {
		version = cur.Version
	}
	return Kept(c.Tx, k.Noun, name, version)
}

// Kept returns a version of a kind of text, with the text.
func Kept(t *storage.Tx, noun, name string, version int64) (*Version, error) {
	var v Version
	ok, err := t.Table((&Kind{Noun: noun}).versionTable()).Get(versionKey(name, version), &v)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.NotFound.Errorf("%s %s version %d", noun, name, version)
	}
	return &v, nil
}

// byteOrder is what some editors put in front of a text.
const byteOrder = "\ufeff"

// Bounds of what stands beside a text in lists, in bytes.
const (
	maxNote = 4 << 10
	maxName = 255 // of a file
)

// check is Check for what may be of any size.
func (k *Kind) check(c *engine.Ctx, file, source string) (string, []Problem, error) {
	if len(file) > maxName || strings.ContainsFunc(file, unicode.IsControl) {
		return "", nil, fault.Invalid.Errorf("name %.60q: at most %d bytes without control characters", file, maxName).In("name")
	}
	if len(source) > declare.MaxFile {
		return "", []Problem{{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("source of %d bytes, at most %d are allowed", len(source), declare.MaxFile)}}, nil
	}
	return k.Check(c, file, strings.TrimPrefix(source, byteOrder))
}

// save keeps a text as a new version and deploys it after the commit. A text equal to the
// deployed one makes no version.
func (k *Kind) save(c *engine.Ctx, p *saveParams) (*Version, error) {
	if len(p.Note) > maxNote {
		return nil, fault.Limit.Errorf("note: %d bytes, limit %d", len(p.Note), maxNote).In("note")
	}
	file, source := fileName(k, p.Name), strings.TrimPrefix(p.Source, byteOrder)
	name, err := k.accepted(c, file, source)
	if err != nil {
		return nil, err
	}
	if err := k.unchanged(c, name, source, p.ChangeToken); err != nil {
		return nil, err
	}
	return k.write(c, name, file, source, p.Note)
}

// token names a version of a text. A text that is not deployed has the empty one.
func (v *Version) token() string {
	if v == nil || v.Deleted {
		return ""
	}
	return fmt.Sprintf("%d-%s", v.Version, v.Name)
}

// unchanged refuses a text if what it would replace is neither the version of the token nor the same text. Somebody who read another text
// and gave it a name that is free may save it. Without a token nobody is asked.
func (k *Kind) unchanged(c *engine.Ctx, name, source string, token *string) error {
	if token == nil {
		return nil
	}
	cur, err := k.current(c, name)
	if err != nil || cur.token() == *token {
		return err
	}
	_, of, _ := strings.Cut(*token, "-")
	if cur == nil || cur.Deleted && of != name {
		return nil
	}
	if old, err := k.same(c, cur, name, source); err != nil || old != nil {
		return err
	}
	said := "has changed since it was read"
	if of != name {
		said = "is there already"
	}
	return k.stale(cur, said)
}

// stale is the error of a change that is based on another version than the present one.
func (k *Kind) stale(cur *Version, said string) error {
	done := fmt.Sprintf("version %d was saved", cur.Version)
	if cur.Deleted {
		done = "it was deleted"
	}
	return fault.Conflict.Errorf("%s %s: %s: %s by %s at %s", k.Noun, cur.Name, said, done, cur.Author, cur.Time.UTC().Format(time.RFC3339)).
		WithCode(fault.CodePreconditionFailed).In("changeToken").About(cur.Name)
}

// accepted returns the name of a text that may be saved.
func (k *Kind) accepted(c *engine.Ctx, file, source string) (string, error) {
	name, problems, err := k.check(c, file, source)
	if err != nil {
		return "", err
	}
	if wrong := Wrong(problems); len(wrong) > 0 {
		return "", Refused(wrong, fault.CodeSource)
	}
	cur, err := k.current(c, name)
	if err == nil && (cur == nil || cur.Deleted) {
		if why := k.taken(c, name); why != "" {
			err = fault.Exists.New(why)
		}
	}
	return name, err
}

// write is the part of save that follows once the text is accepted.
func (k *Kind) write(c *engine.Ctx, name, file, source, note string) (*Version, error) {
	cur, err := k.current(c, name)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		cur = &Version{}
	}
	if old, err := k.same(c, cur, name, source); err != nil || old != nil {
		return old, err
	}
	v := &Version{Name: name, Version: cur.Version + 1, Author: author(c), Time: c.Now, Note: note, File: file, Source: source}
	if err := c.Tx.Table(k.versionTable()).Create(versionKey(name, v.Version), v); err != nil {
		return nil, err
	}
	head := *v
	head.Source = ""
	if err := c.Tx.Table(k.currentTable()).Put(name, head); err != nil {
		return nil, err
	}
	if err := k.keep(c, *v); err != nil {
		return nil, err
	}
	c.After(func(context.Context) error {
		if b, ok := c.Value(batchKey{}).(*batch); ok {
			b.added = append(b.added, *v)
			return nil
		}
		return k.deploy(c.Engine(), *v)
	})
	return v, nil
}

// same returns the current version if it has the source.
func (k *Kind) same(c *engine.Ctx, cur *Version, name, source string) (*Version, error) {
	if cur.Deleted || cur.Version == 0 {
		return nil, nil
	}
	old, err := k.version(c, name, cur.Version)
	if err != nil || old.Source != source {
		return nil, err
	}
	return old, nil
}

func (k *Kind) keep(c *engine.Ctx, v Version) error {
	if k.Keep == nil {
		return nil
	}
	return k.Keep(c.Tx, v)
}

func author(c *engine.Ctx) string {
	if c.As.Actor != "" {
		return c.As.Actor
	}
	return c.As.Name
}

// Refused is the error of a text with problems: all of them, placed at the first.
func Refused(problems []Problem, code fault.Code) error {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.Error()
	}
	return fault.Invalid.New(strings.Join(lines, "\n")).At(problems[0].Line, problems[0].Column).WithCode(code)
}

// Source returns the deployed text of a name; ok is false if there is none.
func (k *Kind) Source(c *engine.Ctx, name string) (source string, ok bool, err error) {
	v, err := k.version(c, name, 0)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return v.Source, true, nil
}

// heads returns what is deployed, by name, without the texts.
func (k *Kind) heads(tx *storage.Tx) ([]Version, error) {
	out := []Version{}
	for _, raw := range tx.Table(k.currentTable()).Scan("", "", false, 0) {
		var v Version
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fault.Internal.Errorf("%s: %w", k.Noun, err)
		}
		if !v.Deleted {
			out = append(out, v)
		}
	}
	return out, tx.Err()
}

// Deployed returns what is deployed of a kind of text, with the texts.
func Deployed(c *engine.Ctx, noun string) ([]Version, error) {
	k := &Kind{Noun: noun}
	all, err := k.heads(c.Tx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		v, err := k.version(c, all[i].Name, all[i].Version)
		if err != nil {
			return nil, err
		}
		all[i] = *v
	}
	return all, nil
}

// remove takes a text out of use; its versions stay readable.
func (k *Kind) remove(c *engine.Ctx, name string, token *string) error {
	v, err := k.current(c, name)
	if err != nil {
		return err
	}
	if v == nil || v.Deleted {
		return fault.NotFound.Errorf("%s %s", k.Noun, name)
	}
	if token != nil && v.token() != *token {
		return k.stale(v, "has changed since it was read")
	}
	v.Deleted, v.Author, v.Time = true, author(c), c.Now
	if err := c.Tx.Table(k.currentTable()).Put(name, v); err != nil {
		return err
	}
	if err := k.keep(c, *v); err != nil {
		return err
	}
	c.After(func(context.Context) error { return k.withdraw(c.Engine(), name, v.Version) })
	return nil
}

// readTime bounds how long a look at what is kept may take.
const readTime = cutOff

// read has fn read the current versions in a transaction. It is no call of an operation: a server looks twice a second, and
// would show each look among its calls and in its traces.
func (k *Kind) read(ctx context.Context, e *engine.Engine, fn func(tx *storage.Tx, heads []Version) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return e.Repo().View(ctx, e.System(), func(tx *storage.Tx) error {
		heads, err := k.heads(tx)
		if err != nil {
			return err
		}
		return fn(tx, heads)
	})
}

// Load deploys everything kept, at start. Texts that no longer compile, because an
// operation they name is gone, are left out and returned as one error.
func (k *Kind) Load(ctx context.Context, e *engine.Engine) error {
	var all []Version
	err := k.read(ctx, e, func(tx *storage.Tx, heads []Version) error {
		all = nil
		for _, head := range heads {
			full, err := Kept(tx, k.Noun, head.Name, head.Version)
			if err != nil {
				return err
			}
			all = append(all, *full)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return err
	}
	return k.deploy(e, all...)
}

// Refresh deploys what other processes have deployed in the same store, and withdraws what they have removed.
func (k *Kind) Refresh(ctx context.Context, e *engine.Engine) error {
	before := k.numbers()
	var added []Version
	var gone []string
	err := k.read(ctx, e, func(tx *storage.Tx, heads []Version) error {
		added, gone = nil, nil
		there := map[string]bool{}
		for _, head := range heads {
			there[head.Name] = true
			if before[head.Name] == head.Version {
				continue
			}
			full, err := Kept(tx, k.Noun, head.Name, head.Version)
			if err != nil {
				return err
			}
			added = append(added, *full)
		}
		for name := range before {
			if !there[name] {
				gone = append(gone, name)
			}
		}
		return nil
	})
	if err != nil {
		return err // what was read before is no reason to withdraw anything
	}
	for _, name := range gone {
		err = errors.Join(err, k.withdraw(e, name, before[name]))
	}
	if len(added) > 0 {
		return errors.Join(err, k.deploy(e, added...))
	}
	return errors.Join(err, k.compileLeft(e))
}
