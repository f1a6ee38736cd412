package scripts

// job is a script to run.
type job struct {
	file, source string
	key          programKey
	strict       bool
	check        bool   // look for mistakes instead of running it
	module       bool   // with check: the text is a module
	owner        string // of the workers that may run it; "" the caller
	imports      []importDecl
	modules      []*module // in the order in which they run, once it is linked
}

func newJob(file, source string, strict bool) job {
	j := job{file: file, source: source, strict: strict, key: keyOf(file, source, strict)}
	if t, err := splitModule(source); err == nil { // what is wrong is for the worker to say
		j.imports = t.imports
	}
	return j
}

// text is what a worker asks for: the source or, if it imports anything, a list of it and of names and texts of modules.
func (j *job) text() any {
	if len(j.modules) == 0 {
		return j.source
	}
	all := []any{j.source}
	for _, m := range j.modules {
		all = append(all, m.Name, m.Source)
	}
	return all
}

// size is how long all texts are together, in bytes.
func (j *job) size() int {
	n := len(j.source)
	for _, m := range j.modules {
		n += len(m.Source)
	}
	return n
}
