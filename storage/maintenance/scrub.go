package maintenance

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

const (
	// scrubBatch is how many contents are listed at once.
	scrubBatch = 1000
	// scrubRest is how many times longer than it reads the scrubber then rests, and scrubLongest the longest rest.
	scrubRest    = 9
	scrubLongest = time.Second
	// scrubNotes is how often what was reached and found is written down.
	scrubNotes = time.Minute
)

var (
	scrubTable  = row.Secret{Name: "scrub"}           // "state"
	damageTable = row.Secret{Name: "damaged content"} // by digest
)

// Scrubber reads the content of all files once in a while and compares it with the digests, so that damage is noticed while
// there still are backups from before it. Content is due when the part of the interval has passed that its digest has of all
// digests: the work is spread evenly, and where it is after a restart follows from the last digest and the beginning.
type Scrubber struct {
	repo  *storage.Repo
	every time.Duration
	state scrubState
	saved scrubState

	found           map[string]bool // damaged content that the log and the store know of
	contents, bytes atomic.Int64

	mu   sync.Mutex
	last time.Time // when the last pass ended
}

// scrubState is how far the scrubber is.
type scrubState struct {
	Began time.Time
	After string // digest of the last content that was read
	Last  time.Time
}

// damageRow is what is kept of damage.
type damageRow struct {
	Problem string
	Found   time.Time
}

// NewScrubber returns the scrubber of the content of all repositories, which reads all of it once in an interval.
func NewScrubber(r *storage.Repo, every time.Duration) *Scrubber {
	return &Scrubber{repo: r, every: every, found: map[string]bool{}}
}

// ScrubStats says what a scrubber has done since it was started.
type ScrubStats struct {
	Contents, Bytes int64
	Damaged         int       // contents that are known to be damaged or missing
	Last            time.Time // when all content had last been read; zero: never
}

// Stats returns the scrubber's figures.
func (s *Scrubber) Stats() ScrubStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ScrubStats{s.contents.Load(), s.bytes.Load(), len(s.repo.Blobs().Damaged()), s.last}
}

// Status returns an error that says how many contents are damaged; nil if none are known to be.
func (s *Scrubber) Status(context.Context) error {
	if n := s.Stats().Damaged; n > 0 {
		return fault.Internal.Errorf("%d contents are damaged or missing", n).WithCode(fault.CodeContentDamaged)
	}
	return nil
}

// Run scrubs until ctx ends.
func (s *Scrubber) Run(ctx context.Context) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := s.pass(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			s.repo.Log().Warn("content cannot be scrubbed", "error", err)
		}
		if err := s.wait(ctx, time.Now().Add(scrubNotes)); err != nil && ctx.Err() == nil {
			return err
		}
	}
	ended := context.WithoutCancel(ctx)
	if err := s.note(ended); err != nil {
		return err // no progress is kept beyond damage that is not
	}
	return s.save(ended)
}

// load reads the state that an earlier process left, and reads again what was damaged then.
func (s *Scrubber) load(ctx context.Context) error {
	known := map[string]damageRow{}
	err := s.repo.View(ctx, s.repo.System(), func(t *storage.Tx) error {
		clear(known)
		if _, err := t.Secret(scrubTable).Get("state", &s.state); err != nil {
			return err
		}
		return eachRow(t.Secret(damageTable), func(digest string, d damageRow) { known[digest] = d })
	})
	if err != nil {
		return err
	}
	s.saved = s.state
	for digest, d := range known {
		s.found[digest] = true
		err := s.repo.Blobs().Verify(ctx, digest)
		if err != nil && blob.DamageIn(err) == nil {
			s.repo.Blobs().Note(&blob.Damage{Digest: digest, What: d.Problem})
		}
	}
	if s.state.Began.IsZero() {
		return s.begin(ctx)
	}
	s.reached(s.state.Last)
	return s.note(ctx)
}

// begin begins a pass: what is missing is known at once.
func (s *Scrubber) begin(ctx context.Context) error {
	s.state.Began, s.state.After = time.Now(), ""
	c, err := listContents(ctx, s.repo)
	if err != nil {
		return err
	}
	for digest, problem := range c.problems {
		s.repo.Blobs().Note(&blob.Damage{Digest: digest, What: problem})
	}
	return s.note(ctx)
}

func (s *Scrubber) reached(last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
}

// pass reads all content from where the state is, each when it is due, and begins the next pass when that is.
func (s *Scrubber) pass(ctx context.Context) error {
	for {
		batch, err := s.repo.Blobs().After(ctx, s.state.After, scrubBatch)
		if err != nil {
			return err
		}
		for _, c := range batch {
			if err := s.wait(ctx, s.due(c.Digest)); err != nil {
				return err
			}
			if err := s.read(ctx, c.Digest, c.Size); err != nil {
				return err
			}
			s.state.After = c.Digest
		}
		if len(batch) == 0 {
			break
		}
	}
	if s.state.Last.Before(s.state.Began) {
		s.state.Last = time.Now()
		s.reached(s.state.Last)
	}
	if err := s.wait(ctx, s.state.Began.Add(s.every)); err != nil {
		return err
	}
	return s.begin(ctx)
}

// due is when content is to be read in this pass.
func (s *Scrubber) due(digest string) time.Time {
	const digits = 8
	n, _ := strconv.ParseUint(digest[:digits], 16, 64)
	return s.state.Began.Add(time.Duration(float64(s.every) * float64(n) / (1 << (4 * digits))))
}

