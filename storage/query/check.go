package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage/fault"

	"catena/storage/schema"
)

// System is what a field of the document itself means.
type System uint8

// The system fields. Property is a field of a schema.
const (
	Property System = iota
	SysUUID
	SysPath
	SysName
	SysParentID
	SysType
	SysMixin
	SysState
	SysIsVersion
	SysIsProxy
	SysIsTrashed
	SysIsCheckedIn
	SysIsFolder
	SysIsLatestVersion
	SysIsLatestMajorVersion
	SysIsRecord
	SysHasLegalHold
	SysFulltext
	SysAncestorID
	SysPos
	SysVersionLabel
	SysVersionableID
	SysProxyTargetID
	SysProxyVersionableID
	SysLockOwner
	SysLockCreated
	SysChangeToken
	SysRetainUntil
	SysACL
	SysOwnFacet // a facet of the document itself and not of its type; it has no name in queries
)

type systemField struct {
	system System
	kind   schema.Kind
	many   bool
}

var systemFields = map[string]systemField{
	"ecm:uuid":                  {SysUUID, schema.String, false},
	"ecm:id":                    {SysUUID, schema.String, false},
	"ecm:path":                  {SysPath, schema.String, false},
	"ecm:name":                  {SysName, schema.String, false},
	"ecm:parentId":              {SysParentID, schema.String, false},
	"ecm:primaryType":           {SysType, schema.String, false},
	"ecm:mixinType":             {SysMixin, schema.String, true},
	"ecm:currentLifeCycleState": {SysState, schema.String, false},
	"ecm:isVersion":             {SysIsVersion, schema.Boolean, false},
	"ecm:isCheckedInVersion":    {SysIsVersion, schema.Boolean, false},
	"ecm:isProxy":               {SysIsProxy, schema.Boolean, false},
	"ecm:isTrashed":             {SysIsTrashed, schema.Boolean, false},
	"ecm:isCheckedIn":           {SysIsCheckedIn, schema.Boolean, false},
	"ecm:isFolderish":           {SysIsFolder, schema.Boolean, false},
	"ecm:isLatestVersion":       {SysIsLatestVersion, schema.Boolean, false},
	"ecm:isLatestMajorVersion":  {SysIsLatestMajorVersion, schema.Boolean, false},
	"ecm:isRecord":              {SysIsRecord, schema.Boolean, false},
	"ecm:hasLegalHold":          {SysHasLegalHold, schema.Boolean, false},
	"ecm:fulltext":              {SysFulltext, schema.String, false},
	"ecm:ancestorId":            {SysAncestorID, schema.String, true},
	"ecm:pos":                   {SysPos, schema.Long, false},
	"ecm:versionLabel":          {SysVersionLabel, schema.String, false},
	"ecm:versionVersionableId":  {SysVersionableID, schema.String, false},
	"ecm:versionableId":         {SysVersionableID, schema.String, false},
	"ecm:proxyTargetId":         {SysProxyTargetID, schema.String, false},
	"ecm:proxyVersionableId":    {SysProxyVersionableID, schema.String, false},
	"ecm:lockOwner":             {SysLockOwner, schema.String, false},
	"ecm:lockCreated":           {SysLockCreated, schema.Date, false},
	"ecm:changeToken":           {SysChangeToken, schema.String, false},
	"ecm:retainUntil":           {SysRetainUntil, schema.Date, false},
}

// aclParts are the members of an entry of the access lists, each compared as the kind it has.
var aclParts = map[string]schema.Kind{
	"begin": schema.Date, "creator": schema.String, "end": schema.Date, "grant": schema.Boolean, "name": schema.String,
	"permission": schema.String, "pos": schema.Long, "principal": schema.String, "status": schema.String,
}

// aclPath is what the path of a member of the access lists begins with: "ecm:acl/*1/principal".
const aclPath = "ecm:acl/"

// tagPath is where tags are kept.
const tagPath = "nxtag:tags/*/label"

