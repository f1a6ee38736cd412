package scripts

import (
	"io"
	"os"
	"time"

	"catena/engine/worker"
	"catena/storage/fault"
)

// process is a worker process as the server sees it. One run has it at a time.
type process struct {
	*worker.Process
	in    *frames
	out   io.WriteCloser
	link  *link // what in and out are where memory is shared, else nil
	w     writer
	room  buffers
	owner string            // whose scripts it runs; "" nobody's yet
	names [32]byte          // hash of the names it knows
	keys  map[string]string // names of members that it has sent
	runs  uint32
	used  time.Time
}

// buffers are used again for each run of a process: what is sent of a document's properties, at most eagerDocument, and answers
// that are sent together, at most ringSize.
type buffers struct {
	properties, together []byte
}

// dataLimit is the hard bound of a worker's data, whatever the run's own limit says: the
// runtime of Go needs some room beside the script.
const dataLimit = 256 << 20

// startProcess starts a worker, with memory to speak through where the system knows how to share it.
func startProcess(argv []string) (*process, error) {
	if len(argv) == 0 {
		return nil, fault.Unavailable.Errorf("script: no worker is configured").WithCode(fault.CodeScriptBusy)
	}
	var files []*os.File
	mem, share, shareErr := newShare()
	if shareErr == nil {
		files = append(files, share)
		defer share.Close()
	}
	started, err := worker.Start(argv, files...)
	if err != nil {
		release(mem)
		return nil, fault.Unavailable.Errorf("script worker: %w", err).WithCode(fault.CodeScriptBusy)
	}
	p := &process{Process: started, in: &frames{in: started.Out, max: maxFrame}, out: started.In, used: time.Now(), keys: map[string]string{}}
	if shareErr == nil {
		l := newLink(mem, true, started.Out, started.In)
		releaseWith(l)
		p.out, p.in.in, p.link = l, l, l
	}
	return p, nil
}

// death says why the process is gone, as far as it can be known.
func (p *process) death(l *Limits) error {
	// The cause is read from how the process ended, so a limit that the system enforces has its own error.
	cause, said := p.Death()
	switch cause {
	case worker.Stack:
		return breach(fault.CodeScriptStack, "script: nested too deeply")
	case worker.Memory:
		return outOfMemory(l.Memory)
	case worker.CPU:
		return breach(fault.CodeScriptTimeout, "script: more than %s of processor time", l.CPU)
	}
	return breach(fault.CodeScriptCrash, "script: the worker process ended: %s", clip(said, 200))
}
