package account

import (
	"cmp"
	"slices"
)

// Node is a link of the chains of a class, with what it depends on.
type Node struct {
	What  string
	Share float64 // of the response times of the class, by the draws
	On    []*Node // what it depends on
}

// Tree joins the chains of a class by their first links.
func (c *Class) Tree() []*Node {
	root := &Node{}
	for _, x := range c.Chains {
		at := root
		for _, what := range x.Links {
			at = at.on(what)
			at.Share += x.Share
		}
	}
	root.sort()
	return root.On
}

func (n *Node) on(what string) *Node {
	for _, x := range n.On {
		if x.What == what {
			return x
		}
	}
	x := &Node{What: what}
	n.On = append(n.On, x)
	return x
}

func (n *Node) sort() {
	slices.SortStableFunc(n.On, func(x, y *Node) int { return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.What, y.What)) })
	for _, x := range n.On {
		x.sort()
	}
}
