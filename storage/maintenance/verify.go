package maintenance

import (
	"context"
	"fmt"
	"maps"

	"catena/storage"
	"catena/storage/internal/row"

	"golang.org/x/sync/errgroup"
)

// Verify reads all rows of a repository and returns what does not fit together, and which content is missing, has another
// length or is known to be damaged. Contents are not read.
func Verify(ctx context.Context, r *storage.Repo) ([]string, error) {
	all, err := listContents(ctx, r)
	if err != nil {
		return nil, err
	}
	for digest, found := range r.Blobs().Damaged() {
		all.problems[digest] = found.What
	}
	problems, lengths, err := verifyRows(ctx, r, all.sizes, nil)
	if err != nil {
		return nil, err
	}
	damage, err := all.damage(ctx, r, lengths)
	for _, d := range damage {
		if d.Repository == r.Name() || d.Repository == "" && !r.IsPart() {
			problems = append(problems, d.String())
		}
	}
	return problems, err
}

// Report is what a verification has found.
type Report struct {
	Problems []string // except for those of content, behind the name of the repository
	Damage   []Damage // of content, in the order of the digests
}

// VerifyAll is Verify of all repositories that have their rows in one store. It also reads all content, and compares it
// with the checksums of its blocks, or with its digest where there are none. The scrubber always computes the digests.
// Rows are verified while contents are read: the ones take processors, the others the disk.
func VerifyAll(ctx context.Context, r *storage.Repo, p Progress) (out Report, err error) {
	all, err := listContents(ctx, r)
	if err != nil {
		return out, err
	}
	var lengths []Damage
	work, both := errgroup.WithContext(ctx)
	work.Go(func() error { return all.read(both, r.Blobs(), p) })
	work.Go(func() error {
		for _, one := range insideRepo(r).All() {
			problems, wrong, err := verifyRows(both, one, all.sizes, p)
			if err != nil {
				return err
			}
			for _, problem := range problems {
				out.Problems = append(out.Problems, one.Name()+": "+problem)
			}
			lengths = append(lengths, wrong...)
		}
		return nil
	})
	if err = work.Wait(); err != nil {
		return out, err
	}
	out.Damage, err = all.damage(ctx, r, lengths)
	return out, err
}

// verifyRows returns what does not fit together in a repository, and the files whose length is not that of their content.
func verifyRows(ctx context.Context, r *storage.Repo, sizes map[string]int64, p Progress) (problems []string, lengths []Damage, err error) {
	problems, err = insideRepo(r).VerifyRows(ctx, func(t *storage.Tx, d *storage.Doc, xpath string, b *storage.Blob) {
		size, there := sizes[b.Digest]
		if !there || size == b.Size || len(lengths) == maxListed {
			return
		}
		path := ""
		if whole, err := t.Internal(row.Ordered{}).Load(t.Internal(row.Ordered{}).ID(d)); err == nil && whole != nil {
			path = whole.Path()
		}
		problem := fmt.Sprintf("has %d bytes instead of %d", size, b.Size)
		lengths = append(lengths, Damage{Repository: r.Name(), Path: path, ID: d.ID(), XPath: xpath, Digest: b.Digest, Problem: problem})
	}, func() { p.add(1, 0) })
	return problems, lengths, err
}

// damage lists what is wrong with contents by the documents that have them, and files of a wrong length, unless their
// content is wrong anyway.
func (c *contents) damage(ctx context.Context, r *storage.Repo, lengths []Damage) ([]Damage, error) {
	problems := maps.Clone(c.problems)
	out, err := located(ctx, r, problems)
	for _, d := range lengths {
		if problems[d.Digest] == "" {
			out = append(out, d)
		}
	}
	return out, err
}
