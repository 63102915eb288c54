package live

// idTable maps the ids of tasks, which are never 0, to slots. It is a hash table with linear probing: most events look
// something up in it, and a map of Go takes three times as long.
type idTable struct {
	entries []idEntry // a power of two, at most half of them in use
	used    int
}

type idEntry struct {
	id uint64 // 0: free
	ends
}

const leastEntries = 64

// place is where id is, or would be.
func (t *idTable) place(id uint64) uint64 {
	mask := uint64(len(t.entries) - 1)
	i := id * 0x9E3779B97F4A7C15 >> 32 & mask
	for t.entries[i].id != id && t.entries[i].id != 0 {
		i = (i + 1) & mask
	}
	return i
}

func (t *idTable) get(id uint64) (ends, bool) {
	if t.used == 0 || id == 0 {
		return ends{}, false
	}
	e := &t.entries[t.place(id)]
	return e.ends, e.id != 0
}

func (t *idTable) set(id uint64, e ends) {
	if id == 0 {
		return
	}
	if 2*(t.used+1) > len(t.entries) {
		t.grow()
	}
	i := t.place(id)
	if t.entries[i].id == 0 {
		t.used++
	}
	t.entries[i] = idEntry{id, e}
}

func (t *idTable) grow() {
	old := t.entries
	t.entries = make([]idEntry, max(leastEntries, 2*len(old)))
	for _, e := range old {
		if e.id != 0 {
			t.entries[t.place(e.id)] = e
		}
	}
}

// remove closes the gap, so that what was put behind it is found.
func (t *idTable) remove(id uint64) {
	if t.used == 0 || id == 0 {
		return
	}
	i := t.place(id)
	if t.entries[i].id == 0 {
		return
	}
	t.used--
	mask := uint64(len(t.entries) - 1)
	for j := i; ; {
		j = (j + 1) & mask
		e := &t.entries[j]
		if e.id == 0 {
			break
		}
		if home := e.id * 0x9E3779B97F4A7C15 >> 32 & mask; (j-home)&mask >= (j-i)&mask {
			t.entries[i] = *e
			i = j
		}
	}
	t.entries[i] = idEntry{}
}