// Check resolves types and fields and brings the values to the kinds they are compared
// with. An unknown name or a comparison that makes no sense is Invalid, with its place.
// Parameters that are not bound yet are passed over. Check changes the query: call it on
// what Bind returned, or on a query nobody shares.
func (s *Select) Check(reg *schema.Registry) error {
	c := checker{reg: reg}
	for _, name := range s.From {
		if _, ok := reg.Type(name.Text); !ok {
			c.fail(name.at("unknown document type %q%s", clip(name.Text), fault.Perhaps(name.Text, reg.TypeNames())))
		}
	}
	for _, col := range s.Columns {
		if col.Field != nil {
			c.column(col)
		}
	}
	Walk(s.Where, c.predicate)
	if len(s.Order) > MaxOrder {
		c.fail(Pos{}.at("more than %d fields in ORDER BY", MaxOrder))
		return c.err
	}
	for _, o := range s.Order {
		if c.field(o.Field); c.err == nil && (o.Field.Kind >= schema.Blob || o.Field.System == SysFulltext || o.Field.System == SysACL) {
			c.fail(o.Field.at("field %s cannot be ordered", o.Field.Name))
		}
	}
	return c.err
}

type checker struct {
	reg *schema.Registry
	err error
}

// Only the first mistake is reported: those after it often follow from it.
func (c *checker) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *checker) column(col Column) {
	c.field(col.Field)
	f := col.Field
	if c.err == nil && (col.Aggregate == "SUM" || col.Aggregate == "AVG") && !f.Kind.Number() {
		c.fail(f.at("%s requires numbers, but field %s is a %s", col.Aggregate, f.Name, f.Kind))
	}
}

// field resolves a name, unless something is wrong already.
func (c *checker) field(f *Field) {
	if c.err != nil {
		return
	}
	name := f.Name
	// "ecm:fulltext.dc:title" names one property. A name that no schema has is not a mistake: it
	// leaves Prop nil.
	if base, _, ok := strings.Cut(name, "."); ok && base == "ecm:fulltext" {
		f.Prop, _ = c.reg.FieldByKey(strings.TrimPrefix(name, base+"."))
		name = base
	}
	if strings.HasPrefix(name, aclPath) && c.acl(f) {
		return
	}
	if base, item, ok := strings.Cut(name, "/"); ok && item == "*" && strings.HasPrefix(base, "ecm:") {
		name = base
	}
	if sys, ok := systemFields[name]; ok {
		f.System, f.Kind, f.Many = sys.system, sys.kind, sys.many
		return
	}
	path := name
	if name == "ecm:tag" {
		path = tagPath
	}
	if !strings.HasPrefix(path, "ecm:") {
		c.property(f, path)
		if c.err == nil {
			return
		}
		c.err = nil
	}
	c.fail(f.at("unknown field %q%s", clip(f.Name), fault.Perhaps(f.Name, slices.Values(c.names()))))
}

// acl resolves a member of the entries of the access lists.
func (c *checker) acl(f *Field) bool {
	p, err := schema.ParsePath(f.Name)
	if err != nil || len(p.Steps()) != 3 {
		return false
	}
	item, part := p.Steps()[1], p.Steps()[2]
	kind, ok := aclParts[part.Name]
	if !ok || item.Index == schema.NoIndex {
		return false
	}
	f.System, f.Kind, f.Many, f.Rest = SysACL, kind, p.Wild(), p.Tail()
	return true
}

// property resolves a path into the schemas.
func (c *checker) property(f *Field, path string) {
	f.System = Property
	if top, ok := c.reg.FieldByKey(path); ok {
		f.Prop, f.Rest, f.Kind, f.Many = top, schema.Path{}, top.Kind, top.List
		return
	}
	p, err := schema.ParsePath(path)
	if err != nil {
		c.fail(err)
		return
	}
	// All schemas, not those of the types after FROM: a document of any type may have a facet with
	// the schema.
	top, rest, err := schema.Find(c.reg.Schemas(), p)
	if err != nil {
		c.fail(err)
		return
	}
	leaf, err := top.Leaf(rest)
	if err != nil {
		c.fail(err)
		return
	}
	f.Prop, f.Rest, f.Kind, f.Many = top, rest, leaf.Kind, leaf.List || rest.Wild()
}

