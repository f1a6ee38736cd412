package engine

// Ends reports whether an error must end the whole call whatever a script or a chain says
// about it: limits of the call, its cancellation, and the exit of a chain.
func Ends(err error) bool { return passing(err) }
