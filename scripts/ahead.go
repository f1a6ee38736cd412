package scripts

import (
	"bytes"
	"maps"
)

// A script that reads one thing after the other, by texts of a list that it has been
// given or has written down, would wait for each answer. The worker sees which list the
// texts of its last calls came from, and announces with a call the texts that follow;
// the server sends those answers right after the first. Only operations that change
// nothing are announced, and what has come is thrown away before anything changes, so
// the script gets the answers that it would have had to wait for.

const (
	firstAhead   = 8       // calls announced once a list is known
	mostAhead    = 64      // calls announced at once
	growth       = 4       // times as many are announced each time, as long as the guess holds
	mostLists    = 16      // values looked at for lists of texts
	mostTexts    = 100_000 // items of them looked at
	mostMisses   = 3       // searches in vain before an operation is left alone
	sentTogether = 8       // answers sent at once, so that the worker is not woken for each
	noMoreSize   = 16      // bytes of a frameNoMore, at most
)

// pattern is what the calls of a stream have in common: they differ in one text, a
// parameter or, where its name is empty, the input.
type pattern struct {
	op     string
	in     any
	params map[string]any
	name   string
}

// text returns the text of a call of this pattern.
func (p *pattern) text(op string, in any, params map[string]any) (string, bool) {
	if op != p.op || len(params) != len(p.params) {
		return "", false
	}
	var text any
	if p.name == "" {
		text = in
	} else if text = params[p.name]; in != p.in {
		return "", false
	}
	for k, v := range p.params {
		if x, ok := params[k]; !ok || k != p.name && x != v {
			return "", false
		}
	}
	s, ok := text.(string)
	return s, ok
}

// announcement are calls that differ from the one they come with in a text.
type announcement struct {
	batch uint64
	texts []string
	pattern
}

// of notes the call that the announcement comes with, before anybody changes its parameters.
func (a *announcement) of(op string, in any, params map[string]any) {
	if len(a.texts) > 0 {
		a.op, a.in, a.params = op, in, maps.Clone(params)
	}
}

// announced reads an announcement.
func (r *reader) announced() announcement {
	n := r.count()
	if n > mostAhead {
		r.fail()
	}
	if n == 0 || r.err != nil {
		return announcement{}
	}
	a := announcement{batch: r.uint(), texts: make([]string, n)}
	a.name = r.string()
	for i := range a.texts {
		a.texts[i] = r.string()
	}
	return a
}

// lookAhead sends the answers to announced calls until the worker goes another way. It
// never waits for room: the worker may be waiting for room itself.
func (s *supervisor) lookAhead(a announcement) error {
	w := &s.p.w
	l := s.p.link
	if l == nil {
		return errWire
	}
	together := s.p.room.together[:0]
	done := 0
	for _, text := range a.texts {
		// The worker has said something: it may have gone another way, and what follows would be wasted.
		if l.heard() || s.p.in.buffered() || s.calls >= s.limits.Calls || s.vain >= s.limits.Calls {
			break
		}
		s.calls++
		if s.answerAhead(w, a, text) != nil || len(together)+len(w.b)+noMoreSize > l.room() {
			break
		}
		w.end()
		together = append(together, w.b...)
		if done++; done%sentTogether == 0 {
			if _, err := s.p.out.Write(together); err != nil {
				return err
			}
			together = together[:0]
		}
	}
	if done < len(a.texts) {
		w.start(frameNoMore)
		w.uint(a.batch)
		w.end()
		together = append(together, w.b...)
	}
	s.p.room.together = together
	_, err := s.p.out.Write(together)
	return err
}

// answerAhead writes the answer to one announced call.
func (s *supervisor) answerAhead(w *writer, a announcement, text string) error {
	in, params := a.in, s.params // that of the call around, which has ended
	if a.params == nil {
		params = nil
	} else {
		clear(params)
		maps.Copy(params, a.params)
	}
	if a.name == "" {
		in = text
	} else {
		params[a.name] = text
	}
	v, step, err := s.host.prepare(a.op, in, params, s.line)
	s.ahead = append(s.ahead, step)
	w.start(frameAhead)
	w.uint(a.batch)
	return s.result(w, v, err)
}

// settle takes out of what is recorded the calls that were answered ahead and that the script did not make. The worker has gone
// another way, or ended.
func (s *supervisor) settle() {
	if s.p.link == nil {
		return
	}
	taken := s.p.link.peer.taken.Load()
	made := min(uint64(taken-s.taken), uint64(len(s.ahead))) // the worker may write any number there
	unmade := s.ahead[made:]
	s.host.unmade(unmade)
	s.calls, s.vain = s.calls-len(unmade), s.vain+len(unmade)
	s.ahead, s.taken = s.ahead[:0], taken
}

