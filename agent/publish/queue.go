package publish

import (
	"cmp"
	"slices"

	"stackagent/internal/spool"
)

const overheadBytes = 256 // of a message in memory, beside its bytes

// message is a batch on its way.
type message struct {
	seq  uint64
	data []byte    // nil while it is in the file only
	ref  spool.Ref // zero: not in the file
	sent int       // the ids, counted from 1, under one of which it was sent last; 0: it was not
}

func (m message) bytes() int { return len(m.data) + overheadBytes }

// queue is what is not acknowledged: in flight, then head, then filed, then
// tail, from the oldest to the newest. Head and tail are in memory, the batches
// between them in the spool file only. It is part of the Publisher and guarded
// by its lock.
type queue struct {
	head    []message // sent next
	inFile  []message
	tail    []message          // the file takes them next
	open    map[uint64]message // all of them
	bytes   int                // memory for those that have their data
	filed   int                // bytes of those that are in the file only
	headMax int                // bytes of memory above which what comes goes to the tail: little, for it is the program's
	headMin int                // bytes below which the head is filled up from the file
	moving  bool               // tail[0] is being written
	loaded  []loaded           // read back from the file and not yet released there
}

// loaded is a batch that came back from the file, where it stays until it is
// acknowledged: should the JVM be killed, it is still there.
type loaded struct {
	seq  uint64
	end  int64 // of it in the file
	done bool
}

func newQueue(memory int) queue {
	return queue{open: map[uint64]message{}, headMax: memory / 8, headMin: memory / 16}
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

// shortcut lets the tail follow the head at once when nothing is between them.
func (q *queue) shortcut() {
	if len(q.inFile) == 0 && !q.moving && len(q.tail) > 0 {
		q.head, q.tail = append(q.head, q.tail...), nil
	}
}

// forget takes out a message that is done with.
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

// low reports whether the head needs what is in the file.
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

// load puts the oldest of the file, of which the data was read, into the head.
// With nil data it is given up.
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

// delivered returns up to where the file is no longer needed, 0 if nothing has
// changed.
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
