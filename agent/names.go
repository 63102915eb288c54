package agent

// maxNames bounds names: a program may define classes under ever new names.
const maxNames = 1 << 16

// names is a set of the newest maxNames names.
type names struct {
	has  map[string]struct{}
	list []string // a ring once it is full
	next int      // the oldest
}

func (n *names) add(name string) {
	if _, known := n.has[name]; known {
		return
	}
	if n.has == nil {
		n.has = make(map[string]struct{})
	}
	n.has[name] = struct{}{}
	if len(n.list) < maxNames {
		n.list = append(n.list, name)
		return
	}
	delete(n.has, n.list[n.next])
	n.list[n.next] = name
	n.next = (n.next + 1) % maxNames
}

func (n *names) contains(name string) bool {
	_, known := n.has[name]
	return known
}
