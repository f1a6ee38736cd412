package workflow

import (
	"slices"
	"time"

	"catena/storage/fault"
)

// Limits bound a workflow; zero values take the defaults.
type Limits struct {
	Actors int `setting:"limit-workflow-actors" default:"500" doc:"users and groups that one node of a workflow assigns tasks to"`
	Steps  int `setting:"limit-workflow-steps" default:"100" doc:"nodes that a workflow passes through until it creates a task or ends"`
}

// NodeState is where a node of an instance is.
type NodeState struct {
	State     string         `json:"state"`             // Ready, Waiting or Suspended
	Arrived   []string       `json:"arrived,omitempty"` // at a merge: transitions that were taken, each "node/transition"
	Begun     int            `json:"begun,omitempty"`   // how often
	Started   time.Time      `json:"started,omitzero"`
	Ended     time.Time      `json:"ended,omitzero"`
	LastActor string         `json:"lastActor,omitempty"`
	Button    string         `json:"button,omitempty"` // that ended the last task, or the state in which the workflow ended that it went through
	Tasks     []TaskInfo     `json:"tasks,omitempty"`  // of the last time the node began
	Sub       string         `json:"sub,omitempty"`    // id of the instance it goes through, or went through last
	Variables map[string]any `json:"-"`
}

// TaskInfo is what a node remembers of a task.
type TaskInfo struct {
	ID      string   `json:"id"`
	Actors  []string `json:"actors"`
	Ended   bool     `json:"ended,omitempty"`
	Actor   string   `json:"actor,omitempty"` // who ended it
	Status  string   `json:"status,omitempty"`
	Comment string   `json:"comment,omitempty"`
}

// The states of a node.
const (
	Ready     = "ready"     // nothing goes on
	Waiting   = "waiting"   // at a merge that others have yet to come to
	Suspended = "suspended" // its tasks are open
)

// Host carries out what a walk through a graph asks for, and keeps where the nodes are. It may read that again
// each time: a walk does not hold on to what Node returned.
type Host interface {
	Node(id string) *NodeState                  // to be read and changed
	Begin(n *Node) (waits bool, err error)      // its chain, and its tasks or its workflow: then it waits for them
	Finish(n *Node) error                       // its chain
	Holds(n *Node, t *Transition) (bool, error) // whether the condition of a transition is met
	Take(n *Node, t *Transition) error          // the transition's chain
	Cancel(n *Node) error                       // the open tasks of a node, or its workflow
}

// step is a node to go to next.
type step struct {
	node *Node
	from string // the transition taken, "node/transition"; "" for the first
	over bool   // the node had begun; its tasks are ended
}

// Start walks from the start of a model as far as it goes without anybody: until every branch waits for a task, or
// the workflow has ended. A walk of more than most steps is an error of kind Limit.
func (m *Model) Start(h Host, most int) (ended bool, err error) {
	return m.walk(h, step{node: m.start()}, most)
}

// Resume walks on from a node whose tasks are ended.
func (m *Model) Resume(h Host, id string, most int) (ended bool, err error) {
	n, err := m.Node(id)
	if err != nil {
		return false, err
	}
	if s := h.Node(id).State; s != Suspended {
		return false, fault.Conflict.Errorf("node %s: is %s, not %s", id, s, Suspended).WithCode(fault.CodeWorkflowState)
	}
	return m.walk(h, step{node: n, over: true}, most)
}

// walk advances a workflow, breadth first, until all branches wait for tasks or a node ends it. It reports whether the workflow has
// ended. The number of steps is bounded, because a graph may contain cycles without a task.
func (m *Model) walk(h Host, first step, most int) (bool, error) {
	next := []step{first}
	for steps := 1; len(next) > 0; steps++ {
		if steps > most {
			return false, fault.Limit.Errorf("workflow %s: more than %d steps without a task", m.Name, most)
		}
		s := next[0]
		next = next[1:]
		if !s.over {
			begins, err := m.arrive(h, s, &next)
			if err != nil {
				return false, err
			}
			if !begins {
				continue
			}
			waits, err := h.Begin(s.node)
			if err != nil {
				return false, err
			}
			if waits {
				h.Node(s.node.ID).State = Suspended
				continue
			}
		}
		more, err := m.leave(h, s.node)
		if err != nil {
			return false, err
		}
		if s.node.End {
			return true, m.end(h)
		}
		next = append(next, more...)
	}
	return false, m.mustWait(h)
}

