package scripts

// job is a script to run.
type job struct {
	file, source string
	key          programKey
	strict       bool
	check        bool   // look for mistakes instead of running it
	owner        string // of the workers that may run it; "" the caller
}

func newJob(file, source string, strict bool) job {
	return job{file: file, source: source, strict: strict, key: keyOf(file, source, strict)}
}