// read verifies one content, slowly. Damage is known to the store of contents afterwards.
func (s *Scrubber) read(ctx context.Context, digest string, size int64) error {
	if there, err := s.repo.Blobs().Has(ctx, digest); err != nil || !there {
		return err // removed since it was listed; what is missing was looked for when the pass began
	}
	last := time.Now()
	err := s.repo.Blobs().VerifyAs(ctx, digest, size, func(n int) error {
		s.bytes.Add(int64(n))
		err := s.wait(ctx, time.Now().Add(min(scrubRest*time.Since(last), scrubLongest)))
		last = time.Now()
		return err
	})
	s.contents.Add(1)
	if blob.DamageIn(err) == nil {
		return err
	}
	return nil // the damage is known now
}

// wait waits for a moment, and takes note of damage and of what was reached meanwhile.
func (s *Scrubber) wait(ctx context.Context, until time.Time) error {
	for {
		left := time.Until(until)
		timer := time.NewTimer(max(0, min(left, scrubNotes)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-s.repo.Blobs().Found():
			timer.Stop()
			if err := s.note(ctx); err != nil {
				return err
			}
		case <-timer.C:
			if left <= 0 {
				return nil
			}
			if err := errors.Join(s.adopt(ctx), s.note(ctx), s.save(ctx)); err != nil {
				return err
			}
		}
	}
}

// adopt takes over what other servers have found since, and reads it again.
func (s *Scrubber) adopt(ctx context.Context) error {
	told := map[string]damageRow{}
	if err := s.repo.View(ctx, s.repo.System(), func(t *storage.Tx) error {
		clear(told)
		return eachRow(t.Secret(damageTable), func(digest string, d damageRow) { told[digest] = d })
	}); err != nil {
		return err
	}
	for digest, d := range told {
		if s.found[digest] {
			continue
		}
		switch err := s.repo.Blobs().Verify(ctx, digest); {
		case err == nil:
			s.found[digest] = true // it is whole, so that its row goes
		case blob.DamageIn(err) == nil:
			s.repo.Blobs().Note(&blob.Damage{Digest: digest, What: d.Problem})
		}
	}
	return nil
}

// Tell writes down the damage that this server finds while another one of the store scrubs, which takes it over.
func (s *Scrubber) Tell(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.repo.Blobs().Found():
		}
		known := s.repo.Blobs().Damaged()
		err := s.repo.Update(ctx, s.repo.System(), func(t *storage.Tx) error {
			table := t.Secret(damageTable)
			for digest, d := range known {
				if there, err := table.Get(digest, new(damageRow)); err != nil {
					return err
				} else if there {
					continue
				}
				if err := table.Put(digest, damageRow{d.What, t.Now()}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.repo.Log().Warn("damaged content is not written down", "contents", len(known), "error", err)
		}
	}
}

// save writes down what was reached.
func (s *Scrubber) save(ctx context.Context) error {
	if s.saved == s.state {
		return nil
	}
	err := s.repo.Update(ctx, s.repo.System(), func(t *storage.Tx) error { return t.Secret(scrubTable).Put("state", s.state) })
	if err == nil {
		s.saved = s.state
	}
	return err
}

// note logs new damage with the documents that have it, and writes down what is damaged. What nobody needs is forgotten.
func (s *Scrubber) note(ctx context.Context) error {
	known := s.repo.Blobs().Damaged()
	if len(known) == 0 && len(s.found) == 0 {
		return nil
	}
	problems := map[string]string{}
	for digest, d := range known {
		problems[digest] = d.What
	}
	located, err := located(ctx, s.repo, problems)
	if err != nil {
		return err
	}
	now, changed := map[string]bool{}, false
	for _, d := range located {
		now[d.Digest] = true
		if !s.found[d.Digest] {
			changed = true
			s.repo.Log().Error("content is damaged or missing", slog.String("repository", d.Repository), slog.String("document", d.Path),
				slog.String("uid", d.ID), slog.String("xpath", d.XPath), slog.String("digest", d.Digest), slog.String("problem", d.Problem))
		}
	}
	for digest := range known {
		if !now[digest] {
			s.repo.Blobs().Forget(digest)
		}
	}
	for digest := range s.found {
		changed = changed || !now[digest]
	}
	if !changed {
		return nil
	}
	err = s.repo.Update(ctx, s.repo.System(), func(t *storage.Tx) error { return writeDamage(t, s.found, now, problems) })
	if err == nil {
		s.found = now
	}
	return err
}

// eachRow reads the rows of damage.
func eachRow(table storage.Table, fn func(digest string, d damageRow)) error {
	for digest, raw := range table.Scan("", "", false, 0) {
		var d damageRow
		if err := json.Unmarshal(raw, &d); err != nil {
			return fault.Internal.Errorf("damaged content %s: %w", digest, err)
		}
		fn(digest, d)
	}
	return nil
}

// writeDamage makes the rows of damage those that are given, instead of those before. What another server has written meanwhile stays.
func writeDamage(t *storage.Tx, before, now map[string]bool, problems map[string]string) error {
	table := t.Secret(damageTable)
	old := map[string]bool{}
	if err := eachRow(table, func(digest string, _ damageRow) { old[digest] = true }); err != nil {
		return err
	}
	for digest := range old {
		if before[digest] && !now[digest] {
			if err := table.Delete(digest); err != nil {
				return err
			}
		}
	}
	for digest := range now {
		if !old[digest] {
			if err := table.Put(digest, damageRow{problems[digest], t.Now()}); err != nil {
				return err
			}
		}
	}
	return nil
}
