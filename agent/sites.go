package agent

import (
	"sync"

	"stackagent/internal/wire"
)

// maxSites is how many sites there can be: records have 16 bits for one, and with
// all of them set the thread's state would be that of no call (StackagentHandover.NOT_CALLING).
const maxSites = 1<<16 - 2

// siteTable gives numbers to places in the source, see instrument.Sites. What a
// place is called travels when a record first names it.
type siteTable struct {
	mu   sync.Mutex
	list []wire.Site // by number - 1
}

// Add implements instrument.Sites.
func (t *siteTable) Add(class, method, file string, line int32) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= maxSites {
		return 0
	}
	id := len(t.list) + 1
	t.list = append(t.list, wire.Site{ID: uint32(id), Class: class, Method: method, File: file, Line: line})
	return int32(id)
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