// arrive comes to a node and reports whether it begins.
func (m *Model) arrive(h Host, s step, next *[]step) (bool, error) {
	n, st := s.node, h.Node(s.node.ID)
	if st.State == Suspended {
		return false, nil // it has begun and is waited for: once is enough
	}
	if n.Merge != NoMerge && s.from != "" {
		if !slices.Contains(st.Arrived, s.from) {
			st.Arrived = append(st.Arrived, s.from)
		}
		if n.Merge == MergeAll && len(st.Arrived) < m.incoming(n) {
			st.State = Waiting
			return false, nil
		}
		if n.Merge == MergeOne {
			before := m.before(n)
			*next = slices.DeleteFunc(*next, func(o step) bool { return before[o.node.ID] || o.node == n })
			for _, o := range m.Nodes {
				if before[o.ID] {
					if err := m.quit(h, o); err != nil {
						return false, err
					}
				}
			}
		}
	}
	st = h.Node(n.ID)
	st.State, st.Arrived = Ready, nil
	return true, nil
}

// leave is what happens when a node has ended: its chain, and the transitions whose conditions hold.
func (m *Model) leave(h Host, n *Node) (next []step, err error) {
	if err := h.Finish(n); err != nil {
		return nil, err
	}
	var taken []*Transition
	for _, t := range n.Transitions {
		holds, err := h.Holds(n, t)
		if err != nil {
			return nil, fault.Wrap(err, "node %s: transition %s", n.ID, t.Name)
		}
		if holds {
			taken = append(taken, t)
		}
	}
	if len(taken) == 0 && !n.End {
		return nil, fault.Conflict.Errorf("workflow %s: node %s: no transition can be taken", m.Name, n.ID).WithCode(fault.CodeWorkflowState)
	}
	h.Node(n.ID).State = Ready
	for _, t := range taken {
		if err := h.Take(n, t); err != nil {
			return nil, err
		}
		next = append(next, step{node: m.byID[t.To.Text], from: n.ID + "/" + t.Name})
	}
	return next, nil
}

// end gives up what is still open once the workflow has ended.
func (m *Model) end(h Host) error {
	for _, n := range m.Nodes {
		if err := m.quit(h, n); err != nil {
			return err
		}
	}
	return nil
}

// quit gives up what a node waits for.
func (m *Model) quit(h Host, n *Node) error {
	st := h.Node(n.ID)
	if st.State == Suspended {
		if err := h.Cancel(n); err != nil {
			return err
		}
		st = h.Node(n.ID)
	}
	st.State, st.Arrived = Ready, nil
	return nil
}

// mustWait is an error unless somebody has a task: nothing else would have the workflow go on.
func (m *Model) mustWait(h Host) error {
	for _, n := range m.Nodes {
		if h.Node(n.ID).State == Suspended {
			return nil
		}
	}
	return fault.Conflict.Errorf("workflow %s: has not ended, but has no open task", m.Name).WithCode(fault.CodeWorkflowState)
}

// incoming counts the transitions that lead to a node.
func (m *Model) incoming(n *Node) (count int) {
	for _, o := range m.Nodes {
		for _, t := range o.Transitions {
			if t.To.Text == n.ID {
				count++
			}
		}
	}
	return count
}

// before are the nodes from which transitions lead to a node, and those before them.
func (m *Model) before(n *Node) map[string]bool {
	found, grown := map[string]bool{}, true
	for grown {
		grown = false
		for _, o := range m.Nodes {
			if found[o.ID] || o == n {
				continue
			}
			for _, t := range o.Transitions {
				if t.To.Text == n.ID || found[t.To.Text] {
					found[o.ID], grown = true, true
				}
			}
		}
	}
	return found
}
