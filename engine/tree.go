package engine

import (
	"slices"
	"time"

	"agentx/engine/event"
)

// A Branch is one of the ways that a session went: what the user asked on it,
// from the beginning.
type Branch struct {
	Session Session `json:"session"`
	Asked   []Asked `json:"asked"`
}

// Asked is a message of the user, as a tree shows it.
type Asked struct {
	ID   string       `json:"messageId"`
	At   event.Millis `json:"timestamp"`
	Text string       `json:"text"` // its beginning, as one line
}

// A Node is a message of the user in a tree of branches. The root is none: what
// it has below it began the session.
type Node struct {
	Asked
	Ends  []event.SessionID // branches whose last message this is, the last used first
	Below []*Node           // what was asked next, in the order of the asking
}

// AskedOf is a message as a tree shows it.
func AskedOf(m event.UserMessage, at time.Time) Asked {
	return Asked{ID: m.ID, At: event.MillisOf(at), Text: TitleOf(m.Content)}
}

// Grow makes a tree of branches, the last used first. What was said before two
// of them parted is in it once: a message keeps its id on every branch.
func Grow(branches []Branch) *Node {
	root := &Node{}
	at := map[*Node]map[string]*Node{}
	for _, b := range branches {
		n := root
		for _, a := range b.Asked {
			next := at[n][a.ID]
			if next == nil {
				next = &Node{Asked: a}
				n.take(next)
				if at[n] == nil {
					at[n] = map[string]*Node{}
				}
				at[n][a.ID] = next
			}
			n = next
		}
		n.Ends = append(n.Ends, b.Session.ID)
	}
	return root
}

// take puts a node below n, behind those that were asked before it.
func (n *Node) take(next *Node) {
	i := len(n.Below)
	for i > 0 && n.Below[i-1].At > next.At {
		i--
	}
	n.Below = append(n.Below[:i:i], append([]*Node{next}, n.Below[i:]...)...)
}

// A Row is a line of a tree that is drawn.
type Row struct {
	*Node
	Lead string // what stands before it: "│  ├─ "
	On   bool   // it is on the way to the branch that the tree was drawn for
	Here bool   // it is the last on that way
}

// Rows draws the tree below n, a message a line. The way to one branch, or else
// to what was asked last, goes straight down, and the others leave it to the
// right: so a tree is no wider than branches grow from branches.
func (n *Node) Rows(branch event.SessionID) []Row {
	way := map[*Node]bool{}
	n.find(branch, way)
	return n.rows(nil, "", way, branch)
}

// find marks the nodes on the way to a branch.
func (n *Node) find(branch event.SessionID, way map[*Node]bool) {
	above := map[*Node]*Node{}
	stack := []*Node{n}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if slices.Contains(at.Ends, branch) {
			for ; at != nil; at = above[at] {
				way[at] = true
			}
			return
		}
		for _, b := range at.Below {
			above[b] = at
			stack = append(stack, b)
		}
	}
}

func (n *Node) rows(rows []Row, lead string, way map[*Node]bool, branch event.SessionID) []Row {
	for len(n.Below) > 0 {
		straight := len(n.Below) - 1
		for i, b := range n.Below {
			if way[b] {
				straight = i
			}
		}
		for i, b := range n.Below {
			if i == straight {
				continue
			}
			rows = append(rows, row(b, lead+"├─ ", way, branch))
			rows = b.rows(rows, lead+"│  ", way, branch)
		}
		n = n.Below[straight]
		rows = append(rows, row(n, lead, way, branch))
	}
	return rows
}

func row(n *Node, lead string, way map[*Node]bool, branch event.SessionID) Row {
	return Row{Node: n, Lead: lead, On: way[n], Here: way[n] && slices.Contains(n.Ends, branch)}
}
