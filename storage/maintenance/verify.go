package maintenance

import (
	"context"
	"fmt"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
)

const maxDamage = 1000

// Verify reads all rows and returns what does not fit together, and which content is missing or has another length.
// Contents are not read.
func Verify(ctx context.Context, r *storage.Repo) (problems []string, err error) {
	c, err := ListContents(ctx, r)
	if err != nil {
		return nil, err
	}
	report, err := VerifyWith(ctx, r, c, nil)
	for _, d := range report.Damage {
		report.Problems = append(report.Problems, d.String())
	}
	return report.Problems, err
}

// Report is what a verification has found.
type Report struct {
	Problems []string // except for those of content
	Damage   []Damage // of content
}

// add adds damage, unless there is too much of it.
func (r *Report) add(d Damage) {
	if len(r.Damage) < maxDamage {
		r.Damage = append(r.Damage, d)
	}
}

// VerifyWith is Verify with the contents that were listed or read before.
func VerifyWith(ctx context.Context, r *storage.Repo, c *Contents, p Progress) (out Report, err error) {
	out.Problems, err = insideRepo(r).VerifyRows(ctx, func(t *storage.Tx, d *storage.Doc, xpath string, b *storage.Blob) {
		size, there := c.sizes[b.Digest]
		problem := c.problems[b.Digest]
		if problem == "" && there && size != b.Size {
			problem = fmt.Sprintf("has %d bytes instead of %d", size, b.Size)
		}
		if problem != "" {
			path := ""
			if whole, err := t.Internal(row.Ordered{}).Load(t.Internal(row.Ordered{}).ID(d)); err == nil && whole != nil {
				path = whole.Path()
			}
			out.add(Damage{Repository: r.Name(), Path: path, ID: d.ID(), XPath: xpath, Digest: b.Digest, Problem: problem})
		}
	}, func() { p.add(1, 0) })
	if err != nil || r.IsPart() {
		return out, err
	}
	err = r.View(ctx, r.System(), func(t *storage.Tx) error { return unowned(t, c, &out) })
	return out, err
}

// unowned adds damaged content that something other than a document refers to.
func unowned(t *storage.Tx, c *Contents, out *Report) error {
	for digest, problem := range c.problems {
		ids, err := t.Internal(row.Ordered{}).Referring(digest, maxHolders)
		if err != nil {
			return err
		}
		owned := len(ids) == 0
		for _, one := range insideRepo(t.Repo()).All() {
			if owned {
				break
			}
			err := one.View(t.Context(), one.System(), func(t *storage.Tx) error {
				for _, id := range ids {
					b, err := t.Internal(row.Ordered{}).KV().Get(layout.RecordKey(id))
					owned = owned || err == nil && b != nil
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if !owned {
			out.Damage = append(out.Damage, Damage{Digest: digest, Problem: problem})
		}
	}
	return nil
}
