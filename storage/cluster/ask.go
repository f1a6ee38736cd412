package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// What a node keeps for itself, such as the traces of its calls, the others ask it for. A question is a row, and so is each answer,
// since nodes need not be able to reach each other. Nothing is written or read while nobody asks.

// AskTime bounds how long the answers of other nodes are waited for: a person waits for them.
const AskTime = 2 * time.Second

const (
	askPoll   = 250 * time.Millisecond // wake-ups may be lost
	askedKept = time.Minute            // rows that a lost node has left are removed after it
	maxAnswer = 4 << 20
)

// The topics by which nodes learn of questions and of answers.
const asked, answered = "questions", "answers"

// What is asked for is not for everyone to see, so the rows are secret as well.
var (
	questions = row.Secret{Name: "questions"}
	answers   = row.Secret{Name: "answers"} // by question and node
)

type question struct {
	At    time.Time
	From  string
	Name  string
	Value json.RawMessage
}

type answer struct {
	Value json.RawMessage `json:",omitempty"`
	Error string          `json:",omitempty"`
}

// Answers are what a node answers to questions, by their name.
type Answers map[string]func(ctx context.Context, question json.RawMessage) (any, error)

// Ask puts a question to all other nodes, and returns their answers by node, and the nodes that have not answered in time or could
// not. Without other nodes, and on a store that is not shared (m is nil), nothing is asked.
func Ask[T any](ctx context.Context, m *Member, name string, q any) (all map[string]T, silent []string, err error) {
	if m == nil {
		return nil, nil, nil
	}
	var others []string
	if err := m.repo.View(ctx, m.repo.System(), func(t *storage.Tx) error {
		nodes, err := list(t)
		others = nil
		for _, n := range nodes {
			if n.ID != m.self.ID && !n.Lost {
				others = append(others, n.ID)
			}
		}
		return err
	}); err != nil || len(others) == 0 {
		return nil, nil, err
	}
	raw, err := m.ask(ctx, name, q, others)
	all = map[string]T{}
	for _, node := range others {
		a, ok := raw[node]
		if !ok || a.Error != "" {
			silent = append(silent, node)
			continue
		}
		v, bad := decoded[T](a.Value, "answer")
		if bad != nil {
			return nil, nil, bad
		}
		all[node] = v
	}
	return all, silent, err
}

// ask waits for the answers of other nodes.
func (m *Member) ask(ctx context.Context, name string, q any, others []string) (got map[string]answer, err error) {
	value, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	woken, stop := m.repo.Internal(row.Ordered{}).Store().Watch(answered)
	defer stop()
	id := rand.Text()
	if err := m.change(ctx, asked, func(t *storage.Tx) error {
		return t.Secret(questions).Put(id, question{t.Now(), m.self.ID, name, value})
	}); err != nil {
		return nil, err
	}
	defer func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), AskTime)
		defer cancel()
		if bad := m.change(short, "", func(t *storage.Tx) error { return forgetQuestion(t, id) }); bad != nil {
			m.log.Debug("a question remains", "err", bad)
		}
	}()
	for end := time.Now().Add(AskTime); ; {
		if got, err = m.answersTo(ctx, id); err != nil || len(got) >= len(others) || !time.Now().Before(end) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-woken:
		case <-time.After(min(askPoll, time.Until(end))):
		}
	}
}

// change is a transaction of the server's own, after which watchers of a topic are woken.
func (m *Member) change(ctx context.Context, topic string, fn func(t *storage.Tx) error) error {
	return m.repo.Update(ctx, m.repo.System(), func(t *storage.Tx) error {
		if topic != "" {
			t.Internal(row.Ordered{}).KV().Wake(topic)
		}
		return fn(t)
	})
}

func (m *Member) answersTo(ctx context.Context, id string) (got map[string]answer, err error) {
	err = m.repo.View(ctx, m.repo.System(), func(t *storage.Tx) error {
		got = map[string]answer{}
		for key, raw := range t.Secret(answers).Scan(id+"/", id+"0", false, 0) {
			a, err := decoded[answer](raw, "answer")
			if err != nil {
				return err
			}
			got[strings.TrimPrefix(key, id+"/")] = a
		}
		return t.Err()
	})
	return got, err
}

// forgetQuestion removes a question with its answers.
func forgetQuestion(t *storage.Tx, id string) error {
	err := t.Secret(questions).Delete(id)
	for key := range t.Secret(answers).Scan(id+"/", id+"0", false, 0) {
		err = errors.Join(err, t.Secret(answers).Delete(key))
	}
	return errors.Join(err, t.Err())
}

// Answer answers the questions of other nodes until ctx ends.
func (m *Member) Answer(ctx context.Context, all Answers) error {
	woken, stop := m.repo.Internal(row.Ordered{}).Store().Watch(asked)
	defer stop()
	clean := time.NewTicker(askedKept)
	defer clean.Stop()
	done := map[string]bool{} // questions that were answered and are there still
	for tidy := false; ; {
		if err := m.answerAll(ctx, all, done, tidy); err != nil && ctx.Err() == nil {
			m.log.Warn("questions of other servers cannot be answered", "err", err)
		}
		tidy = false
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-clean.C:
			tidy = true
		}
	}
}

// answerAll answers what was asked since, and if it is time to, removes what lost nodes have left.
func (m *Member) answerAll(ctx context.Context, all Answers, done map[string]bool, tidy bool) error {
	var asked map[string]question
	var old []string
	if err := m.repo.View(ctx, m.repo.System(), func(t *storage.Tx) (err error) {
		asked, old, err = askedOf(t)
		return err
	}); err != nil {
		return err
	}
	for id := range done {
		if _, there := asked[id]; !there {
			delete(done, id)
		}
	}
	for id, q := range asked {
		if q.From == m.self.ID || done[id] {
			continue
		}
		done[id] = true
		a := answerTo(ctx, all, q)
		if err := m.change(ctx, answered, func(t *storage.Tx) error {
			// The asker may have gone meanwhile, and would not remove it.
			if there, err := t.Secret(questions).Get(id, new(question)); err != nil || !there {
				return err
			}
			return t.Secret(answers).Put(id+"/"+m.self.ID, a)
		}); err != nil {
			return err
		}
	}
	if !tidy || len(old) == 0 {
		return nil
	}
	return m.change(ctx, "", func(t *storage.Tx) error {
		var err error
		for _, id := range old {
			err = errors.Join(err, forgetQuestion(t, id))
		}
		return err
	})
}

// askedOf returns the questions, and which of them nobody waits for.
func askedOf(t *storage.Tx) (all map[string]question, old []string, err error) {
	all = map[string]question{}
	for id, raw := range t.Secret(questions).Scan("", "", false, 0) {
		q, err := decoded[question](raw, "question")
		if err != nil {
			return nil, nil, err
		}
		if t.Now().Sub(q.At) > askedKept {
			old = append(old, id)
			continue
		}
		all[id] = q
	}
	return all, old, t.Err()
}

func answerTo(ctx context.Context, all Answers, q question) (a answer) {
	fn := all[q.Name]
	if fn == nil {
		a.Error = "unknown question " + q.Name // of a newer version
		return a
	}
	v, err := fn(ctx, q.Value)
	if err == nil {
		a.Value, err = json.Marshal(v)
	}
	if err == nil && len(a.Value) > maxAnswer {
		err = fault.Limit.Errorf("answer of %d bytes, limit %d", len(a.Value), maxAnswer)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return a
}
