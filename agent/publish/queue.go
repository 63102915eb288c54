package publish

import (
	"cmp"
	"slices"

	"stackagent/internal/spool"
)

const overheadBytes = 256 // of a message in memory, besides its bytes

// message is a batch to be delivered.
type message struct {
	seq  uint64
	data []byte    // nil while it is in the file only
	ref  spool.Ref // zero: not in the file
	sent int       // number of the ids, from 1, under one of which it was sent last; 0: not sent
}

func (m message) bytes() int { return len(m.data) + overheadBytes }

// queue holds the batches not yet acknowledged, from the oldest to the newest: in
// flight, head, filed, tail. Head and tail are in memory, the batches
// between them in the spool file only. It is part of the Publisher and guarded
// by its lock.
type queue struct {
	head    []message // sent next
	inFile  []message
	tail    []message          // the file takes them next
	open    map[uint64]message // all of them
	bytes   int                // memory of those that have their data
	filed   int                // bytes of those that are in the file only
	headMax int                // bytes of memory above which new batches go to the tail: few, because it is the program's memory
	headMin int                // bytes below which the head is filled up from the file
	flying  int                // bytes in flight above which no more are sent while there is a file
	moving  bool               // tail[0] is being written
	loaded  []loaded           // read back from the file and not yet released there
}

// loaded is a batch that was read back from the file. It stays there until it is
// acknowledged, so that it survives if the JVM is killed.
type loaded struct {
	seq  uint64
	end  int64 // of it in the file
	done bool
}

func newQueue(memory int) queue {
	return queue{open: map[uint64]message{}, headMax: memory / 8, headMin: memory / 16, flying: memory / 4}
}

// push adds the newest message.
func (q *queue) push(m message, spooled bool) {
	q.open[m.seq] = m
	if spooled && (q.bytes > q.headMax || len(q.inFile)+len(q.tail) > 0) {
		q.tail = append(q.tail, m)
	} else {
		q.head = append(q.head, m)
	}
	q.bytes += m.bytes()
}

// pop takes the oldest that is in memory, unless an older one is in the file.
func (q *queue) pop() (message, bool) {
	if len(q.head) == 0 {
		q.shortcut()
	}
	if len(q.head) == 0 {
		return message{}, false
	}
	m := q.head[0]
	q.head[0] = message{}
	q.head = q.head[1:]
	return m, true
}

// shortcut lets the tail follow the head at once when nothing is between them, up to the
// head's share: what is in the head cannot go to the file any more.
func (q *queue) shortcut() {
	if len(q.inFile) > 0 || q.moving {
		return
	}
	size := 0
	for len(q.tail) > 0 && size <= q.headMax {
		m := q.tail[0]
		q.tail[0] = message{}
		q.head, q.tail = append(q.head, m), q.tail[1:]
		size += m.bytes()
	}
}

// forget removes a message that is done.
func (q *queue) forget(m message) {
	if _, known := q.open[m.seq]; !known {
		return
	}
	delete(q.open, m.seq)
	q.bytes -= m.bytes()
	if m.ref.IsZero() {
		return
	}
	if i := slices.IndexFunc(q.loaded, func(l loaded) bool { return l.seq == m.seq }); i >= 0 {
		q.loaded[i].done = true
	}
}

// low reports whether the head needs batches from the file.
func (q *queue) low() bool {
	if len(q.inFile) == 0 {
		return false
	}
	n := 0
	for _, m := range q.head {
		if n += m.bytes(); n >= q.headMin {
			return false
		}
	}
	return true
}

// wrote notes that tail[0] is in the file now.
func (q *queue) wrote(ref spool.Ref) {
	m := q.tail[0]
	q.tail[0] = message{}
	q.tail = q.tail[1:]
	q.bytes -= m.bytes()
	m.data, m.ref = nil, ref
	q.filed += ref.Size()
	q.inFile = append(q.inFile, m)
	q.open[m.seq] = m
}

// load puts the oldest batch of the file into the head with its data. With nil data
// the batch is dropped.
func (q *queue) load(data []byte) {
	m := q.inFile[0]
	q.inFile = q.inFile[1:]
	q.filed -= m.ref.Size()
	q.loaded = append(q.loaded, loaded{seq: m.seq, end: m.ref.End(), done: data == nil})
	if data == nil {
		delete(q.open, m.seq)
		return
	}
	m.data = data
	q.bytes += m.bytes()
	q.open[m.seq] = m
	q.head = append(q.head, m)
}

// delivered returns the offset up to which the file is no longer needed, 0 if nothing
// has changed.
func (q *queue) delivered() int64 {
	n, end := 0, int64(0)
	for n < len(q.loaded) && q.loaded[n].done {
		end = q.loaded[n].end
		n++
	}
	q.loaded = slices.Delete(q.loaded, 0, n)
	return end
}

// unfiled are the messages that are in memory only, oldest first.
func (q *queue) unfiled() []message {
	var list []message
	for _, m := range q.open {
		if m.ref.IsZero() {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b message) int { return cmp.Compare(a.seq, b.seq) })
	return list
}