// stream is what a worker knows of the calls that follow each other.
type stream struct {
	pattern
	list    []any  // that the texts are from; nil: not known
	next    int    // place in list of the next text
	line    int    // of the call that made the last announcement
	size    int    // of the last announcement
	batch   uint64 // its number
	waiting int    // answers that are to come
	frames  [][]byte
	seen    []any // values that may hold lists of texts
	misses  map[string]int
}

// note remembers a value that the script has been given.
func (t *stream) note(v any) {
	switch v.(type) {
	case []any, map[string]any:
		if len(t.seen) == mostLists {
			t.seen = t.seen[:copy(t.seen, t.seen[1:])]
		}
		t.seen = append(t.seen, v)
	}
}

// forget throws away the answers that have come ahead.
func (t *stream) forget() {
	if t.waiting > 0 || len(t.frames) > 0 {
		t.waiting, t.frames, t.size = 0, nil, 0
	}
}

// took keeps a frame that answers an announced call; others are of announcements given up.
func (t *stream) took(frame []byte) {
	r := reader{b: frame}
	kind := r.byte()
	if r.uint() != t.batch || t.waiting == 0 {
		return
	}
	if kind == frameNoMore { // there was no room for so many
		t.waiting, t.size = 0, t.size/(2*growth)
		return
	}
	t.waiting--
	t.frames = append(t.frames, bytes.Clone(r.b))
}

// follows reports whether a call is the next of the stream.
func (t *stream) follows(op string, in any, params map[string]any) bool {
	if t.list == nil || t.next >= len(t.list) {
		return false
	}
	text, ok := t.text(op, in, params)
	return ok && t.list[t.next] == text
}

// announce notes a call that has to be waited for, and writes which ones will probably follow it.
func (t *stream) announce(w *writer, op string, in any, params map[string]any, line int) {
	texts := t.predict(op, in, params)
	t.line = line
	w.uint(uint64(len(texts)))
	if len(texts) == 0 {
		return
	}
	t.batch++
	t.waiting = len(texts)
	w.uint(t.batch)
	w.string(t.name)
	for _, x := range texts {
		s, _ := x.(string)
		w.string(s)
	}
}

func (t *stream) predict(op string, in any, params map[string]any) []any {
	if t.follows(op, in, params) {
		t.next++
		t.size = min(max(firstAhead, growth*t.size), mostAhead)
	} else if !t.found(op, in, params) {
		return nil
	}
	return t.list[t.next:min(t.next+t.size, len(t.list))]
}

// found compares a call with the one before, and searches for the list that their texts are from.
func (t *stream) found(op string, in any, params map[string]any) bool {
	before := t.pattern
	t.list, t.size, t.pattern = nil, 0, pattern{op, in, params, ""}
	if before.op != op || t.misses[op] >= mostMisses || !t.oneDiffers(&before) {
		return false
	}
	last, _ := before.value(t.name).(string)
	now, ok := t.value(t.name).(string)
	if !ok || last == "" {
		return false
	}
	left := mostTexts
	for _, v := range t.seen {
		// Three levels reach the lists in the entries of a page of results.
		if t.search(v, last, now, 3, &left) {
			t.size = firstAhead
			return true
		}
	}
	if t.misses == nil {
		t.misses = map[string]int{}
	}
	t.misses[op]++
	return false
}

// oneDiffers reports whether the call is the same as the one before except for its input or one of its parameters, whose
// name it sets.
func (t *stream) oneDiffers(before *pattern) bool {
	if len(before.params) != len(t.params) || !plain(t.in) {
		return false
	}
	differ := 0
	if t.in != before.in {
		differ++
	}
	for k, v := range t.params {
		if !plain(v) || !plain(before.params[k]) {
			return false
		}
		if v != before.params[k] {
			differ++
			t.name = k
		}
	}
	return differ == 1
}

func (p *pattern) value(name string) any {
	if name == "" {
		return p.in
	}
	return p.params[name]
}

// plain reports whether a value can be compared.
func plain(v any) bool {
	switch v.(type) {
	// Comparing maps or lists with == would panic.
	case nil, bool, int64, float64, string, *remoteDoc:
		return true
	}
	return false
}

// search looks for two texts that follow each other in a list within v.
func (t *stream) search(v any, last, now string, depth int, left *int) bool {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if *left--; *left < 0 {
				return false
			}
			if s, ok := x.(string); ok {
				if i > 0 && s == now && v[i-1] == last {
					t.list, t.next = v, i+1
					return true
				}
			} else if depth > 0 && t.search(x, last, now, depth-1, left) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if depth > 0 && t.search(x, last, now, depth-1, left) {
				return true
			}
		}
	}
	return false
}
