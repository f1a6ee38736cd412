package storage

// The flags that rows about a document repeat, so that lists can be filtered without
// reading records.
const (
	flagFolder  = 1 << iota // has the facet Folderish
	flagVersion             // an archived state, outside the tree
	flagProxy
	flagTrashed
	flagHidden  // has the facet HiddenInNavigation
	flagTomb    // stands for a removed document whose versions are still published; no record
	flagOrdered // has the facet Orderable: its children have an order of their own
)

// facetBits follow from the facets, treeBits are what documents below see of them.
const (
	facetBits = flagFolder | flagHidden | flagOrdered
	treeBits  = flagFolder | flagOrdered
)
