package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// How many documents are named for one content: by an error, and in the list of what is damaged.
const (
	maxNamed  = 20
	maxListed = 1000
)

// Damage is damaged or missing content, with a document that has it. Content that no document has, such as that of an
// upload, has no document here.
type Damage struct {
	Repository string `json:"repository,omitempty"`
	Path       string `json:"path,omitempty"`
	ID         string `json:"uid,omitempty"`
	XPath      string `json:"xpath,omitempty"`
	Digest     string `json:"digest"`
	Problem    string `json:"problem"`
}

// String is a line of a report.
func (d Damage) String() string {
	if d.ID == "" {
		return fmt.Sprintf("content %s %s", d.Digest, d.Problem)
	}
	return fmt.Sprintf("%s: document %s (%s), %s: content %s %s", d.Repository, d.Path, d.ID, d.XPath, d.Digest, d.Problem)
}

// Explain returns an error that damaged content caused as one that names the documents with this content that the
// principal may read. Every other error is returned as it is.
func Explain(ctx context.Context, r *storage.Repo, as *storage.Principal, err error) error {
	found := blob.DamageIn(err)
	if found == nil || as == nil {
		return err
	}
	all, _, failed := content{found.Digest, found.What, maxNamed}.holders(ctx, r, as)
	if failed != nil || len(all) == 0 {
		return fault.Internal.Errorf("%w", errors.Join(found, failed)).WithCode(fault.CodeContentDamaged)
	}
	var text strings.Builder
	for i, d := range all {
		if i > 0 {
			text.WriteString("; ")
		}
		fmt.Fprintf(&text, "document %s, %s", d.Path, d.XPath)
	}
	out := fault.Internal.Errorf("%s: content %s %s", text.String(), found.Digest, found.What).WithCode(fault.CodeContentDamaged)
	out.Err = found
	return out
}

// located returns damage with the documents of all repositories that have the content, those of no document included,
// in the order of the digests. Content that nothing refers to any longer is left out.
func located(ctx context.Context, r *storage.Repo, problems map[string]string) (out []Damage, err error) {
	digests := make([]string, 0, len(problems))
	for digest := range problems {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	for _, digest := range digests {
		all, needed, err := content{digest, problems[digest], maxListed}.holders(ctx, r, r.System())
		if err != nil {
			return nil, err
		}
		if len(all) == 0 && needed {
			all = []Damage{{Digest: digest, Problem: problems[digest]}}
		}
		out = append(out, all...)
	}
	return out, nil
}

// content is damaged or missing content, whose holders are looked for.
type content struct {
	digest, problem string
	most            int // documents of one repository that refer to it
}

// holders finds the documents of all repositories that have the content and that the principal may read, and reports
// whether anything refers to it.
func (c content) holders(ctx context.Context, r *storage.Repo, as *storage.Principal) (out []Damage, needed bool, err error) {
	for _, one := range insideRepo(r).All() {
		var found []Damage
		err := one.View(ctx, as, func(t *storage.Tx) error {
			found = nil
			ids, err := t.Internal(row.Ordered{}).Referring(c.digest, c.most)
			needed = needed || len(ids) > 0
			for _, id := range ids {
				if err != nil {
					return err
				}
				var some []Damage
				some, err = c.in(t, id)
				found = append(found, some...)
			}
			return err
		})
		if err != nil {
			return nil, needed, err
		}
		out = append(out, found...)
	}
	return out, needed, nil
}

// in returns where a document has the content; nothing if it is not here, or not for the principal.
func (c content) in(t *storage.Tx, id layout.ID) (out []Damage, err error) {
	d, err := t.Internal(row.Ordered{}).Visible(id)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = t.Internal(row.Ordered{}).EachFile(d, func(xpath string, b *blob.Blob) error {
		if b.Digest == c.digest {
			out = append(out, Damage{Repository: t.Repo().Name(), Path: d.Path(), ID: d.ID(), XPath: xpath, Digest: c.digest, Problem: c.problem})
		}
		return nil
	})
	return out, err
}

// referred calls fn once with the digest of each content that something refers to.
func referred(ctx context.Context, r *storage.Repo, fn func(k *kv.Tx, digest string) error) error {
	return insideRepo(r).DB().View(ctx, func(k *kv.Tx) error {
		rg := kv.Prefix(layout.BlobRefs())
		rg.KeysOnly = true
		last := ""
		for found, err := range k.Scan(rg) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			digest, _, err := kv.DecodeString(found.Key[len(layout.BlobRefs()):])
			if err != nil || digest == last {
				continue // the indexes are verified elsewhere
			}
			last = digest
			if err := fn(k, digest); err != nil {
				return err
			}
		}
		return nil
	})
}

// DamagedContent is the error of a verb that has done its work except for content that is damaged.
type DamagedContent struct{ Damage []Damage }

// Error returns the number of damages; the list is for reports.
func (d *DamagedContent) Error() string {
	return fmt.Sprintf("content is damaged or missing: %d", len(d.Damage))
}

// Unwrap marks it as damage of stored data.
func (d *DamagedContent) Unwrap() error {
	return fault.Internal.Errorf("%w", kv.ErrDamaged).WithCode(fault.CodeContentDamaged)
}

// damagedContent is nil if nothing is damaged.
func damagedContent(all []Damage) error {
	if len(all) == 0 {
		return nil
	}
	return &DamagedContent{all}
}

func insideRepo(r *storage.Repo) storage.RepoInternal { return r.Internal(row.Ordered{}) }
