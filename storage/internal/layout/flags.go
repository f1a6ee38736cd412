package layout

// The flags that rows about a document repeat, so that lists can be filtered without
// reading records.
const (
	Folder  = 1 << iota // has the facet Folderish
	Version             // an archived state, outside the tree
	Proxy
	Trashed
	Hidden  // has the facet HiddenInNavigation
	Tomb    // stands for a removed document whose versions are still published; no record
	Ordered // has the facet Orderable: its children have an order of their own
)

// FacetFlags follow from the facets, treeBits are what documents below see of them.
const (
	FacetFlags = Folder | Hidden | Ordered
	TreeFlags  = Folder | Ordered
)
