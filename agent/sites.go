package agent

import (
	"sync"

	"stackagent/agent/instrument"
	"stackagent/internal/wire"
)

// maxSites is how many sites there can be: records have 16 bits for one, and with
// all of them set the thread's state would be that of no call (StackagentSubmission.NOT_CALLING).
const maxSites = 1<<16 - 2

// siteTable gives numbers to call sites. A site's description is sent when a record
// first names it. A site keeps its number from session to session: methods woven in
// an earlier one may still run.
type siteTable struct {
	mu   sync.Mutex
	list []wire.Site         // by number - 1
	by   map[siteOf][]uint32 // the sites of a class in the order of weaving
}

// siteOf names a class whose sites keep their order.
type siteOf struct {
	class  string
	custom bool // task= was given, which makes other objects tasks
}

// of numbers the sites of one class while it is woven.
func (t *siteTable) of(custom bool) *classSites { return &classSites{table: t, custom: custom} }

type classSites struct {
	table  *siteTable
	custom bool
	list   []instrument.Site // numbered so far
	ids    []int32           // their numbers
}

// Add implements instrument.Sites.
func (c *classSites) Add(s instrument.Site) int32 {
	id := c.table.add(siteOf{s.Class, c.custom}, len(c.list),
		wire.Site{Class: s.Class, Method: s.Method, File: s.File, Line: s.Line, Calls: s.Calls, Function: s.Function})
	c.list, c.ids = append(c.list, s), append(c.ids, id)
	return id
}

// add returns the number that the nth site has already, if it is the same: a class that
// is woven again has the same sites in the same order.
func (t *siteTable) add(of siteOf, nth int, site wire.Site) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if numbers := t.by[of]; nth < len(numbers) {
		site.ID = numbers[nth]
		if t.list[site.ID-1] == site {
			return int32(site.ID)
		}
	}
	if len(t.list) >= maxSites {
		return 0
	}
	site.ID = uint32(len(t.list) + 1)
	t.list = append(t.list, site)
	if t.by == nil {
		t.by = make(map[siteOf][]uint32)
	}
	if nth == len(t.by[of]) {
		t.by[of] = append(t.by[of], site.ID)
	}
	return int32(site.ID)
}

func (t *siteTable) get(id uint32) (wire.Site, bool) {
	if t == nil {
		return wire.Site{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == 0 || int(id) > len(t.list) {
		return wire.Site{}, false
	}
	return t.list[id-1], true
}