// names are what a misspelt field may have meant.
func (c *checker) names() []string {
	names := []string{"ecm:tag"}
	for name := range systemFields {
		names = append(names, name)
	}
	for _, s := range c.reg.Schemas() {
		for _, f := range s.Fields {
			names = append(names, f.Key)
		}
	}
	slices.Sort(names)
	return names
}

func (c *checker) predicate(p *Predicate) {
	if c.field(p.Field); c.err != nil || p.Op == IsNull {
		return
	}
	f := p.Field
	if !c.comparable(p) {
		return
	}
	for i := range p.Values {
		v := &p.Values[i]
		if _, open := v.V.(Param); open {
			return
		}
		x, ok := coerce(f.Kind, v.V)
		if !ok {
			c.fail(v.at("%s is not a %s, the type of field %s", clip(v.String()), f.Kind, f.Name))
			return
		}
		v.V = x
	}
	if p.Op == Like || p.Op == ILike || f.System == SysFulltext {
		c.pattern(p, p.Values[0].V.(string))
	}
}

// comparable reports whether the field of a predicate can be compared by its operator.
func (c *checker) comparable(p *Predicate) bool {
	f := p.Field
	switch {
	case f.Kind >= schema.Blob:
		c.fail(p.at("field %s is a %s: only IS NULL and its members can be queried", f.Name, f.Kind))
	case f.System == SysFulltext && p.Op != Eq && p.Op != Like:
		c.fail(p.at("field %s can only be compared with =", f.Name))
	case (p.Op == Like || p.Op == ILike || p.Op == StartsWith) && f.Kind != schema.String:
		c.fail(p.at("%s requires text, but field %s is a %s", p.Op, f.Name, f.Kind))
	default:
		return true
	}
	return false
}

// pattern reads what LIKE, ILIKE or a fulltext search compares with.
func (c *checker) pattern(p *Predicate, text string) {
	if len(text) > MaxLength {
		c.fail(p.at("%d bytes to search for, limit %d", len(text), MaxLength))
		return
	}
	if p.Op == Like || p.Op == ILike {
		p.match = newPattern(text, p.Op == ILike)
	}
	if p.Field.System != SysFulltext {
		return
	}
	p.words = parseWords(text)
	terms := 0
	for _, alternative := range p.words {
		terms += max(1, len(alternative))
	}
	if terms > MaxTerms {
		c.fail(p.at("%d words to search for, limit %d", terms, MaxTerms))
	}
}

// coerce brings a literal to the kind of the field.
func coerce(k schema.Kind, v any) (any, bool) {
	switch k {
	case schema.String:
		switch v := v.(type) {
		case string:
			return v, true
		// Clients write "dc:title = 2024" without quotes, and mean the text.
		case int64, float64, bool:
			return fmt.Sprint(v), true
		case time.Time:
			return v.UTC().Format("2006-01-02T15:04:05.000Z"), true
		}
	case schema.Integer, schema.Long, schema.Double:
		return coerceNumber(v)
	case schema.Boolean:
		switch v := v.(type) {
		case bool:
			return v, true
		case int64:
			return v == 1, v == 0 || v == 1
		case string:
			b, err := strconv.ParseBool(strings.ToLower(v))
			return b, err == nil
		}
	case schema.Date:
		switch v := v.(type) {
		case time.Time, Now:
			return v, true
		case Day:
			return v.Time, true
		case string:
			t, err := schema.ParseDate(v)
			return t, err == nil
		}
	case schema.Blob, schema.Complex: // cannot be compared
	}
	return nil, false
}

// coerceNumber returns an int64, or a float64 where there is a fraction.
func coerceNumber(v any) (any, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		// Beyond 2^53 not every whole number has a float64, so such a value stays what it is.
		if n := int64(v); v > -1<<53 && v < 1<<53 && float64(n) == v {
			return n, true
		}
		return v, true
	case string:
		n, ok := numeral(strings.TrimSpace(v))
		return n, ok
	}
	return nil, false
}
