package summary

import (
	"cmp"
	"slices"

	"stackagent/granularity"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// ByContext groups by the whole stack.
const ByContext = "context"

// Context is a calling context with its class's name.
type Context struct {
	session.Context
	ClassName string
}

// ContextOrders are the orders of Contexts.
var ContextOrders = []granularity.Order{granularity.ByWork, granularity.BySelf, granularity.ByCount}

// Contexts lists the calling contexts whose task passes the filter, most work
// (or most events) first.
func Contexts(s *session.Session, filter Filter, order granularity.Order) ([]Context, error) {
	all, err := s.Contexts()
	if err != nil {
		return nil, err
	}
	out := make([]Context, 0, len(all))
	for _, c := range all {
		name := unit.UnknownClass(c.Class)
		if k := s.ClassByID(c.Class); k != nil {
			if name = k.Name; !filter.Match(k.Name, k.Kinds) {
				continue
			}
		} else if filter.Active() {
			continue
		}
		out = append(out, Context{Context: c, ClassName: name})
	}
	slices.SortStableFunc(out, func(a, b Context) int {
		count := cmp.Compare(b.Count, a.Count)
		if order == granularity.ByCount {
			return count
		}
		wall := cmp.Compare(b.SelfWall, a.SelfWall)
		if order == granularity.BySelf {
			return cmp.Or(wall, count)
		}
		return cmp.Or(cmp.Compare(b.SelfCPU, a.SelfCPU), wall, count)
	})
	return out, nil
}

// Executes reports whether c has work: it is of executions.
func (c *Context) Executes() bool { return c.Kind == store.ContextExecution }
