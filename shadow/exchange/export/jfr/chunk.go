package jfr

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// maxChunk is how many bytes of events and constants a chunk collects before it is written.
const maxChunk = 8 << 20

// chunks writes chunks, one at a time.
type chunks struct {
	to       io.Writer
	s        *session.Session
	metadata []byte

	events []byte
	body   []byte // of the event being built
	pools  map[int]*pool
	from   units.MonoNs // of the chunk
	until  units.MonoNs // the latest end in it
}

func (c *chunks) pool(of int) *pool {
	p := c.pools[of]
	if p == nil {
		p = new(pool)
		c.pools[of] = p
	}
	return p
}

// start begins an event: its number, time and, where it has one, duration.
func (c *chunks) start(event int, at units.MonoNs) {
	c.body = number(number(c.body[:0], int64(event)), int64(at))
}

func (c *chunks) number(v int64)  { c.body = number(c.body, v) }
func (c *chunks) span(v units.Ns) { c.body = span(c.body, v) }
func (c *chunks) boolean(v bool)  { c.body = boolean(c.body, v) }

// words appends a string that occurs often.
func (c *chunks) words(s string) {
	if s == "" {
		c.body = append(c.body, stringEmpty)
		return
	}
	n := c.pool(typeString).of(s, func(b []byte) []byte { return inline(b, clean(s)) })
	c.body = number(append(c.body, stringPooled), n)
}

// end finishes the event, and the chunk if that is full.
func (c *chunks) end(until units.MonoNs) error {
	c.events = sized(c.events, c.body)
	c.until = max(c.until, until)
	size := len(c.events)
	for _, p := range c.pools {
		size += len(p.values)
	}
	if size < maxChunk {
		return nil
	}
	return c.flush(c.until)
}

// flush writes the chunk, which ends then, and begins another one.
func (c *chunks) flush(end units.MonoNs) error {
	m := &c.s.Manifest
	h := header{wallNs: m.WallUnixNs + int64(c.from-m.StartNs), ticks: int64(c.from), duration: max(1, int64(end-c.from))}
	h.checkpoint = int64(headerSize + len(c.events))
	tail := sized(nil, c.checkpoint())
	h.metadata = h.checkpoint + int64(len(tail))
	meta := number(number(number(number(nil, typeMetadata), h.ticks), 0), 1)
	tail = sized(tail, append(meta, c.metadata...))
	h.size = h.checkpoint + int64(len(tail))
	for _, b := range [][]byte{h.bytes(), c.events, tail} {
		if _, err := c.to.Write(b); err != nil {
			return fmt.Errorf("writing the recording: %w", err)
		}
	}
	c.events, c.pools, c.from, c.until = c.events[:0], map[int]*pool{}, max(c.from, end), 0
	return nil
}

// checkpoint is the body of the event with all constants.
func (c *chunks) checkpoint() []byte {
	b := number(number(number(number(nil, typeCheckpoint), int64(c.from)), 0), 0)
	b = number(append(b, 0), int64(len(c.pools)))
	ids := make([]int, 0, len(c.pools))
	for id := range c.pools {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		p := c.pools[id]
		b = number(number(b, int64(id)), int64(len(p.numbers)))
		b = append(b, p.values...)
	}
	return b
}

func (c *chunks) symbol(s string) int64 {
	return c.pool(typeSymbol).of(s, func(b []byte) []byte { return inline(b, clean(s)) })
}

// class is the number of a class by its Java name; 0: none.
func (c *chunks) class(name string) int64 {
	if name == "" {
		return 0
	}
	return c.pool(typeClass).of(name, func(b []byte) []byte {
		b = number(b, 0) // its loader
		b = number(b, c.symbol(internal(name)))
		return boolean(number(number(b, 0), 0), false) // package, modifiers, hidden
	})
}

func (c *chunks) taskClass(id uint32) int64 {
	if id == 0 {
		return 0
	}
	if x := c.s.ClassByID(id); x != nil && x.Name != "" {
		return c.class(x.Name)
	}
	return c.class("unknown class " + strconv.FormatUint(uint64(id), 10))
}

// thread is the number of a thread; 0: none.
func (c *chunks) thread(id uint32) int64 {
	if id == 0 {
		return 0
	}
	return c.pool(typeThread).of(strconv.FormatUint(uint64(id), 10), func(b []byte) []byte {
		x := c.s.ThreadByID(id)
		if x == nil {
			x = &session.Thread{Name: "unknown thread " + strconv.FormatUint(uint64(id), 10)}
		}
		name := clean(x.Name)
		b = number(inline(b, name), int64(x.OSID))
		b = number(inline(b, name), x.JavaID)
		return boolean(number(b, c.group(x.Group)), x.Virtual)
	})
}

func (c *chunks) group(name string) int64 {
	if name == "" {
		return 0
	}
	return c.pool(typeThreadGroup).of(name, func(b []byte) []byte { return inline(number(b, 0), clean(name)) })
}

// site is a stack of the one frame that is known of a place; 0: none.
func (c *chunks) site(id uint32) int64 {
	x := c.s.SiteByID(id)
	if id == 0 || x == nil || x.Class == "" {
		return 0
	}
	return c.pool(typeStackTrace).of(strconv.FormatUint(uint64(id), 10), func(b []byte) []byte {
		b = number(boolean(b, true), 1) // there are more frames, which are not known
		b = number(b, c.method(x.Class, x.Method))
		b = number(number(b, int64(max(0, min(x.Line, math.MaxUint16)))), 0)
		return number(b, c.pool(typeFrameType).of("JIT compiled", func(b []byte) []byte { return inline(b, "JIT compiled") }))
	})
}

func (c *chunks) method(class, name string) int64 {
	return c.pool(typeMethod).of(class+"\x00"+name, func(b []byte) []byte {
		b = number(number(b, c.class(class)), c.symbol(name))
		b = number(b, c.symbol("()V")) // of a place only the name is known; readers want a signature
		return boolean(number(b, 0), false)
	})
}
