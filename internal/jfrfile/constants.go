package jfrfile

// Constant is a constant of a type; missing where the pool has none with that key.
func (c *Chunk) Constant(typeID, key int64) Value { return c.pools[typeID][key] }

// readConstants follows the checkpoints back from the last one, and keeps where each constant lies.
func (c *Chunk) readConstants() error {
	c.pools = map[int64]map[int64]Value{}
	at, bytes, count := c.constants, int64(0), 0
	for at != 0 {
		in, err := c.record(at, MaxCheckpoints-bytes, "constants")
		if err != nil {
			return err
		}
		bytes += int64(len(in.b))
		if id := in.long(); id != 1 || in.bad {
			return c.fail(at, "an event of type %d stands where constants should be", id)
		}
		in.long() // start
		in.long() // duration
		delta := in.long()
		in.byte() // what it is for
		if !c.readPools(in, &count) {
			return c.fail(at, "the constants are damaged, or more than %d", MaxConstants)
		}
		switch {
		case delta == 0:
			return nil
		case delta > 0 || at+delta < headerSize: // they lie before, so that the way ends
			return c.fail(at, "the constants before these are %d bytes away", delta)
		}
		at += delta
	}
	return nil
}

func (c *Chunk) readPools(in *cursor, count *int) bool {
	pools := in.int()
	for range pools {
		id := in.long()
		n := in.int()
		if in.bad || n < 0 || n > int64(in.left()) {
			return false
		}
		if *count += int(n); *count > MaxConstants {
			return false
		}
		t := c.types[id]
		if t == nil {
			return n == 0 // how long the values are is not known
		}
		pool := c.pools[id]
		if pool == nil {
			pool = make(map[int64]Value, n)
			c.pools[id] = pool
		}
		for range n {
			key := in.long()
			from := in.at
			in.skipValue(t, 0)
			if in.bad {
				return false
			}
			if _, there := pool[key]; !there { // the last checkpoint comes first
				pool[key] = Value{c: c, t: t, b: in.b[from:in.at:in.at]}
			}
		}
	}
	return !in.bad
}
