package workflow

// Graph is a model drawn: its nodes with where they stand, and the transitions between them.
type Graph struct {
	Nodes       []GraphNode       `json:"nodes"`
	Transitions []GraphTransition `json:"transitions"`
}

// GraphNode is a node of a graph. Places are pixels from the upper left corner.
type GraphNode struct {
	X              int    `json:"x"`
	Y              int    `json:"y"`
	ID             string `json:"id"`
	Title          string `json:"title"`
	State          string `json:"state"`
	IsStartNode    bool   `json:"isStartNode"`
	IsEndNode      bool   `json:"isEndNode"`
	IsMerge        bool   `json:"isMerge"`
	IsMultiTask    bool   `json:"isMultiTask"`
	HasSubWorkflow bool   `json:"hasSubWorkflow"`
}

// GraphTransition is a line of a graph; its path is straight.
type GraphTransition struct {
	From  string `json:"nodeSourceId"`
	To    string `json:"nodeTargetId"`
	Label string `json:"label"`
	Path  []any  `json:"path"`
}

// How far nodes stand from each other, in pixels.
const (
	columnWidth = 220
	rowHeight   = 120
	margin      = 40
)

// Graph draws the model: a column for each number of transitions that lie between the start and a node. Text gives
// what a label says; the instance says where its nodes are, and is nil for the model alone.
func (m *Model) Graph(text func(key string) string, i *Instance) *Graph {
	g := &Graph{Nodes: []GraphNode{}, Transitions: []GraphTransition{}}
	column, rows := m.columns(), map[int]int{}
	for _, n := range m.Nodes {
		at := column[n.ID]
		node := GraphNode{
			X: margin + at*columnWidth, Y: margin + rows[at]*rowHeight, ID: n.ID, Title: text(n.Title), State: Ready,
			IsStartNode: n.Start, IsEndNode: n.End, IsMerge: n.Merge != NoMerge, IsMultiTask: n.Task != nil && n.Task.Each, HasSubWorkflow: n.Sub != nil,
		}
		if i != nil {
			node.State = i.Node(n.ID).State
		}
		rows[at]++
		g.Nodes = append(g.Nodes, node)
		for _, t := range n.Transitions {
			g.Transitions = append(g.Transitions, GraphTransition{From: n.ID, To: t.To.Text, Label: text(t.Label), Path: []any{}})
		}
	}
	return g
}

// columns counts the transitions between the start and each node, by the shortest way.
func (m *Model) columns() map[string]int {
	start := m.start()
	at := map[string]int{start.ID: 0}
	for next := []*Node{start}; len(next) > 0; next = next[1:] {
		for _, t := range next[0].Transitions {
			if _, seen := at[t.To.Text]; !seen {
				at[t.To.Text] = at[next[0].ID] + 1
				next = append(next, m.byID[t.To.Text])
			}
		}
	}
	return at
}
