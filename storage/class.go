package storage

import "strings"

// InClass reports whether the document is of a class, by its word; one that is unknown, or empty, is any. A document link is a
// proxy to a live document, a published one a proxy to a version.
func (d *Doc) InClass(class string) bool {
	fixed := d.IsImmutable()
	switch strings.TrimSpace(class) {
	case "Regular Document":
		return !d.IsVersion() && !d.IsProxy()
	case "Document Link":
		return d.IsProxy() && !fixed
	case "Published Document":
		return d.IsProxy() && fixed
	case "Document Proxy":
		return d.IsProxy()
	case "Document Version":
		return d.IsVersion()
	case "Immutable Document":
		return fixed
	case "Mutable Document":
		return !fixed
	}
	return true
}
